/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdlib.h>

#include "record/host/uprobes.h"
#include "record/probe/probe.h"
#include "record/probe/probed_files.h"

static bool same_file(const struct probed_file *f, const struct stat *st)
{
	return f->dev == st->st_dev && f->ino == st->st_ino &&
	       f->mtime.tv_sec == st->st_mtim.tv_sec && f->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

static uint64_t key_of(const struct stat *st)
{
	return idmap_mix(st->st_ino ^ idmap_mix(st->st_dev));
}

struct probed_file *probed_files_find(const struct probed_files *files, const struct stat *st)
{
	struct probed_file *f = idmap_get(&files->by_stat, key_of(st));

	while (f && !same_file(f, st))
		f = f->other;
	return f;
}

struct probed_file *probed_files_add(struct probe_env *env, struct probed_files *files,
				     const struct stat *st)
{
	struct probed_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	f->mtime = st->st_mtim;
	f->uprobes = uprobes__set(env->uprobes);
	f->other = idmap_get(&files->by_stat, key_of(st));
	if (!idmap_put(&files->by_stat, key_of(st), f))
		return f;
	free(f);
	return NULL;
}

void probed_files_gone(struct probe_env *env, struct probed_files *files, const struct stat *st)
{
	struct probed_file *f = probed_files_find(files, st), *first, **at;

	if (!f || --f->users)
		return;
	first = idmap_get(&files->by_stat, key_of(st));
	for (at = &first; *at != f; at = &(*at)->other)
		;
	*at = f->other;
	if (first)
		idmap_put(&files->by_stat, key_of(st), first);
	else
		idmap_del(&files->by_stat, key_of(st));
	uprobes__detach(env->uprobes, f->uprobes);
	free(f);
}

void probed_files_fini(struct probed_files *files)
{
	struct probed_file *f, *other;

	for (size_t i = 0; (f = idmap_next(&files->by_stat, &i));)
		for (; f; f = other) {
			other = f->other;
			free(f);
		}
	idmap_fini(&files->by_stat);
}
