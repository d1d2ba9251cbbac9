/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "record/process/sideband_queue.h"

#define QUEUE_MAX_SZ (64u << 20)
#define QUEUE_KEEP_SZ (1u << 20)
#define BYTES_MIN 65536
#define ENTRIES_MIN 512
#define RECORD_MAX_SZ 65536 /* struct perf_event_header has a 16-bit size */

struct sideband_entry {
	uint64_t ts_ns;
	uint64_t seq; /* preserves the order of equal times */
	size_t off;   /* offset in the queue's bytes */
	uint32_t len;
};

void sideband_queue_fini(struct sideband_queue *q)
{
	free(q->bytes);
	free(q->entry);
}

static bool make_room(struct sideband_queue *q, size_t len)
{
	if (q->bytes_len + len > QUEUE_MAX_SZ)
		return false;
	if (q->bytes_len + len > q->bytes_cap) {
		size_t cap = q->bytes_cap ? q->bytes_cap * 2 : BYTES_MIN;
		char *p = realloc(q->bytes, cap);

		if (!p)
			return false;
		q->bytes = p;
		q->bytes_cap = cap;
	}
	if (q->entry_cnt == q->entry_cap) {
		size_t cap = q->entry_cap ? q->entry_cap * 2 : ENTRIES_MIN;
		struct sideband_entry *e = realloc(q->entry, cap * sizeof(*e));

		if (!e)
			return false;
		q->entry = e;
		q->entry_cap = cap;
	}
	return true;
}

char *sideband_queue_room(struct sideband_queue *q)
{
	/* Aligned, because the header is read in place. */
	q->bytes_len = (q->bytes_len + 7) & ~(size_t)7;
	return make_room(q, RECORD_MAX_SZ) ? q->bytes + q->bytes_len : NULL;
}

void sideband_queue_add(struct sideband_queue *q, uint64_t ts_ns, size_t len)
{
	q->entry[q->entry_cnt++] = (struct sideband_entry){ts_ns, q->seq++, q->bytes_len, len};
	q->bytes_len += len;
	q->unsorted = true;
}

static int by_time(const void *a, const void *b)
{
	const struct sideband_entry *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void sideband_queue_sort(struct sideband_queue *q)
{
	if (q->unsorted)
		qsort(q->entry + q->next, q->entry_cnt - q->next, sizeof(*q->entry), by_time);
	q->unsorted = false;
}

static void shrink_entries(struct sideband_queue *q)
{
	size_t cap = ENTRIES_MIN;
	struct sideband_entry *e;

	while (cap < q->entry_cnt)
		cap *= 2;
	if (cap >= q->entry_cap)
		return;
	e = realloc(q->entry, cap * sizeof(*e));
	if (!e)
		return;
	q->entry = e;
	q->entry_cap = cap;
}

/* Empty but still large after a burst, or mostly returned. */
static bool worth_compacting(const struct sideband_queue *q, size_t left)
{
	return left ? q->bytes_len >= QUEUE_KEEP_SZ && left <= q->next
		    : q->bytes_cap > QUEUE_KEEP_SZ;
}

void sideband_queue_compact(struct sideband_queue *q)
{
	size_t left = q->entry_cnt - q->next, len = 0, cap = BYTES_MIN;
	char *fresh;

	if (!worth_compacting(q, left))
		return;
	for (size_t i = q->next; i < q->entry_cnt; i++)
		len += (q->entry[i].len + 7) & ~7u;
	while (cap < len)
		cap *= 2;
	fresh = malloc(cap);
	if (!fresh)
		return;
	len = 0;
	for (size_t i = 0; i < left; i++) {
		struct sideband_entry e = q->entry[q->next + i];

		memcpy(fresh + len, q->bytes + e.off, e.len);
		e.off = len;
		len += (e.len + 7) & ~7u;
		q->entry[i] = e;
	}
	free(q->bytes);
	q->bytes = fresh;
	q->bytes_cap = cap;
	q->bytes_len = len;
	q->entry_cnt = left;
	q->next = 0;
	shrink_entries(q);
}

const char *sideband_queue_next(struct sideband_queue *q, uint64_t until, size_t *len)
{
	const struct sideband_entry *e;

	if (q->next == q->entry_cnt) { /* all returned: start again at the front */
		q->next = q->entry_cnt = q->bytes_len = 0;
		return NULL;
	}
	e = &q->entry[q->next];
	if (e->ts_ns > until)
		return NULL;
	q->next++;
	*len = e->len;
	return q->bytes + e->off;
}
