/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorts the side-band records of all CPUs by time. Owns copies of them. */
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

/* Returns space for the next record of maximum size; NULL: the queue is full. */
char *sideband_queue_room(struct sideband_queue *q);
/* Adds the record written to that space. */
void sideband_queue_add(struct sideband_queue *q, uint64_t ts_ns, size_t len);
void sideband_queue_sort(struct sideband_queue *q);

/* Returns the oldest record that is not newer than `until`. Valid until another function is
 * called. */
const char *sideband_queue_next(struct sideband_queue *q, uint64_t until, size_t *len);

/* Frees returned records when they make up most of the queue or a burst has left it large. Under
 * steady load the queue is never quite empty. */
void sideband_queue_compact(struct sideband_queue *q);

#endif
