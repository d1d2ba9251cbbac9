/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry from inside: binary.c keeps binaries and writes them, binary_file.c finds them by
 * their files. */
#ifndef RECORD_BINARY_REGISTRY_H
#define RECORD_BINARY_REGISTRY_H

#include "binary.h"
#include "idmap.h"

#define ROOTS_MAX 256

/* A root directory that binaries were found under, kept for looking up separate debug files. */
struct root {
	ino_t mnt_ns, ino;
	dev_t dev;
	int fd;
};

struct binaries {
	struct binaries_opts opts;
	struct idmap files;  /* hash of (device, inode) -> struct file */
	struct idmap builds; /* hash of build-id, size and segments -> struct binary */
	struct binary **by_id;
	uint32_t cnt, cap;
	struct root root[ROOTS_MAX];
	int root_cnt;
	uint64_t fds, fds_max;
	struct {
		size_t len;
		bool compat;
		struct binary *binary;
	} vdso[4];
	unsigned vdso_cnt;
};

static inline void binaries_lose(struct binaries *b, const char *source, const char *cause)
{
	if (b->opts.loss)
		b->opts.loss(b->opts.loss_ctx, source, cause, 1);
}

/* A new one with the next id; NULL when there are no more, which is counted. */
struct binary *binaries_add(struct binaries *b, struct span path);
/* Gives it the open file, which is kept or, beyond the bound of descriptors, closed. */
void binaries_keep(struct binaries *b, struct binary *bin, int fd);
/* The index of the process's root directory among those kept, -1 when it cannot be. */
int binaries_root(struct binaries *b, uint32_t pid);
/* binary_file.c */
void binaries_free_files(struct binaries *b);

#endif
