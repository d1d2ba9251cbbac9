/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compact storage of distinct stacks: a tree of locations that grows from the roots, so that stacks
 * share their outer frames. A stack consists of a node for its user frames and a node for its
 * kernel frames, which were called by the user frames.
 *
 *   location  (binary, address)              what is symbolized
 *   node      (calling node, location)       0: no frames
 *   stack     (user node, kernel node, why it is not whole)
 *
 * Size is limited: beyond the limits, new stacks become the stack with error STACK_OVERFLOWED.
 */
#ifndef ANALYZE_STACKS_H
#define ANALYZE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stacks;

/* Errors found by obana, in addition to enum stack_error. */
enum { STACK_LOST = 0x10000, STACK_OVERFLOWED };
#define STACK_NO_NODE UINT32_MAX

struct stack {
	uint32_t user, kernel; /* nodes */
	uint32_t error;	       /* enum stack_error or one of the above */
};

struct location {
	uint64_t address;
	uint32_t binary; /* binaries.h */
	uint32_t frame_cnt;
	uint32_t first_frame; /* frames.h; innermost first */
};

int stacks__new(struct stacks **s);
void stacks__free(struct stacks *s);

/*
 * A node consists of its caller and a step. The hash covers the whole path from the root, so hashes
 * of a stack are known before its nodes: call __step for each frame from the root, which prefetches
 * what __node reads, then __node for each frame.
 */
struct stack_step {
	uint64_t address;
	uint32_t binary;
	uint64_t hash; /* set by __step */
};

void stacks__step(const struct stacks *s, const struct stack_step *from, struct stack_step *step);
/* Number of the node, added if new. STACK_NO_NODE: limit reached or out of memory. */
uint32_t stacks__node(struct stacks *s, uint32_t caller, const struct stack_step *step);
/* Never fails: a stack that does not fit becomes one of the two predefined stacks, lost and
 * overflowed. */
uint32_t stacks__add(struct stacks *s, struct stack stack);

size_t stacks__cnt(const struct stacks *s);
/* Whether the stack was added. May be wrong for the two predefined stacks. */
bool stacks__used(const struct stacks *s, uint32_t stack);
struct stack stacks__get(const struct stacks *s, uint32_t stack);
enum stack_mark {
	STACK_OF_EVENT = 1, /* a row names it */
	STACK_OF_CLOCK = 2, /* taken wherever the thread was, not by a program that it had called */
	STACK_OF_WAKER = 4, /* of a thread or interrupt that ended a wait */
};
/* 0 or -ENOMEM. */
int stacks__mark(struct stacks *s, uint32_t stack, enum stack_mark mark);
bool stacks__marked(const struct stacks *s, uint32_t stack, enum stack_mark mark);
/* Replaces the content of a stack. Only after all stacks were added. */
void stacks__set(struct stacks *s, uint32_t stack, struct stack to);
/* Returns the node that calls this one, whose location (by number) is returned as well. */
uint32_t stacks__caller(const struct stacks *s, uint32_t node, uint32_t *location);
size_t stacks__location_cnt(const struct stacks *s);
struct location *stacks__locations(struct stacks *s); /* valid until a location is added */

/* The way from the root to the leaf of a stack: its user frames, then its kernel frames. */
struct stack_path {
	struct stack_level {
		uint32_t node, location;
	} * v;
	size_t cnt, cap, user_cnt;
};

/* Turns the path of one stack (zeroed: of none) into that of another. Returns how many outer frames
 * both share, or -ENOMEM. In the order of ranks, the rest is short. */
long stacks__walk(const struct stacks *s, uint32_t stack, struct stack_path *path);
void stack_path_fini(struct stack_path *path);
/* Prefetches for stacks about to be walked: `far` a while before, `near` half of that. */
void stacks__ahead(const struct stacks *s, uint32_t far, uint32_t near);

/*
 * *rank, malloc'ed: for each stack its position in an order in which stacks that share outer frames
 * follow each other: by error, then as a depth-first walk of the nodes meets them. 0 or -ENOMEM.
 */
int stacks__rank(const struct stacks *s, uint32_t **rank);

/* Column `error` of table stack; NULL: the stack is complete. */
const char *stack_error_text(uint32_t error);

#endif
