/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps stack hashes, as used by the kernel, to the small ids of the archive. A sample and the
 * stack's definition may come through different rings, so the first of either creates the entry. On
 * a busy host this is the largest table of obrec, so entries are small.
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
	uint32_t current : 1; /* defined in this epoch; set by the writer */
	uint32_t defined : 1; /* defined in any epoch */
	uint32_t error : 29;  /* once defined; before that, the index of its waiting counts */
};

struct stacks;

int stacks__new(struct stacks **s);
void stacks__free(struct stacks *s);

/* Returns the entry of a hash, creating it if needed. Valid until the next call. NULL: out of
 * memory. */
struct stack_entry *stacks__get(struct stacks *s, uint64_t hash);

/* Counts a sample of a kind below STACK_KINDS that arrived before the definition. False: out of
 * memory. */
bool stacks__wait(struct stacks *s, struct stack_entry *e, unsigned kind);

/* Marks the entry as defined; returns in `waited` how many samples arrived before, by kind. */
void stacks__define(struct stacks *s, struct stack_entry *e, uint32_t error,
		    uint32_t waited[STACK_KINDS]);

/* The callback may define the entry. */
typedef void (*stack_fn)(void *ctx, struct stack_entry *e);

/*
 * Starts a new epoch, in which the kernel sends every used stack again. If there are more than
 * `keep` entries, those not used in the last epoch are dropped (they will return with other ids).
 * `lost` is called first for the undefined ones.
 */
void stacks__advance(struct stacks *s, size_t keep, stack_fn lost, void *ctx);

void stacks__each_undefined(struct stacks *s, stack_fn fn, void *ctx);

#endif
