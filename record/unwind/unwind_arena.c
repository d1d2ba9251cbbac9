/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/unwind/unwind_arena.h"

int arena__init(struct arena *a, const char *name, int outer_fd, size_t seg_sz, uint32_t max_segs)
{
	*a = (struct arena){name, outer_fd, seg_sz, max_segs, NULL, 0};
	a->fds = calloc(max_segs, sizeof(*a->fds));
	return a->fds ? 0 : -ENOMEM;
}

void arena__fini(struct arena *a)
{
	for (uint32_t i = 0; i < a->seg_cnt; i++)
		close(a->fds[i]);
	free(a->fds);
	a->fds = NULL;
	a->seg_cnt = 0;
}

int arena_memory_fd(const char *name, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, size)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

int arena__grow(struct arena *a)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t key = a->seg_cnt;
	int fd, err;

	if (key >= a->max_segs)
		return -ENOSPC;
	if (a->outer_fd < 0) {
		fd = arena_memory_fd(a->name, a->seg_sz);
		if (fd < 0)
			return fd;
	} else {
		fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, a->name, sizeof(key), a->seg_sz, 1, &opts);
		if (fd < 0)
			return -errno;
		if (bpf_map_update_elem(a->outer_fd, &key, &fd, BPF_ANY)) {
			err = -errno;
			close(fd);
			return err;
		}
	}
	a->fds[a->seg_cnt++] = fd;
	return 0;
}

void *arena_map_fd(int fd, size_t size, int writable)
{
	void *p =
		mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *arena__map(const struct arena *a, uint32_t seg)
{
	return seg < a->seg_cnt ? arena_map_fd(a->fds[seg], a->seg_sz, 1) : NULL;
}

void arena_unmap(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}
