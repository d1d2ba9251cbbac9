/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "format/text.h"
#include "record/binary/binary_registry.h"
#include "record/binary/read_file.h"
#include "record/binary/read_jit.h"
#include "record/reader/readers.h"

int binaries__new(struct binaries **out, const struct binaries_opts *opts)
{
	struct binaries *b = calloc(1, sizeof(*b));
	struct rlimit r;
	int err;

	if (!b)
		return -ENOMEM;
	err = content_key_random(&b->content);
	if (err) {
		free(b);
		return err;
	}
	b->opts = *opts;
	/* Each binary keeps one descriptor, for its first hit and for comparing contents. */
	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
		getrlimit(RLIMIT_NOFILE, &r);
		b->fds_max = r.rlim_cur / 2;
	}
	*out = b;
	return 0;
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
	idmap_fini(&b->claims);
	free(b->tags);
	free(b->free_ids);
	free(b);
}

static struct binary *add_jit(struct binaries *b, const char *name)
{
	struct binary *bin = binaries_add(b, span_of(name));

	if (bin)
		bin->range_flags = RANGE_JIT;
	return bin;
}

/* From now on, one binary for the JIT code of all processes. A hit in it says only that the code
 * was generated. */
static struct binary *jit_of_all(struct binaries *b)
{
	if (!b->jit)
		b->jit = add_jit(b, "[jit]");
	if (b->jit)
		b->jit->why = "too many processes with JIT code";
	return b->jit;
}

struct binary *binaries__jit(struct binaries *b, uint32_t pid)
{
	struct binary *bin;
	char name[32];

	if (b->cnt - b->free_cnt >= BINARY_ID_MAX / 2)
		return jit_of_all(b);
	snprintf(name, sizeof(name), "[jit %u]", pid);
	bin = add_jit(b, name);
	if (bin && jit_names__new(&bin->jit, pid))
		bin->jit = NULL;
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

/* The descriptor was not kept; try again through the process that mapped the file. */
static void reopen(struct binaries *b, struct binary *bin)
{
	struct mapped m = {
		.pid = bin->pid, .start = bin->start, .end = bin->end, .path = span_of(bin->path)};
	char id[IMAGE_ID_CAP];
	int err;

	if (bin->fd >= 0 || bin->jit || bin->why)
		return;
	err = binaries_read_content(b, &m, bin, &bin->fd, id);
	if (err)
		bin->why = err == -ESTALE      ? "the file was changed before it was read"
			   : err == -ETIMEDOUT ? "the file system did not respond"
					       : "the file was removed before it was read";
	else
		b->fds++;
}

bool binaries__hit(struct binaries *b, struct binary *bin)
{
	if (bin->hit)
		return false;
	bin->hit = true;
	reopen(b, bin);
	/* Reported only now: a file that is in no stack causes no loss. */
	if (bin->why)
		binaries_lose(b, "binary", bin->why);
	if (bin->no_table)
		binaries_lose(b, "unwind table", bin->no_table);
	binaries_settle_id(b, bin);
	write_record(b, bin);
	if (bin->fd >= 0 && b->opts.debuginfo)
		debuginfo__want(b->opts.debuginfo, bin->id, bin->fd, bin->size,
				bin->root >= 0 ? b->root[bin->root].fd : -1, bin->path,
				bin->image.build_id);
	if (b->fds > b->fds_max)
		binaries_close(b, bin);
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
