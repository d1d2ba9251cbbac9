/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of the tracker to reader processes. Usually the answer arrives at once. A late answer is
 * applied when it arrives, if the process still has the same image. */
#include <errno.h>
#include <stdlib.h>

#include "format/clock.h"
#include "record/process/process_tracker.h"
#include "record/binary/read_jit.h"
#include "record/process/read_members.h"
#include "record/process/read_process.h"
#include "record/reader/readers.h"

/* After reading a cgroup's members, so many times as long passes until they are read again. */
enum { MEMBERS_REST = 10 };

/* The process a late answer is about. */
struct asked {
	struct tracker *t;
	uint32_t tgid, binary;
	uint64_t started_ns, ts_ns;
};

static struct asked *asked_new(struct tracker *t, const struct process *p, uint64_t ts_ns)
{
	struct asked *a = calloc(1, sizeof(*a));

	if (a)
		*a = (struct asked){
			.t = t, .tgid = p->tgid, .started_ns = p->started_ns, .ts_ns = ts_ns};
	return a;
}

static struct reading_request *ask(struct tracker *t, const struct process *p, struct parcel *m)
{
	return readers__ask(t->opts.readers, m, p->tgid, 0);
}

static int lose_answer(struct tracker *t, int err, const char *what)
{
	if (err == -ETIMEDOUT || err == -EAGAIN || err == -EIO)
		tracker_lose(t, "file access", what, 1);
	return err;
}

/* ---- identity ---- */

static void take_identity(struct tracker *t, struct process *p, struct parcel *answer)
{
	lose_answer(t, answer->rc, "a process's /proc entry timed out");
	read_process_take(answer, p);
}

static void on_identity_late(void *ctx, struct reading_request *r)
{
	struct asked *a = ctx;
	struct process *p = table_same(a->t, a->tgid, a->started_ns);

	if (p)
		take_identity(a->t, p, &r->m);
	if (p && p->id)
		process_write(a->t->opts.writer, p);
	free(a);
}

void tracker_describe(struct tracker *t, struct process *p)
{
	struct reading_request *r;
	struct asked *a = asked_new(t, p, 0);
	struct parcel m;

	if (!a)
		return;
	p->described = true;
	read_process_ask(&m, p->tgid, t->opts.target.label_env, t->opts.target.label_env_cnt);
	r = ask(t, p, &m);
	if (r && !readers__await(t->opts.readers, r)) {
		readers__later(r, on_identity_late, a);
		return;
	}
	if (r)
		take_identity(t, p, &r->m);
	readers__done(r);
	free(a);
}

/* ---- mappings ---- */

static int take_maps(struct tracker *t, struct process *p, struct parcel *answer, uint64_t ts_ns,
		     bool below)
{
	struct mapped m;

	while (!answer->rc && read_maps_next(answer, p->tgid, &m)) {
		if (below)
			tracker_map_below(t, p, &m, ts_ns);
		else
			tracker_map(t, p, &m, ts_ns);
	}
	return lose_answer(t, answer->rc, "a process's mappings timed out");
}

static void on_maps_late(void *ctx, struct reading_request *r)
{
	struct asked *a = ctx;
	struct process *p = table_same(a->t, a->tgid, a->started_ns);

	if (p) {
		take_maps(a->t, p, &r->m, a->ts_ns, true);
		p->maps_read = p->maps.cnt;
	}
	free(a);
}

int tracker_read_maps(struct tracker *t, struct process *p, bool late)
{
	uint64_t ts_ns = clock_now_ns();
	struct asked *a = asked_new(t, p, ts_ns);
	struct reading_request *r;
	struct parcel m;
	int err = -ENOMEM;

	p->maps_as_of_ns = ts_ns;
	read_maps_ask(&m, p->tgid);
	r = ask(t, p, &m);
	if (r && !readers__await(t->opts.readers, r)) {
		readers__later(r, late && a ? on_maps_late : NULL, a);
		if (!late)
			free(a);
		return late ? 0 : -ETIMEDOUT;
	}
	if (r)
		err = take_maps(t, p, &r->m, ts_ns, false);
	p->maps_read = p->maps.cnt;
	readers__done(r);
	free(a);
	return err;
}

