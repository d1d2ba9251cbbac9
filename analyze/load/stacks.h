/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distinct stacks in little memory: a tree of locations grown from the roots, so that stacks share
 * their outer frames. A stack is a node for its user frames and one for its kernel frames, which
 * were called by them.
 *
 *   location  (binary, address)              what is symbolized
 *   node      (calling node, location)       0: no frames
 *   stack     (user node, kernel node, why it is not whole)
 *
 * Bounded: past the limits new content collapses into the stack whose cause is STACK_OVERFLOWED.
 */
#ifndef ANALYZE_STACKS_H
#define ANALYZE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stacks;

/* Causes that obana itself finds, beside enum stack_error. */
enum { STACK_LOST = 0x10000, STACK_OVERFLOWED };
#define STACK_NO_NODE UINT32_MAX

struct stack {
	uint32_t user, kernel; /* nodes */
	uint32_t error;	       /* enum stack_error or above */
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
 * A node is made of its caller's and a step. The hash is that of the whole way from the root, so
 * that those of a stack are known before any of its nodes: first __step for each from the root on,
 * which fetches what __node will read, then __node for each.
 */
struct stack_step {
	uint64_t address;
	uint32_t binary;
	uint64_t hash; /* set by __step */
};

void stacks__step(const struct stacks *s, const struct stack_step *from, struct stack_step *step);
/* The node's number, new or known. STACK_NO_NODE past the limits or out of memory. */
uint32_t stacks__node(struct stacks *s, uint32_t caller, const struct stack_step *step);
/* Never fails: what does not fit is one of the two stacks that exist from the start, lost and
 * overflowed. */
uint32_t stacks__add(struct stacks *s, struct stack stack);

size_t stacks__cnt(const struct stacks *s);
/* Was it ever added? Of the first two that is not certain. */
bool stacks__used(const struct stacks *s, uint32_t stack);
struct stack stacks__get(const struct stacks *s, uint32_t stack);
/* Other content for a stack, once all were added. */
void stacks__set(struct stacks *s, uint32_t stack, struct stack to);
size_t stacks__location_cnt(const struct stacks *s);
struct location *stacks__locations(struct stacks *s); /* until the next is added */

/* Locations leaf first into *locs (reused and grown, *cap elements); returns how many, or -ENOMEM.
 */
long stacks__walk(const struct stacks *s, uint32_t stack, uint32_t **locs, size_t *cap);

/* The text of the stack table's `error`; NULL when the stack is complete. */
const char *stack_error_text(uint32_t error);

#endif
