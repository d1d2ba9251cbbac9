/* SPDX-License-Identifier: BSD-2-Clause */
/* The rings between the BPF programs and obrec, one a CPU. Owns their maps and memory. */
#ifndef RECORD_RING_H
#define RECORD_RING_H

#include "record/intake/ring_read.h"

struct ring;

/* Makes `cpus` rings of `sz` bytes (a power of two, at least a page) and puts them in the map of
 * maps `rings_fd`. */
int ring__new(struct ring **r, int rings_fd, unsigned cpus, uint32_t sz,
	      const struct ring_handler *handler);
void ring__free(struct ring *r);

/* Adds rings that programs write themselves: `cnt` of `sz` bytes in the array `fd`, whose elements
 * begin with struct net_ring. */
int ring__add_payload(struct ring *r, int fd, unsigned cnt, uint32_t sz);

/* Wakes epoll_wait() when a ring is filled well enough to be worth it. */
int ring__watch(struct ring *r, int epoll_fd);

/* ring_read() of them all. */
unsigned ring__drain(struct ring *r);

#endif
