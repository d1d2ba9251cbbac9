/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/graph/diff.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"

struct feed {
	const struct diff_side *side;
	size_t value;
	bool counted; /* values[0] are counts of samples */
	struct profile_frame *frames;
	size_t frame_cap;
	struct strbuf names; /* group names without ids */
};

static const char *unit_of(const char *unit)
{
	if (!strcmp(unit, "nanoseconds"))
		return "ns";
	return strcmp(unit, "count") ? unit : "samples";
}

static int diff_begin(const struct profile_sink *self, void **state,
		      const struct profile_info *info, FILE *out)
{
	struct feed *d = calloc(1, sizeof(*d));

	*state = d;
	if (!d)
		return -ENOMEM;
	d->side = (const struct diff_side *)((const char *)self - offsetof(struct diff_side, sink));
	d->value = info->primary;
	d->counted = info->type_cnt == 2;
	for (size_t i = 0; i < info->type_cnt; i++)
		if (!strcmp(info->types[i].unit, "nanoseconds"))
			d->value = i;
	if (d->side->unit)
		snprintf(*d->side->unit, sizeof(*d->side->unit), "%s",
			 unit_of(info->types[d->value].unit));
	return 0;
}

/* Length of "worker (4711)" without the id. */
static size_t without_id(const char *name)
{
	size_t len = strlen(name), at = len;

	if (len < 4 || name[--at] != ')')
		return len;
	while (at && isdigit((unsigned char)name[at - 1]))
		at--;
	return at > 2 && at < len - 1 && name[at - 1] == '(' && name[at - 2] == ' ' ? at - 2 : len;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

/* Group names are stored in one buffer, which must not move once there are pointers into it. */
static size_t groups_sz(const struct profile_stack *s)
{
	size_t sz = 1;

	for (size_t i = 0; i < s->cnt; i++)
		sz += s->frames[i].kind == PROFILE_GROUP ? strlen(s->frames[i].name) + 1 : 0;
	return sz;
}

static int make_room(struct feed *d, const struct profile_stack *s)
{
	size_t sz = groups_sz(s);

	if (s->cnt > d->frame_cap) {
		struct profile_frame *frames = realloc(d->frames, 2 * s->cnt * sizeof(*frames));

		if (!frames)
			return -ENOMEM;
		d->frames = frames;
		d->frame_cap = 2 * s->cnt;
	}
	if (sz > d->names.cap) {
		char *p = realloc(d->names.p, sz);

		if (!p)
			return -ENOMEM;
		d->names.p = p;
		d->names.cap = sz;
	}
	d->names.len = 0;
	return 0;
}

static int diff_stack(void *state, const struct profile_stack *s)
{
	struct feed *d = state;
	struct profile_stack own = *s;
	uint64_t weights[2] = {0};
	int err;

	if (make_room(d, s))
		return -ENOMEM;
	for (size_t i = 0; i < s->cnt; i++) {
		struct profile_frame *f = &d->frames[i];

		*f = s->frames[i];
		f->binary = base_name(f->binary);
		if (f->kind == PROFILE_INLINED)
			f->kind = PROFILE_USER;
		if (f->kind == PROFILE_GROUP) {
			char *copy = d->names.p + d->names.len;
			size_t len = without_id(f->name);

			memcpy(copy, f->name, len);
			copy[len] = 0;
			d->names.len += len + 1;
			f->name = copy;
		}
	}
	weights[d->side->which] = s->values[d->value];
	own.frames = d->frames;
	err = flamegraph__add(d->side->f, &own, weights[0], weights[1]);
	if (!err && d->side->parts)
		err = diff_parts__add(d->side->parts, d->side->f, d->side->which, s->part,
				      s->values[d->value], d->counted ? s->values[0] : 1);
	return err;
}

static int diff_end(void *state)
{
	struct feed *d = state;

	free(d->frames);
	strbuf_fini(&d->names);
	free(d);
	return 0;
}

void diff_side_init(struct diff_side *s, struct flamegraph *f, struct diff_parts *parts, int which)
{
	*s = (struct diff_side){
		.sink = {.name = "diff",
			 .wants = PROFILE_PARTS,
			 .begin = diff_begin,
			 .stack = diff_stack,
			 .end = diff_end},
		.f = f,
		.parts = parts,
		.which = which,
	};
}

double diff_normalize(struct flamegraph *f)
{
	uint64_t old = flamegraph__weight(f, 0), new = flamegraph__weight(f, 1);

	if (!old || !new)
		return 1;
	flamegraph__scale(f, 1, old);
	return (double)old / new;
}

/* significant: the largest p that is. */
static void bind_change(sqlite3_stmt *s, int column, const struct diff_change *c,
			double significant)
{
	if (c->interval < 0) {
		sqlite3_bind_null(s, column);
		sqlite3_bind_null(s, column + 1);
		return;
	}
	sqlite3_bind_double(s, column, c->interval);
	sqlite3_bind_int(s, column + 1, c->p <= significant);
}

static int insert(sqlite3_stmt *s, const struct flame_function *fn, struct diff_change changes[2],
		  const double significant[2])
{
	static const char *const kinds[] = {
		[PROFILE_USER] = "user", [PROFILE_INLINED] = "user", [PROFILE_KERNEL] = "kernel",
		[PROFILE_JIT] = "jit",	 [PROFILE_GROUP] = "group",  [PROFILE_NOTE] = "note"};

	sqlite3_bind_text(s, 1, fn->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, fn->binary, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 3, kinds[fn->kind], -1, SQLITE_STATIC);
	for (int k = 0; k < 2; k++) {
		sqlite3_bind_int64(s, 4 + k, fn->self[k]);
		sqlite3_bind_int64(s, 6 + k, fn->total[k]);
		bind_change(s, 8 + 2 * k, &changes[k], significant[k]);
	}
	return sqlite3_step(s) == SQLITE_DONE && sqlite3_reset(s) == SQLITE_OK ? 0 : -EIO;
}

/* changes: malloc'ed, of self and total by function of the list. */
static int find_changes(const struct flame_function *list, size_t cnt,
			const struct diff_parts *parts, bool absolute,
			struct diff_change (**changes)[2], double significant[2])
{
	double *p = malloc((cnt + 1) * sizeof(*p));
	int err = 0;

	*changes = malloc((cnt + 1) * sizeof(**changes));
	if (!p || !*changes)
		err = -ENOMEM;
	for (int what = DIFF_SELF; what <= DIFF_TOTAL && !err; what++) {
		size_t found = 0;

		for (size_t i = 0; i < cnt; i++) {
			const struct diff_change c =
				diff_parts__change(parts, list[i].id, what, absolute);
			const uint64_t *of = what == DIFF_SELF ? list[i].self : list[i].total;

			(*changes)[i][what] = c;
			if (list[i].kind != PROFILE_GROUP && (of[0] || of[1]))
				p[found++] = c.p;
		}
		significant[what] = diff_significant(p, found);
	}
	free(p);
	return err;
}

int diff_store(const struct flamegraph *f, const struct diff_parts *parts, bool absolute,
	       sqlite3 *db)
{
	struct diff_change(*changes)[2] = NULL;
	double significant[2];
	uint64_t all =
		flamegraph__weight(f, 0) ? flamegraph__weight(f, 0) : flamegraph__weight(f, 1);
	struct flame_function *list;
	sqlite3_stmt *s = NULL;
	size_t cnt;
	char *views;
	int err = flamegraph__functions(f, &list, &cnt);

	if (err)
		return err;
	err = find_changes(list, cnt, parts, absolute, &changes, significant);
	if (err) {
		free(changes);
		free(list);
		return err;
	}
	if (asprintf(&views,
		     "CREATE TABLE diff_row(function TEXT, binary TEXT, kind TEXT, old_self_ns "
		     "INTEGER, "
		     "new_self_ns INTEGER, old_total_ns INTEGER, new_total_ns INTEGER, "
		     "interval_self_share REAL, significant_self INTEGER, "
		     "interval_total_share REAL, significant_total INTEGER);"
		     "CREATE VIEW diff_function AS SELECT r.*, (new_self_ns - old_self_ns) / t.ns "
		     "AS "
		     "change_self_share, (new_total_ns - old_total_ns) / t.ns AS "
		     "change_total_share, "
		     "old_self_ns / t.ns AS old_self_share, new_self_ns / t.ns AS new_self_share, "
		     "old_total_ns / t.ns AS old_total_share, new_total_ns / t.ns AS "
		     "new_total_share "
		     "FROM diff_row r, (SELECT %llu.0 AS ns) t WHERE old_total_ns OR new_total_ns",
		     (unsigned long long)all) < 0) {
		free(changes);
		free(list);
		return -ENOMEM;
	}
	if (sqlite3_exec(db, views, NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db, "INSERT INTO diff_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			       -1, &s, NULL))
		err = -EIO;
	for (size_t i = 0; i < cnt && !err; i++)
		err = insert(s, &list[i], changes[i], significant);
	sqlite3_finalize(s);
	free(changes);
	free(views);
	free(list);
	return err;
}
