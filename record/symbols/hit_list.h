/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes hit addresses from the main thread to the threads that extract DWARF: each address once
 * per binary, in batches through a lock-free list. */
#ifndef RECORD_HIT_LIST_H
#define RECORD_HIT_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HIT_BATCH = 512 };

struct hit_batch {
	struct hit_batch *next;
	unsigned cnt;
	struct hit {
		uint32_t binary;
		uint64_t addr;
	} v[HIT_BATCH];
};

struct hit_list {
	/* used by the main thread only */
	uint64_t *seen; /* hashes; 0: free */
	uint32_t seen_cnt, seen_cap, seen_max;
	uint16_t *generation; /* by binary: increases when its number is reused */
	struct hit_batch *fresh;
	uint64_t since_ns; /* time of the first entry in fresh */
	_Atomic(struct hit_batch *) ready;
};

int hit_list_init(struct hit_list *l, uint64_t mem_max);
void hit_list_fini(struct hit_list *l);

/* The number stands for a new binary from now on. */
void hit_list_renew(struct hit_list *l, uint32_t binary);
/* Returns true if the batch is full or old enough to be handed over. Beyond some hundred thousand
 * addresses further ones are dropped. */
bool hit_list_add(struct hit_list *l, uint32_t binary, uint64_t addr, uint64_t now_ns);
bool hit_list_due(const struct hit_list *l, uint64_t now_ns);
/* Returns true if there was a batch. */
bool hit_list_hand_over(struct hit_list *l);

/* Any thread: takes all batches handed over; the caller frees them. */
struct hit_batch *hit_list_take(struct hit_list *l);

#endif
