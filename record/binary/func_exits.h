/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the instructions by which a function ends. Pure. */
#ifndef RECORD_FUNC_EXITS_H
#define RECORD_FUNC_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code of a function, or a part of it that is kept elsewhere (.cold). */
struct func_code {
	uint64_t address, size;
	const uint8_t *bytes;
	bool again; /* of the function: a jump to its first instruction begins the call again */
};

enum { FUNC_EXITS_MAX = 256, FUNC_BEYOND_MAX = 16 };

struct func_exits {
	uint64_t at[FUNC_EXITS_MAX]; /* addresses: of returns, then of jumps */
	uint32_t returns, jumps;
	/* Where conditional jumps lead out of all parts: to further parts, or other functions. */
	uint64_t beyond[FUNC_BEYOND_MAX];
	uint32_t beyond_cnt;
	bool restarts; /* a jump leads to the instructions up to `skip`, but not to the first */
};

/*
 * part[0] is the function itself. A jump out of all parts is a tail call, as is an indirect one
 * unless it looks like that of a switch, and a jump to the function's first instruction, unless
 * `again`. Conditional jumps are not. Returns false if the code is not understood or has too many
 * exits.
 */
bool func_exits_find(const struct func_code *part, size_t cnt, uint64_t skip,
		     struct func_exits *to);

/* Returns the size of the code up to its first unconditional jump, return or trap; 0: not
 * understood.
 */
size_t func_exits_block(const uint8_t *code, size_t len);

#endif
