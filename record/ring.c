/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "ring.h"

struct ring {
	struct ring_buffer *rb;
	struct ring_handler handler;
	int *fds;
	unsigned fd_cnt;
};

static int handle(void *ctx, void *data, size_t size)
{
	const struct ring_handler *h = ctx;
	const struct wire_hdr *hdr = data;

	if (size < sizeof(*hdr) || hdr->size > size)
		goto bad;
	if (hdr->kind == WIRE_SAMPLE && hdr->size == sizeof(struct wire_sample)) {
		h->sample(h->ctx, data);
		return 0;
	}
	if (hdr->kind == WIRE_STACK && hdr->size >= sizeof(struct wire_stack)) {
		const struct wire_stack *s = data;

		if ((hdr->size - sizeof(*s)) / sizeof(s->frames[0]) >= s->frame_cnt) {
			h->stack(h->ctx, s);
			return 0;
		}
	}
	if (hdr->kind > WIRE_SAMPLE && hdr->kind < WIRE_KIND_CNT) {
		h->other(h->ctx, hdr);
		return 0;
	}
bad:
	h->bad(h->ctx);
	return 0;
}

static int add(struct ring *r, int rings_fd, uint32_t cpu, uint32_t sz)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "obrec_ring", 0, 0, sz, NULL);

	if (fd < 0)
		return fd;
	r->fds[r->fd_cnt++] = fd;
	if (bpf_map_update_elem(rings_fd, &cpu, &fd, BPF_ANY))
		return -errno;
	if (r->rb)
		return ring_buffer__add(r->rb, fd, handle, &r->handler);
	r->rb = ring_buffer__new(fd, handle, &r->handler, NULL);
	return r->rb ? 0 : -errno;
}

int ring__new(struct ring **out, int rings_fd, unsigned cpus, uint32_t sz,
	      const struct ring_handler *handler)
{
	struct ring *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->handler = *handler;
	r->fds = calloc(cpus, sizeof(*r->fds));
	if (r->fds)
		err = 0;
	for (uint32_t cpu = 0; cpu < cpus && !err; cpu++)
		err = add(r, rings_fd, cpu, sz);
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
	ring_buffer__free(r->rb);
	for (unsigned i = 0; i < r->fd_cnt; i++)
		close(r->fds[i]);
	free(r->fds);
	free(r);
}

int ring__epoll_fd(const struct ring *r)
{
	return ring_buffer__epoll_fd(r->rb);
}

int ring__consume(struct ring *r)
{
	return ring_buffer__consume(r->rb);
}
