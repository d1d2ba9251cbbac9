/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols of a stripped Go program: its runtime needs the names and addresses of all functions, and
 * has them in .gopclntab, which strip and `go build -ldflags -s` keep (record/unwind/unwind_go.h).
 */
#ifndef RECORD_SLIM_GO_H
#define RECORD_SLIM_GO_H

#include "record/symbols/slim_elf.h"

/* Memory of slim_go__open in bytes; 0: not a Go program. */
uint64_t slim_go_memory(const struct slim_elf *binary);

/*
 * Makes an ELF file with a .symtab of them in a temporary file, whose descriptor the caller closes,
 * and loads it into `made`. Section numbers of its symbols are those of `base`. -ENOENT: no Go
 * program, or one of an unknown version; -EBADMSG: damaged, or larger than any real one.
 */
int slim_go__open(struct slim_elf *made, const struct slim_elf *binary,
		  const struct slim_elf *base);

#endif
