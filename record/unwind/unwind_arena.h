/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory segments that the BPF unwinder reads: inner maps with one element, written through mmap.
 * Without an outer map they are memfds, so that higher layers can be used and tested without BPF.
 */
#ifndef RECORD_UNWIND_ARENA_H
#define RECORD_UNWIND_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena {
	const char *name;
	int outer_fd; /* -1: none */
	size_t seg_sz;
	uint32_t max_segs;
	int *fds;
	uint32_t seg_cnt;
};

int arena__init(struct arena *a, const char *name, int outer_fd, size_t seg_sz, uint32_t max_segs);
void arena__fini(struct arena *a);

/* Adds a segment. Returns 0, -ENOSPC at max_segs, or the error of its creation. */
int arena__grow(struct arena *a);

/* Maps one segment for writing (for reading use arena_map_fd with its fd); NULL on error. Call
 * arena_unmap() soon: mapped memory is resident. */
void *arena__map(const struct arena *a, uint32_t seg);
void *arena_map_fd(int fd, size_t size, int writable);
void arena_unmap(void *p, size_t size);

/* Returns a memfd instead of a BPF map, or -errno. */
int arena_memory_fd(const char *name, size_t size);

#endif
