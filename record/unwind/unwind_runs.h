/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocates runs of entries in segments: first fit, merged when freed. A freed run is reused only
 * after a delay, because a BPF program may still be reading it. */
#ifndef RECORD_UNWIND_RUNS_H
#define RECORD_UNWIND_RUNS_H

#include <stddef.h>
#include <stdint.h>

struct run {
	uint32_t pos, cnt;
};

struct runs {
	uint32_t seg_sz;  /* entries per segment; a run does not span segments */
	struct run *free; /* sorted by pos */
	size_t free_cnt, free_cap;
	struct resting {
		struct run run;
		uint64_t since_ns;
	} * resting; /* a queue: oldest first */
	size_t resting_cnt, resting_cap;
	uint64_t used;
};

void runs__init(struct runs *r, uint32_t seg_sz);
void runs__fini(struct runs *r);
int runs__add_segment(struct runs *r, uint32_t seg);	      /* 0, -ENOMEM */
int runs__alloc(struct runs *r, uint32_t cnt, uint32_t *pos); /* 0; -ENOSPC: add a segment */
int runs__retire(struct runs *r, struct run run, uint64_t now_ns);
void runs__reclaim(struct runs *r, uint64_t until_ns); /* frees runs retired before until_ns */

#endif
