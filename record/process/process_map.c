/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds mappings from side-band records or /proc to a process's image. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/process/process_tracker.h"

/* A forked child has its own JIT binary for code it generates; inherited code keeps the parent's
 * names. */
static void need_jit(struct tracker *t, struct process *p)
{
	if (p->jit_own)
		return;
	p->jit = binaries__jit(t->binaries, p->tgid);
	p->jit_own = p->jit != NULL;
	table_mark_dirty(t, p);
}

/* Returns true if all of [start, end) is already known as JIT code: V8 changes the protection of
 * such memory frequently. */
static bool is_generated(const struct process *p, uint64_t start, uint64_t end)
{
	const struct map *m = maps_find(&p->maps, start);

	return m && !m->binary && m->end >= end;
}

/* ---- mappings whose files are being read ---- */

enum { WAITING_MAX = 65536 };

struct waiting_map {
	struct waiting_map *next;
	uint64_t started_ns; /* of the image */
	uint64_t ts_ns;
	struct mapped m;
	char path[];
};

static void wait_for_file(struct tracker *t, const struct process *p, const struct mapped *m,
			  uint64_t ts_ns)
{
	struct waiting_map *w = NULL;

	if (t->waiting_cnt < WAITING_MAX)
		w = malloc(sizeof(*w) + m->path.len);
	if (!w) {
		tracker_lose(t, "target", "too many mappings waiting for their files", 1);
		return;
	}
	*w = (struct waiting_map){.started_ns = p->started_ns, .ts_ns = ts_ns, .m = *m};
	memcpy(w->path, m->path.p, m->path.len);
	w->m.path.p = w->path;
	*t->waiting_tail = w;
	t->waiting_tail = &w->next;
	t->waiting_cnt++;
}

static struct waiting_map *take_waiting(struct tracker *t)
{
	struct waiting_map *all = t->waiting;

	t->waiting = NULL;
	t->waiting_tail = &t->waiting;
	t->waiting_cnt = 0;
	return all;
}

void tracker_map_waiting(struct tracker *t)
{
	struct waiting_map *w = take_waiting(t), *next;

	t->files_came = false;
	for (; w; w = next) {
		struct process *p = table_same(t, w->m.pid, w->started_ns);

		next = w->next;
		if (p)
			tracker_map_below(t, p, &w->m, w->ts_ns);
		free(w);
	}
}

void tracker_free_waiting(struct tracker *t)
{
	struct waiting_map *w = take_waiting(t), *next;

	for (; w; w = next) {
		next = w->next;
		free(w);
	}
}

/* ---- */

static bool has_newer(const struct process *p, const struct mapped *m, uint64_t ts_ns)
{
	for (uint64_t at = m->start; at < m->end;) {
		const struct map *there = maps_next(&p->maps, at);

		if (!there || there->start >= m->end)
			return false;
		if (there->ts_ns > ts_ns)
			return true;
		at = there->end;
	}
	return false;
}

void tracker_map_below(struct tracker *t, struct process *p, const struct mapped *m, uint64_t ts_ns)
{
	if (!has_newer(p, m, ts_ns))
		tracker_map(t, p, m, ts_ns);
}

void tracker_map(struct tracker *t, struct process *p, const struct mapped *m, uint64_t ts_ns)
{
	struct map map = {.start = m->start, .end = m->end, .offset = m->offset, .ts_ns = ts_ns};
	int rc = binaries__resolve(t->binaries, m, &map.binary);

	if (rc == -EINPROGRESS)
		wait_for_file(t, p, m, ts_ns);
	if (rc < 0)
		return;
	if (rc == 0 && is_generated(p, m->start, m->end))
		return;
	if (rc == 0)
		need_jit(t, p);
	rc = maps_overlay(&p->maps, &map);
	if (rc == 1) {
		table_mark_dirty(t, p);
		p->unwritten = t->unwritten = true;
	} else if (rc < 0) {
		tracker_lose(t, "target", "too many mappings in a process", 1);
	}
}
