/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions of the functions in samples. Neither archives nor debug information hold code: it is
 * taken, by objdump, from a binary of this machine that has the recorded build-id. Where a function
 * begins and ends is taken from its symbols, else from those in the archive.
 */
#ifndef ANALYZE_ANNOTATE_CODE_H
#define ANALYZE_ANNOTATE_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/load/load.h"

struct code;

/* file: the binary; NULL: where it was recorded. Borrowed, as is l, which has been loaded. */
int code__new(struct code **c, const struct load *l, const char *file);
void code__free(struct code *c);

struct instruction {
	uint64_t address; /* ELF virtual address */
	const char *text; /* valid until code__find() */
};

/* The instructions of one symbol. */
struct code_range {
	uint32_t binary; /* binary.id */
	uint64_t lo, hi;
	char *name;	       /* of the symbol */
	struct instruction *v; /* ascending */
	size_t cnt, cap;       /* 0: not here */
};

/* The range of an address; code that is not here is reported once per binary. NULL: out of
 * memory. */
const struct code_range *code__find(struct code *c, uint32_t binary, uint64_t address);
/* Position of the instruction that contains the address, which the range does. */
size_t code_range__at(const struct code_range *r, uint64_t address);

#endif