/* ---- members of cgroups ---- */

struct asked_members {
	struct tracker *t;
	uint64_t ts_ns;
	bool check;
};

static void take_members(struct asked_members *a, struct parcel *answer)
{
	struct tracker *t = a->t;
	uint64_t now = clock_now_ns();
	uint32_t pid;

	t->members_asked = false;
	t->next_members_ns = now + MEMBERS_REST * (now - a->ts_ns);
	lose_answer(t, answer->rc, "members of a cgroup timed out");
	if (!answer->rc && !read_members_all(answer) && !t->members_cut) {
		t->members_cut = true;
		tracker_lose(t, "target", "too many cgroups", 1);
	}
	while (!answer->rc && read_members_next(answer, &pid))
		if (a->check)
			scan_adopt_wanted(t, pid);
		else if (!table_live(t, pid))
			scan_adopt(t, pid, true);
	free(a);
}

static void on_members_late(void *ctx, struct reading_request *r)
{
	take_members(ctx, &r->m);
}

void tracker_read_members(struct tracker *t, bool check)
{
	struct asked_members *a = t->members_asked ? NULL : calloc(1, sizeof(*a));
	struct reading_request *r;
	struct parcel m;

	if (!a)
		return;
	*a = (struct asked_members){t, clock_now_ns(), check};
	target__ask_members(t->target, &m);
	r = readers__ask(t->opts.readers, &m, 0, 0);
	if (!r) {
		free(a);
		return;
	}
	t->members_asked = true;
	if (readers__await(t->opts.readers, r)) {
		take_members(a, &r->m);
		readers__done(r);
	} else {
		readers__later(r, on_members_late, a);
	}
}

/* ---- names of JIT code ---- */

struct symbols_of {
	struct tracker *t;
	uint32_t binary;
};

static void write_symbol(void *ctx, const struct perfmap_line *l)
{
	const struct symbols_of *of = ctx;
	struct rec_symbol rec = {of->binary, l->start, l->size, l->name, {"", 0}};

	obz_writer__put(of->t->opts.writer, REC_symbol, &rec);
}

static void take_names(struct tracker *t, struct binary *b, struct parcel *answer)
{
	struct symbols_of of = {t, b->id};
	uint64_t refused;
	int err = jit_names__take(b->jit, answer, clock_now_ns(), write_symbol, &of, &refused);

	lose_answer(t, err, "a perf map timed out");
	tracker_lose(t, "perf-map", "too many entries", refused);
}

static void on_names_late(void *ctx, struct reading_request *r)
{
	struct asked *a = ctx;
	struct binary *b = binaries__get(a->t->binaries, a->binary);

	/* The id of a JIT binary that was hit is never reused. */
	if (b && b->jit)
		take_names(a->t, b, &r->m);
	free(a);
}

static void read_names(struct tracker *t, struct binary *b)
{
	struct asked *a = calloc(1, sizeof(*a));
	struct reading_request *r;
	struct parcel m;

	if (!a)
		return;
	*a = (struct asked){.t = t, .binary = b->id};
	jit_names__ask(b->jit, &m);
	r = readers__ask(t->opts.readers, &m, jit_names__pid(b->jit), 0);
	if (r && !readers__await(t->opts.readers, r)) {
		readers__later(r, on_names_late, a);
		return;
	}
	if (r)
		take_names(t, b, &r->m);
	readers__done(r);
	free(a);
}

void tracker_read_jit(struct tracker *t, bool last)
{
	uint64_t now = clock_now_ns();
	struct binary *b;

	for (uint32_t i = 0; (b = binaries__next(t->binaries, &i));)
		if (b->jit && jit_names__due(b->jit, now, last))
			read_names(t, b);
	t->jit_resolved_ns = now;
}
