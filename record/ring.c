/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read by hand rather than by libbpf's ring_buffer__consume(): that goes on as long as records
 * arrive, so with a producer faster than obrec it never returns; here one call takes what was there
 * when it began. Layout and memory order: Documentation/bpf/ringbuf.rst, kernel/bpf/ringbuf.c.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

struct one {
	int fd;
	unsigned long *consumer; /* a page of its own, ours to write */
	const unsigned long
		*producer; /* a page, then the data, mapped twice in a row: records never wrap */
	const char *data;
};

struct ring {
	struct ring_handler handler;
	struct one *rings;
	unsigned cnt;
	uint32_t sz;
	size_t page_sz;
	uint64_t *taken; /* of each */
	uint64_t most_queued;
};

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

static int map_one(struct ring *r, struct one *o)
{
	void *p = mmap(NULL, r->page_sz, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	o->consumer = p;
	p = mmap(NULL, r->page_sz + 2 * (size_t)r->sz, PROT_READ, MAP_SHARED, o->fd, r->page_sz);
	if (p == MAP_FAILED)
		return -errno;
	o->producer = p;
	o->data = (const char *)p + r->page_sz;
	return 0;
}

static int add(struct ring *r, int rings_fd, uint32_t cpu)
{
	struct one *o = &r->rings[r->cnt];

	o->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "obrec_ring", 0, 0, r->sz, NULL);
	if (o->fd < 0)
		return o->fd;
	r->cnt++;
	if (bpf_map_update_elem(rings_fd, &cpu, &o->fd, BPF_ANY))
		return -errno;
	return map_one(r, o);
}

int ring__new(struct ring **out, int rings_fd, unsigned cpus, uint32_t sz,
	      const struct ring_handler *handler)
{
	struct ring *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->handler = *handler;
	r->sz = sz;
	r->page_sz = sysconf(_SC_PAGESIZE);
	r->rings = calloc(cpus, sizeof(*r->rings));
	r->taken = calloc(cpus, sizeof(*r->taken));
	if (r->rings && r->taken)
		err = 0;
	for (uint32_t cpu = 0; cpu < cpus && !err; cpu++)
		err = add(r, rings_fd, cpu);
	if (err)
		ring__free(r);
	else
		*out = r;
	return err;
}

void ring__free(struct ring *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->cnt; i++) {
		struct one *o = &r->rings[i];

		if (o->consumer)
			munmap(o->consumer, r->page_sz);
		if (o->producer)
			munmap((void *)o->producer, r->page_sz + 2 * (size_t)r->sz);
		close(o->fd);
	}
	free(r->rings);
	free(r->taken);
	free(r);
}

/* Edge-triggered: only the kernel's wake-ups count, not that something lies in a ring, which is
 * nearly always so. */
int ring__watch(struct ring *r, int epoll_fd)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = r};

	for (unsigned i = 0; i < r->cnt; i++)
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, r->rings[i].fd, &ev))
			return -errno;
	return 0;
}

/* The kernel reads our position with every record it writes: each store takes the cache line away
 * from it, so room is given back in pieces. */
enum { GIVE_BACK = 64 << 10 };

static unsigned consume_one(struct ring *r, struct one *o)
{
	unsigned long at = *o->consumer, end = __atomic_load_n(o->producer, __ATOMIC_ACQUIRE);
	unsigned long given = at;
	unsigned cnt = 0;

	if (end - at > r->most_queued)
		r->most_queued = end - at;
	while (at < end) {
		const char *p = o->data + (at & (r->sz - 1));
		uint32_t len = __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
		uint32_t size = len & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (len & BPF_RINGBUF_BUSY_BIT) /* still being written */
			break;
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			const struct wire_hdr *hdr = (const void *)(p + BPF_RINGBUF_HDR_SZ);

			cnt += size < sizeof(*hdr) || hdr->kind != WIRE_PAYLOAD;
			handle(&r->handler, hdr, size);
		}
		at += (size + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		if (at - given >= GIVE_BACK) {
			__atomic_store_n(o->consumer, at, __ATOMIC_RELEASE);
			given = at;
		}
	}
	if (at != given)
		__atomic_store_n(o->consumer, at, __ATOMIC_RELEASE);
	return cnt;
}

unsigned ring__consume(struct ring *r)
{
	unsigned cnt = 0;

	for (unsigned i = 0; i < r->cnt; i++) {
		cnt += consume_one(r, &r->rings[i]);
		r->taken[i] = *r->rings[i].consumer;
	}
	return cnt;
}

uint64_t ring__queued(const struct ring *r)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < r->cnt; i++) {
		const struct one *o = &r->rings[i];
		uint64_t queued =
			__atomic_load_n(o->producer, __ATOMIC_RELAXED) - *o->consumer;

		most = queued > most ? queued : most;
	}
	return most;
}

const uint64_t *ring__taken(const struct ring *r)
{
	return r->taken;
}

uint64_t ring__most_queued(struct ring *r)
{
	uint64_t most = r->most_queued;

	r->most_queued = 0;
	return most;
}
