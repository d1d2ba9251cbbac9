/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of functions of a Go program, found through .gopclntab, which strip keeps. Only reads the
 * file. x86-64. */
#ifndef RECORD_GO_CODE_H
#define RECORD_GO_CODE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/unwind/unwind_go.h"

struct go_code {
	uint64_t start, end; /* addresses; end 0: not found */
	uint64_t offset;     /* in the file */
	uint8_t *bytes;	     /* NULL: not read */
};

/* Calls fn for each function. Returns false if it is no Go program. */
bool go_code_each(Elf *elf, void (*fn)(void *ctx, const struct go_function *f), void *ctx);
bool go_code_read(int fd, Elf *elf, struct go_code *c);
void go_code_fini(struct go_code *c);

/*
 * Offset of the jump of the stack check at a function's beginning, where a uprobe is cheapest, as
 * the kernel emulates it, with all arguments still in registers. It is taken if the stack must grow
 * first; then the function begins again. The goroutine is in the register that always holds it. 0:
 * another beginning, or the function takes its arguments from the stack (x86-64 before Go 1.17).
 */
size_t go_code_check(const uint8_t *code, size_t len);
size_t go_code_entry(const struct go_code *c);

#endif
