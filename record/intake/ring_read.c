/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By hand rather than by libbpf's ring_buffer__consume(): that goes on as long as records arrive,
 * so with a producer faster than obrec it never returns, and takes one ring after the other: after
 * obrec stood still, what one CPU wrote since would come before all that another did. Layout and
 * memory order: Documentation/bpf/ringbuf.rst, kernel/bpf/ringbuf.c.
 */
#include "record/intake/ring_read.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>

/* One ring is read on so far beyond the next one's time: changing between them costs. */
#define BEYOND_NS 5000000ULL

/* The kernel reads our position with every record it writes: each store takes the cache line away
 * from it, so room is given back in pieces. */
enum { GIVE_BACK = 64 << 10 };

/* All but stacks, which belong to the sample behind them, begin alike. */
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

/* 0: at once. In a ring that waits all is so much later that the others have been read up to its
 * time when its turn comes. */
static uint64_t time_of(const struct ring_view *v, const struct wire_hdr *hdr, size_t size)
{
	if (size < sizeof(struct timed) || hdr->kind == WIRE_STACK)
		return 0;
	return ((const struct timed *)hdr)->ts_ns + (v->waits ? BEYOND_NS + 1 : 0);
}

/* The record whose head is at `p`. */
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

/* What was written until then. */
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

/* The ring whose next record is the oldest, and the time of the one after it; NULL: all are read.
 */
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

	/* Those that wait come last: what their records refer to was written before. */
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
