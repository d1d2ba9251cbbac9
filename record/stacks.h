/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stack ids: the kernel names a stack by the hash of its frames, the archive by a small number. An
 * entry is made by whichever comes first, a sample or the definition: they may come through
 * different rings.
 */
#ifndef RECORD_STACKS_H
#define RECORD_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_KINDS 8 /* of samples (enum sample_kind) */

struct stack_entry {
	uint64_t hash;
	uint32_t id;
	uint32_t written;	       /* epoch of its last record, 0: not defined yet */
	uint32_t seen;		       /* epoch of its last use */
	uint32_t error;		       /* once defined */
	uint32_t waiting[STACK_KINDS]; /* samples that came before the definition, by kind */
};

struct stacks;

int stacks__new(struct stacks **s);
void stacks__free(struct stacks *s);

/* The entry of a hash, made when needed; lent until the next call. NULL: out of memory. */
struct stack_entry *stacks__get(struct stacks *s, uint64_t hash);

size_t stacks__cnt(const struct stacks *s);
uint32_t stacks__epoch(const struct stacks *s); /* from 1 */

/*
 * A new epoch: the kernel sends every stack again, and what was not used in the last two may be
 * forgotten when there are more than `keep` (it comes back under another id).
 */
void stacks__advance(struct stacks *s, size_t keep);

void stacks__each(struct stacks *s, void (*fn)(void *ctx, struct stack_entry *e), void *ctx);

#endif
