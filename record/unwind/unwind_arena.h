/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments of memory that the BPF unwinder reads: inner maps of one element, written through mmap.
 * Without an outer map they are plain memory files, so that everything above can be used and tested
 * without BPF.
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

/* One more segment. 0, -ENOSPC at max_segs, or why it cannot be made. */
int arena__grow(struct arena *a);

/* Maps one segment for writing (reading: arena_map_fd with its fd); NULL on failure. arena_unmap()
 * when done, soon: what is mapped is resident. */
void *arena__map(const struct arena *a, uint32_t seg);
void *arena_map_fd(int fd, size_t size, int writable);
void arena_unmap(void *p, size_t size);

/* A map of its own where there is no BPF. -errno. */
int arena_memory_fd(const char *name, size_t size);

#endif
