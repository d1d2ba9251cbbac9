/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/net/net.h"
#include "record/intake/ring.h"

struct ring {
	struct ring_handler handler;
	int *fds;
	struct ring_view *views; /* the kernel's rings, then those in `payload` */
	unsigned cnt, payload_cnt;
	uint32_t sz;
	size_t page_sz;
	char *payload; /* the mapped array */
	size_t payload_sz;
};

/* The consumer page is writable; the producer page and the data after it are not. Mapping the data
 * twice in a row would avoid wrapped records, but count twice as resident. */
static int map_one(const struct ring *r, int fd, struct ring_view *v)
{
	void *p = mmap(NULL, r->page_sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	v->consumer = p;
	p = mmap(NULL, r->page_sz + r->sz, PROT_READ, MAP_SHARED, fd, r->page_sz);
	if (p == MAP_FAILED)
		return -errno;
	v->producer = p;
	v->data = (const char *)p + r->page_sz;
	v->sz = r->sz;
	v->joined = malloc(r->sz); /* only the touched part takes memory */
	return v->joined ? 0 : -ENOMEM;
}

static int add(struct ring *r, int rings_fd, uint32_t cpu)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "obrec_ring", 0, 0, r->sz, NULL);

	if (fd < 0)
		return fd;
	r->fds[r->cnt++] = fd;
	if (bpf_map_update_elem(rings_fd, &cpu, &fd, BPF_ANY))
		return -errno;
	return map_one(r, fd, &r->views[cpu]);
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
	r->fds = calloc(cpus, sizeof(*r->fds));
	r->views = calloc(cpus, sizeof(*r->views));
	if (r->fds && r->views)
		err = 0;
	for (uint32_t cpu = 0; cpu < cpus && !err; cpu++)
		err = add(r, rings_fd, cpu);
	if (err)
		ring__free(r);
	else
		*out = r;
	return err;
}

int ring__add_payload(struct ring *r, int fd, unsigned cnt, uint32_t sz)
{
	size_t element = (NET_SCRATCH_SZ((size_t)sz) + 7) & ~(size_t)7;
	struct ring_view *views = realloc(r->views, (r->cnt + cnt) * sizeof(*views));
	void *p;

	if (!views)
		return -ENOMEM;
	r->views = views;
	p = mmap(NULL, element * cnt, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->payload = p;
	r->payload_sz = element * cnt;
	r->payload_cnt = cnt;
	for (unsigned i = 0; i < cnt; i++) {
		char *at = r->payload + i * element;

		r->views[r->cnt + i] = (struct ring_view){
			.consumer = (void *)(at + offsetof(struct net_ring, consumer)),
			.producer = (void *)(at + offsetof(struct net_ring, producer)),
			.data = at + NET_RING_DATA,
			.sz = sz,
			.waits = true,
		};
	}
	return 0;
}

void ring__free(struct ring *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->cnt; i++) {
		struct ring_view *v = &r->views[i];

		if (v->consumer)
			munmap(v->consumer, r->page_sz);
		if (v->producer)
			munmap((void *)v->producer, r->page_sz + r->sz);
		free(v->joined);
		close(r->fds[i]);
	}
	if (r->payload)
		munmap(r->payload, r->payload_sz);
	free(r->fds);
	free(r->views);
	free(r);
}

/* Edge-triggered: wait for the kernel's wake-up, not for a non-empty ring, which is nearly always
 * the case. */
int ring__watch(struct ring *r, int epoll_fd)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = r};

	for (unsigned i = 0; i < r->cnt; i++)
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, r->fds[i], &ev))
			return -errno;
	return 0;
}

unsigned ring__drain(struct ring *r)
{
	return ring_read(r->views, r->cnt + r->payload_cnt, &r->handler);
}
