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

/* Where functions begin, sorted. */
struct func_starts {
	const uint64_t *at;
	size_t cnt;
};

enum { FUNC_EXITS_MAX = 4096, FUNC_IFS_MAX = 256, FUNC_BEYOND_MAX = 16 };

struct func_exits {
	uint64_t at[FUNC_EXITS_MAX]; /* addresses: of returns, then of jumps */
	uint32_t returns, jumps;
	/* Conditional jumps to other functions: addresses, and their opcodes: 80 to 8f of those
	 * that begin with 0f, else 70 to 7f. */
	uint64_t if_at[FUNC_IFS_MAX];
	uint8_t if_opcode[FUNC_IFS_MAX];
	uint32_t ifs;
	/* Where other conditional jumps lead out of all parts: to further ones. */
	uint64_t beyond[FUNC_BEYOND_MAX];
	uint32_t beyond_cnt;
	bool restarts; /* a jump leads to the instructions up to `skip`, but not to the first */
	bool loops;    /* one leads to the first, which a call may thus execute again */
};

/*
 * part[0] is the function itself. A jump out of all parts is a tail call, as is an indirect one
 * unless it looks like that of a switch. Conditional jumps are tail calls only if they lead to
 * where another function begins. Returns false if the code is not understood or has too many exits.
 */
bool func_exits_find(const struct func_code *part, size_t cnt, uint64_t skip,
		     const struct func_starts *starts, struct func_exits *to);
/* Whether exits are found on this architecture. */
bool func_exits_possible(void);
bool func_starts_have(const struct func_starts *starts, uint64_t address);

/* Returns the size of the code up to its first unconditional jump, return or trap; 0: not
 * understood.
 */
size_t func_exits_block(const uint8_t *code, size_t len);

#endif
