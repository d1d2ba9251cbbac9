/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces libbpf's ring_buffer__consume() for two reasons. That function runs as long as records
 * arrive, so it never returns if the producer is faster than obrec. It also reads one ring after
 * the other, so after a delay all records of one CPU would precede those of the next. Layout and
 * memory order: Documentation/bpf/ringbuf.rst, kernel/bpf/ringbuf.c.
 */
#include "record/intake/ring_read.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>

/* A ring is read this far beyond the time of the next ring, because switching costs time. */
#define BEYOND_NS 5000000ULL

/* The kernel reads the consumer position with every record. Each store takes the cache line from
 * it, so the position is updated in steps of this size. */
enum { GIVE_BACK = 64 << 10 };

/* All records except stacks, which belong to the sample that follows, start with these fields. */
struct timed {
	struct wire_hdr hdr;
	__u64 ts_ns;
};
_Static_assert(offsetof(struct wire_sample, ts_ns) == offsetof(struct timed, ts_ns), "");

static void handle(const struct ring_handler *h, const void *data, size_t size)
{
	const struct wire_hdr *hdr = data;

	if (size < sizeof(*hdr) || hdr->size > size)
		goto bad;
	if (hdr->kind == WIRE_SAMPLE && hdr->size == sizeof(struct wire_sample)) {
		h->sample(h->ctx, data);
		return;
	}
	if (hdr->kind == WIRE_STACK && hdr->size >= sizeof(struct wire_stack)) {
		const struct wire_stack *s = data;

		if ((hdr->size - sizeof(*s)) / sizeof(s->frames[0]) >= s->frame_cnt) {
			h->stack(h->ctx, s);
			return;
		}
	}
	if (hdr->kind > WIRE_SAMPLE && hdr->kind < WIRE_KIND_CNT) {
		h->other(h->ctx, hdr);
		return;
	}
bad:
	h->bad(h->ctx);
}

/* 0: read at once. In a ring with `waits` set, times are shifted so that the other rings have been
 * read up to the record's time before its turn. */
static uint64_t time_of(const struct ring_view *v, const struct wire_hdr *hdr, size_t size)
{
	if (size < sizeof(struct timed) || hdr->kind == WIRE_STACK)
		return 0;
	return ((const struct timed *)hdr)->ts_ns + (v->waits ? BEYOND_NS + 1 : 0);
}

/* Returns the record with header `p`. */
static const void *record_at(const struct ring_view *v, const char *p, uint32_t size)
{
	size_t first = v->data + v->sz - p - BPF_RINGBUF_HDR_SZ;

	p += BPF_RINGBUF_HDR_SZ;
	if (size <= first || !v->joined || size > v->sz)
		return p;
	memcpy(v->joined, p, first);
	memcpy(v->joined + first, v->data, size - first);
	return v->joined;
}

/* Reads the records up to the given time. */
static unsigned read_until(struct ring_view *v, const struct ring_handler *h, uint64_t until_ns)
{
	unsigned long at = *v->consumer, given = at;
	unsigned cnt = 0;

	v->next_ns = UINT64_MAX;
	while (at < v->end) {
		const char *p = v->data + (at & (v->sz - 1));
		const struct wire_hdr *hdr;
		uint32_t len = __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
		uint32_t size = len & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (len & BPF_RINGBUF_BUSY_BIT) /* still being written */
			break;
		hdr = record_at(v, p, size);
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			uint64_t ts_ns = time_of(v, hdr, size);

			if (ts_ns > until_ns) {
				v->next_ns = ts_ns;
				break;
			}
			cnt += size < sizeof(*hdr) || hdr->kind != WIRE_PAYLOAD;
			handle(h, hdr, size);
		}
		at += (size + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		if (at - given >= GIVE_BACK) {
			__atomic_store_n(v->consumer, at, __ATOMIC_RELEASE);
			given = at;
		}
	}
	if (at != given)
		__atomic_store_n(v->consumer, at, __ATOMIC_RELEASE);
	return cnt;
}

/* Returns the ring with the oldest next record, and the time of the second oldest; NULL: all are
 * read. */
static struct ring_view *oldest(struct ring_view *v, unsigned cnt, uint64_t *second_ns)
{
	struct ring_view *first = NULL;

	*second_ns = UINT64_MAX;
	for (unsigned i = 0; i < cnt; i++) {
		if (v[i].next_ns == UINT64_MAX)
			continue;
		if (!first || v[i].next_ns < first->next_ns) {
			*second_ns = first ? first->next_ns : UINT64_MAX;
			first = &v[i];
		} else if (v[i].next_ns < *second_ns) {
			*second_ns = v[i].next_ns;
		}
	}
	return first;
}

unsigned ring_read(struct ring_view *v, unsigned cnt, const struct ring_handler *h)
{
	uint64_t second_ns;
	struct ring_view *first;
	unsigned handled = 0;

	/* Rings with `waits` set are last in the array. Their limit is read first, because what
	 * their records refer to was written before. */
	for (unsigned i = cnt; i-- > 0;)
		v[i].end = __atomic_load_n(v[i].producer, __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < cnt; i++)
		handled += read_until(&v[i], h, 0);
	while ((first = oldest(v, cnt, &second_ns)))
		handled += read_until(first, h,
				      second_ns > UINT64_MAX - BEYOND_NS ? UINT64_MAX
									 : second_ns + BEYOND_NS);
	return handled;
}
