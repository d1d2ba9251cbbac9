/* SPDX-License-Identifier: BSD-2-Clause */
/* The rings between the BPF programs and obrec, one per CPU. Owns the maps and their memory. */
#ifndef RECORD_RING_H
#define RECORD_RING_H

#include "record/intake/ring_read.h"

struct ring;

/* Creates `cpus` rings of `sz` bytes (a power of two, at least a page) and stores them in the map
 * of maps `rings_fd`. */
int ring__new(struct ring **r, int rings_fd, unsigned cpus, uint32_t sz,
	      const struct ring_handler *handler);
void ring__free(struct ring *r);

/* Adds rings that BPF programs write directly: `cnt` rings of `sz` bytes in array map `fd`, whose
 * elements begin with struct net_ring. */
int ring__add_payload(struct ring *r, int fd, unsigned cnt, uint32_t sz);

/* Makes epoll_wait() return when a ring has reached its wake-up level. */
int ring__watch(struct ring *r, int epoll_fd);

/* Calls ring_read() for all rings. */
unsigned ring__drain(struct ring *r);

#endif
