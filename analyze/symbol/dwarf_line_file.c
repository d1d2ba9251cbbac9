/* SPDX-License-Identifier: BSD-2-Clause */
/* File names of a line table. A separate file, since callers that only copy tables need no name
 * pool. */
#include <stdio.h>

#include "analyze/symbol/name_pool.h"
#include "format/dwarf/dwarf_line.h"

/* Appends a path component as llvm's path::append does: one separator between components, empty
 * ones skipped. Reads no more of it than fits. */
static void append_path(char *buf, size_t sz, const char *part)
{
	size_t len = strlen(buf);

	if (!*part)
		return;
	for (size_t n = 0; len && buf[len - 1] == '/' && *part == '/' && n < sz; n++)
		part++;
	snprintf(buf + len, sz - len, "%s%.*s",
		 len && buf[len - 1] != '/' && *part != '/' ? "/" : "", (int)(sz - len), part);
}

static const char *file_dir(const struct line_table *t, const struct line_file *f)
{
	const char *dir = NULL;

	if (t->version >= 5)
		dir = f->dir < t->dir_cnt ? t->dirs[f->dir] : NULL;
	else if (f->dir && f->dir <= t->dir_cnt)
		dir = t->dirs[f->dir - 1];
	return dir ? dir : "";
}

const struct pooled *line_table_file(struct line_table *t, uint64_t index, struct name_pool *pool,
				     struct meter *m)
{
	char path[8192] = "";
	struct line_file *f;
	const char *dir;

	if (t->version < 5)
		index--; /* index 0 (no file) becomes the maximum, which does not exist */
	if (index >= t->file_cnt)
		return NULL;
	f = &t->files[index];
	if (f->done)
		return f->path;
	f->done = true;
	if (!f->name)
		return NULL;
	dir = file_dir(t, f);
	if (f->name[0] != '/') {
		if (dir[0] != '/' && t->unit->comp_dir)
			append_path(path, sizeof(path), t->unit->comp_dir);
		append_path(path, sizeof(path), dir);
	}
	append_path(path, sizeof(path), f->name);
	if (meter_work(m, 16 + strlen(path) / 4))
		f->path = name_pool__add(pool, path, m);
	return f->path;
}
