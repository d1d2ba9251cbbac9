/* SPDX-License-Identifier: BSD-2-Clause */
/* The side-band's records of all CPUs, brought into order of time. Owns copies of them. */
#ifndef RECORD_SIDEBAND_QUEUE_H
#define RECORD_SIDEBAND_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sideband_queue {
	char *bytes;
	size_t bytes_len, bytes_cap;
	struct sideband_entry *entry;
	size_t entry_cnt, entry_cap, next;
	uint64_t seq;
	bool unsorted;
};

void sideband_queue_fini(struct sideband_queue *q);

/* Where the next record, of any size perf has, may be written; NULL when the queue is full. */
char *sideband_queue_room(struct sideband_queue *q);
/* What was written there is a record. */
void sideband_queue_add(struct sideband_queue *q, uint64_t ts_ns, size_t len);
void sideband_queue_sort(struct sideband_queue *q);

/* The oldest record that is not younger than `until`, until the next call of another function. */
const char *sideband_queue_next(struct sideband_queue *q, uint64_t until, size_t *len);

/* Drops what was handed out once it is most of the queue, and the size of a burst: under steady
 * load the queue is never quite empty. */
void sideband_queue_compact(struct sideband_queue *q);

#endif
