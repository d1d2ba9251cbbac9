/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stack ids: the kernel names a stack by the hash of its frames, the archive by a small number. An
 * entry is made by whichever comes first, a sample or the definition: they may come through
 * different rings. On a host that never rests this is obrec's largest table: entries are small.
 */
#ifndef RECORD_STACKS_H
#define RECORD_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/records.h"

#define STACK_KINDS SAMPLE_KIND_END

struct stack_entry {
	uint64_t hash;
	uint32_t id;
	uint32_t used : 1;    /* in this epoch */
	uint32_t current : 1; /* its definition came in this epoch; set by who wrote it */
	uint32_t defined : 1; /* in any */
	uint32_t error : 29;  /* once defined; before, the place of its samples' counts */
};

struct stacks;

int stacks__new(struct stacks **s);
void stacks__free(struct stacks *s);

/* The entry of a hash, made when needed; lent until the next call. NULL: out of memory. */
struct stack_entry *stacks__get(struct stacks *s, uint64_t hash);

/* Counts a sample that came before the definition. False: out of memory. */
bool stacks__wait(struct stacks *s, struct stack_entry *e, unsigned kind);

/* The entry is defined from now on; how many samples had come before, by kind. */
void stacks__define(struct stacks *s, struct stack_entry *e, uint32_t error,
		    uint32_t waited[STACK_KINDS]);

/* May define the entry. */
typedef void (*stack_fn)(void *ctx, struct stack_entry *e);

/*
 * A new epoch: the kernel sends every stack again that is used in it. With more than `keep` of
 * them, those not used in the last one are forgotten (they come back under other ids), the
 * undefined among them after a call of `lost`.
 */
void stacks__advance(struct stacks *s, size_t keep, stack_fn lost, void *ctx);

void stacks__each_undefined(struct stacks *s, stack_fn fn, void *ctx);

#endif
