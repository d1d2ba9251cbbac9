/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../format/text.h"
#include "binary_open.h"
#include "binary_registry.h"

#define ID_MAX 0xfffeu /* 0xffff is the kernel */

int binaries__new(struct binaries **out, const struct binaries_opts *opts)
{
	struct binaries *b = calloc(1, sizeof(*b));
	struct rlimit r;

	if (!b)
		return -ENOMEM;
	b->opts = *opts;
	/* One descriptor a binary is kept until it is hit. */
	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
		getrlimit(RLIMIT_NOFILE, &r);
		b->fds_max = r.rlim_cur / 2;
	}
	*out = b;
	return 0;
}

static void close_file(struct binaries *b, struct binary *bin)
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
	close_file(b, bin);
	image_fini(&bin->image);
	perfmap__free(bin->perfmap);
	free(bin->path);
	free(bin);
}

void binaries__free(struct binaries *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < b->cnt; i++)
		if (b->by_id[i])
			binaries_free_one(b, b->by_id[i]);
	for (int i = 0; i < b->root_cnt; i++)
		if (b->root[i].fd >= 0)
			close(b->root[i].fd);
	free(b->by_id);
	binaries_free_files(b);
	idmap_fini(&b->builds);
	idmap_fini(&b->known);
	free(b->free_ids);
	free(b);
}

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

/* One more number than there were; false when that cannot be. */
static bool grow(struct binaries *b)
{
	uint32_t cap = b->cap ? b->cap * 2 : 64, *ids;
	struct binary **v;

	if (b->cnt >= ID_MAX) {
		binaries_lose(b, "binary", "more than 65534 binaries");
		return false;
	}
	if (b->cnt == b->cap) {
		v = realloc(b->by_id, cap * sizeof(*v));
		b->by_id = v ? v : b->by_id;
		ids = realloc(b->free_ids, cap * sizeof(*ids));
		b->free_ids = ids ? ids : b->free_ids;
		if (!v || !ids)
			return false;
		b->cap = cap;
	}
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

int binaries_root(struct binaries *b, uint32_t pid)
{
	struct stat dir, ns;
	char name[32];
	int i;

	snprintf(name, sizeof(name), "%u/ns/mnt", pid);
	if (fstatat(b->opts.proc, name, &ns, 0))
		return -1;
	snprintf(name, sizeof(name), "%u/root/", pid);
	if (fstatat(b->opts.proc, name, &dir, 0))
		return -1;
	for (i = 0; i < b->root_cnt; i++)
		if (b->root[i].ino == dir.st_ino && b->root[i].dev == dir.st_dev &&
		    b->root[i].mnt_ns == ns.st_ino)
			return i;
	if (i == ROOTS_MAX)
		return -1;
	b->root[i] = (struct root){ns.st_ino, dir.st_ino, dir.st_dev, -1};
	b->root[i].fd = openat(b->opts.proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->root[i].fd < 0)
		return -1;
	return b->root_cnt++;
}

struct binary *binaries__jit(struct binaries *b, uint32_t pid)
{
	struct binary *bin;
	char name[32];

	snprintf(name, sizeof(name), "[jit %u]", pid);
	bin = binaries_add(b, span_of(name));
	if (bin && perfmap__new(&bin->perfmap, b->opts.proc, pid))
		bin->perfmap = NULL;
	if (bin)
		bin->range_flags = RANGE_JIT;
	return bin;
}

/* ---- the first hit ---- */

static void write_record(struct binaries *b, const struct binary *bin)
{
	struct rec_binary rec = {
		.id = bin->id,
		.build_id = span_of(bin->image.build_id),
		.path = span_of(bin->path),
		.size = bin->size,
	};

	obz_writer__put(b->opts.writer, REC_binary, &rec);
	if (bin->why) {
		struct rec_debuginfo none = {bin->id, span_of(""), span_of("none"),
					     span_of(bin->why)};

		obz_writer__put(b->opts.writer, REC_debuginfo, &none);
	}
}

/* The descriptor was not kept: the process that had the file may still be there. */
static void reopen(struct binaries *b, struct binary *bin)
{
	struct mapped m = {
		.pid = bin->pid, .start = bin->start, .end = bin->end, .path = span_of(bin->path)};
	struct image im;
	struct stat st;
	int fd;

	if (bin->fd >= 0 || bin->perfmap || bin->why)
		return;
	if (!strcmp(bin->path, "[vdso]"))
		fd = binary_open_vdso(&m);
	else
		fd = binary_open_mapped(b->opts.proc, &m, &st);
	if (fd < 0) {
		bin->why = "the file was gone when it was needed";
		return;
	}
	if (image_read(&im, fd) || im.loads_hash != bin->image.loads_hash ||
	    strcmp(im.build_id, bin->image.build_id) || fstat(fd, &st) ||
	    (uint64_t)st.st_size != bin->size) {
		bin->why = "the file had changed when it was needed";
		close(fd);
	} else {
		bin->fd = fd;
		b->fds++;
	}
	image_fini(&im);
}

bool binaries__hit(struct binaries *b, struct binary *bin)
{
	if (bin->hit)
		return false;
	bin->hit = true;
	reopen(b, bin);
	/* Only now, as a file that never was on a stack has lost nobody anything. */
	if (bin->why)
		binaries_lose(b, "binary", bin->why);
	if (bin->no_table)
		binaries_lose(b, "unwind table", bin->no_table);
	if (bin->fd >= 0 && !bin->image.build_id[0])
		image_content_id(bin->fd, bin->image.build_id);
	write_record(b, bin);
	if (bin->fd >= 0 && b->opts.debuginfo)
		debuginfo__want(b->opts.debuginfo, bin->id, bin->fd,
				bin->root >= 0 ? b->root[bin->root].fd : -1, bin->path,
				bin->image.build_id);
	close_file(b, bin);
	return true;
}

int binaries__reanchor(struct binaries *b)
{
	struct binary *bin;

	for (uint32_t i = 0; (bin = binaries__next(b, &i));)
		if (bin->hit)
			write_record(b, bin);
	return 0;
}
