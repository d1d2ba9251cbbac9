/* SPDX-License-Identifier: BSD-2-Clause */
/* Registry of binaries by id. */
#include "record/binary/binary_registry.h"
#include "record/binary/read_jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t binaries__loaded(const struct binaries *b)
{
	return b->loaded;
}

struct binary *binaries__get(struct binaries *b, uint32_t id)
{
	return id && id <= b->cnt ? b->by_id[id - 1] : NULL;
}

struct binary *binaries__next(const struct binaries *b, uint32_t *i)
{
	while (*i < b->cnt) {
		struct binary *bin = b->by_id[(*i)++];

		if (bin)
			return bin;
	}
	return NULL;
}

/* ---- making one ---- */

/* Extends the tables by one id; false if that is not possible. */
static bool grow(struct binaries *b)
{
	uint32_t cap = b->cap ? b->cap * 2 : 64, *ids;
	struct binary **v;
	uint64_t *tags;

	if (b->cnt >= BINARY_ID_MAX) {
		binaries_lose(b, "binary", "more than 65534 binaries");
		return false;
	}
	if (b->cnt == b->cap) {
		v = realloc(b->by_id, cap * sizeof(*v));
		b->by_id = v ? v : b->by_id;
		ids = realloc(b->free_ids, cap * sizeof(*ids));
		b->free_ids = ids ? ids : b->free_ids;
		tags = realloc(b->tags, cap * sizeof(*tags));
		b->tags = tags ? tags : b->tags;
		if (!v || !ids || !tags)
			return false;
		b->cap = cap;
	}
	b->tags[b->cnt] = 0;
	b->by_id[b->cnt++] = NULL;
	return true;
}

struct binary *binaries_add_again(struct binaries *b, struct span path, uint32_t id)
{
	struct binary *bin = calloc(1, sizeof(*bin));

	if (bin)
		bin->path = strndup(path.p, path.len);
	if (!bin || !bin->path) {
		free(bin);
		return NULL;
	}
	b->by_id[id - 1] = bin;
	b->live++;
	b->loaded++;
	bin->id = id;
	bin->fd = bin->root = -1;
	bin->range_flags = RANGE_FP;
	return bin;
}

struct binary *binaries_add(struct binaries *b, struct span path)
{
	struct binary *bin;

	if (!b->free_cnt) {
		if (!grow(b))
			return NULL;
		b->free_ids[b->free_cnt++] = b->cnt;
	}
	bin = binaries_add_again(b, path, b->free_ids[b->free_cnt - 1]);
	b->free_cnt -= bin != NULL;
	return bin;
}

void binaries_keep(struct binaries *b, struct binary *bin, int fd)
{
	if (b->fds < b->fds_max) {
		bin->fd = fd;
		b->fds++;
	} else {
		close(fd);
	}
}

int binaries_root(struct binaries *b, struct file_read *r)
{
	int i;

	for (i = 0; i < b->root_cnt; i++)
		if (b->root[i].ino == r->root.ino && b->root[i].dev == r->root.dev &&
		    b->root[i].mnt_ns == r->root.mnt_ns)
			return i;
	if (i == ROOTS_MAX || r->root_fd < 0)
		return -1;
	b->root[i] = (struct root){r->root.mnt_ns, r->root.ino, r->root.dev, r->root_fd};
	r->root_fd = -1;
	return b->root_cnt++;
}

void binaries_close(struct binaries *b, struct binary *bin)
{
	if (bin->fd >= 0) {
		close(bin->fd);
		b->fds--;
	}
	bin->fd = -1;
}

void binaries_free_one(struct binaries *b, struct binary *bin)
{
	b->by_id[bin->id - 1] = NULL;
	b->live--;
	binaries_close(b, bin);
	image_fini(&bin->image);
	jit_names__free(bin->jit);
	free(bin->path);
	free(bin);
}
