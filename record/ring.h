/* SPDX-License-Identifier: BSD-2-Clause */
/* The rings between the BPF programs and obrec, one a CPU. Owns their maps and memory. */
#ifndef RECORD_RING_H
#define RECORD_RING_H

#include <stdint.h>

#include "../bpf/wire.h"

struct ring;

/* Called for each whole, checked record; must not keep it. */
struct ring_handler {
	void (*stack)(void *ctx, const struct wire_stack *s);
	void (*sample)(void *ctx, const struct wire_sample *s);
	void (*other)(void *ctx, const struct wire_hdr *hdr); /* a probe's own kind */
	void (*bad)(void *ctx);				      /* not a record this build knows */
	void *ctx;
};

/* Makes `cpus` rings of `sz` bytes (a power of two, at least a page) and puts them in the map of
 * maps `rings_fd`. */
int ring__new(struct ring **r, int rings_fd, unsigned cpus, uint32_t sz,
	      const struct ring_handler *handler);
void ring__free(struct ring *r);

/* Wakes epoll_wait() when a ring is filled well enough to be worth it. */
int ring__watch(struct ring *r, int epoll_fd);

/* Hands over what is queued at the call, bounded by the rings' size; returns how many of the records
 * were of the kinds that cannot wait (payload can: nothing has to be looked up for it). */
unsigned ring__consume(struct ring *r);

/* Bytes that wait in the fullest one. */
uint64_t ring__queued(const struct ring *r);
/* Bytes handed over of each CPU's so far, as many as there are CPUs. */
const uint64_t *ring__taken(const struct ring *r);
/* The most that was queued in one at any ring__consume() since the last call of this. */
uint64_t ring__most_queued(struct ring *r);

#endif
