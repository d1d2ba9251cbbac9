/* SPDX-License-Identifier: BSD-2-Clause */
/* Sampled allocations in use: reads the map of the programs, and reports them when the capture or
 * their process ends, as samples of kind live and leak and as rows `heap`. */
#ifndef RECORD_ALLOC_LIVE_H
#define RECORD_ALLOC_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/probe/alloc.h"

struct probe_env;

struct alloc_freed {
	uint64_t birth_ns, freed_ns, stack;
	uint32_t tgid, near;
};

struct alloc_lives {
	uint64_t rate, age_ns;
	uint64_t random;
	struct alloc_freed *freed; /* when they were older than age_ns */
	size_t freed_cnt;
};

/* Sends a sample as its kind, with the weight of an allocation (ALLOC_SIZE). go_rate: as
 * alloc_live.rate. */
void alloc_lives_send(struct probe_env *env, struct alloc_lives *l, struct wire_sample *s,
		      uint64_t size, uint64_t go_rate);
void alloc_lives_freed(struct alloc_lives *l, const struct wire_alloc_freed *freed);
/* Reports and forgets what processes that have ended had in use. */
void alloc_lives_ended(struct probe_env *env, struct alloc_lives *l);
/* Reports the rest. */
void alloc_lives_finish(struct probe_env *env, struct alloc_lives *l, uint64_t end_ns);
/* Keeps the stacks of all that is in use. */
void alloc_lives_keep(struct probe_env *env);
void alloc_lives_fini(struct alloc_lives *l);

#endif
