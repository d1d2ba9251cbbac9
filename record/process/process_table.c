/* SPDX-License-Identifier: BSD-2-Clause */
/* Images of one pid form a chain, latest first: exec and reuse of a pid add a new one in front. A
 * sample is assigned by its time. Ended images are kept for KEEP_NS, as samples may arrive late. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/process/process_tracker.h"
#include "record/host/procfs.h"

struct process *table_live(struct tracker *t, uint32_t tgid)
{
	struct process *p = idmap_get(&t->processes, tgid);

	return p && !p->ended_ns ? p : NULL;
}

struct process *table_same(struct tracker *t, uint32_t tgid, uint64_t started_ns)
{
	struct process *p = table_live(t, tgid);

	return p && p->started_ns == started_ns ? p : NULL;
}

struct process *table_at(struct tracker *t, uint32_t tgid, uint64_t ts_ns)
{
	struct process *p = idmap_get(&t->processes, tgid);

	/* An exiting thread runs a little longer than its exit record says, so the end is not
	 * compared. */
	while (p && p->started_ns > ts_ns && p->older)
		p = p->older;
	return p;
}

static void forget_recent(struct tracker *t)
{
	memset(t->recent, 0, sizeof(t->recent));
}

struct process *table_add(struct tracker *t, uint32_t tgid, uint32_t ppid, uint64_t started_ns)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->tgid = tgid;
	p->ppid = ppid;
	p->started_ns = started_ns;
	p->older = idmap_get(&t->processes, tgid);
	forget_recent(t);
	if (idmap_put(&t->processes, tgid, p)) {
		free(p);
		return NULL;
	}
	return p;
}

void table_set_target(struct tracker *t, struct process *p, bool target)
{
	if (p->target == target)
		return;
	p->target = target;
	t->live_targets += target ? 1 : -1;
	if (target)
		table_mark_dirty(t, p);
}

void table_mark_dirty(struct tracker *t, struct process *p)
{
	if (p->dirty)
		return;
	p->dirty = true;
	p->next_dirty = t->dirty;
	t->dirty = p;
}

struct thread *table_recent(const struct tracker *t, uint32_t tgid, uint32_t tid, uint64_t ts_ns)
{
	struct thread *th = t->recent[tid % RECENT];

	return th && th->tid == tid && th->process->tgid == tgid && th->started_ns <= ts_ns &&
			       th->process->started_ns <= ts_ns
		       ? th
		       : NULL;
}

void table_set_recent(struct tracker *t, struct thread *th)
{
	if (idmap_get(&t->threads, th->tid) == th &&
	    idmap_get(&t->processes, th->process->tgid) == th->process)
		t->recent[th->tid % RECENT] = th;
}

/* ---- records in the archive ---- */

uint32_t table_write(struct tracker *t, struct process *p)
{
	if (p->id)
		return p->id;
	/* Read again: servers rename themselves after fork. */
	if (!p->ended_ns && p->tgid)
		tracker_describe(t, p);
	p->id = ++t->process_ids;
	process_write(t->opts.writer, p);
	if (p->ended_ns)
		process_write_exit(t->opts.writer, p);
	t->unwritten = p->unwritten = true;
	return p->id;
}

void table_end(struct tracker *t, struct process *p, uint64_t ts_ns, bool replaced)
{
	p->ended_ns = ts_ns ? ts_ns : 1;
	p->dying = false;
	if (p->target)
		t->live_targets--;
	if (p->id) {
		process_write_mappings(t->opts.writer, p, false);
		process_write_exit(t->opts.writer, p);
	}
	if (p->target && !replaced && t->opts.store)
		unwind_store__remove(t->opts.store, p->tgid);
	p->next_ended = NULL;
	*t->ended_tail = p;
	t->ended_tail = &p->next_ended;
}

/* ---- ranges for the unwinder ---- */

#define RANGES_MAX (RANGE_SEG_CNT - 1) /* ranges of a process are in one segment of the arena */

static bool reserve_ranges(struct tracker *t, size_t cnt)
{
	struct range *v;

	if (cnt <= t->ranges_cap)
		return true;
	v = realloc(t->ranges, cnt * sizeof(*v));
	if (!v)
		return false;
	t->ranges = v;
	t->ranges_cap = cnt;
	return true;
}

static void publish_one(struct tracker *t, struct process *p)
{
	uint32_t flags = PROC_TARGET | (t->opts.target.inherit ? PROC_INHERIT : 0);
	size_t cnt = 0;
	int err;

	if (!t->opts.store || p->ended_ns || !p->target)
		return;
	if (!reserve_ranges(t, p->maps.cnt))
		return;
	/* JIT code has no ranges: if there is a JIT binary, the unwinder assigns all other
	 * addresses to it. */
	for (size_t i = 0; i < p->maps.cnt; i++) {
		const struct map *m = &p->maps.v[i];
		struct range *r = &t->ranges[cnt];
		uint64_t bias;

		if (!m->binary)
			continue;
		if (cnt == RANGES_MAX) {
			tracker_lose(t, "target", "more mappings than the unwinder supports", 1);
			break;
		}
		image_bias(&m->binary->image, m->start, m->offset, &bias);
		*r = (struct range){
			.start = m->start,
			.end = m->end,
			.bias = bias,
			.page0 = m->binary->table.page0,
			.binary = m->binary->id,
			.flags = m->binary->range_flags,
		};
		cnt++;
	}
	err = unwind_store__publish(t->opts.store, p->tgid, flags, p->jit ? p->jit->id : 0,
				    t->ranges, cnt);
	if (err)
		tracker_lose(t, "target",
			     err == -ENOSPC ? "no space for its mappings"
					    : "cannot publish its mappings",
			     1);
}

void table_publish(struct tracker *t)
{
	while (t->dirty) {
		struct process *p = t->dirty;

		t->dirty = p->next_dirty;
		p->dirty = false;
		publish_one(t, p);
	}
}

/* ---- threads ---- */

static struct thread *add_thread(struct tracker *t, struct process *p, uint32_t tid,
				 uint64_t started_ns)
{
	struct thread *th = calloc(1, sizeof(*th));

	if (!th)
		return NULL;
	th->tid = tid;
	th->started_ns = started_ns;
	th->older = idmap_get(&t->threads, tid);
	forget_recent(t);
	if (idmap_put(&t->threads, tid, th)) {
		free(th);
		return NULL;
	}
	th->process = p;
	th->sibling = p->threads;
	if (th->sibling)
		th->sibling->prev = th;
	p->threads = th;
	return th;
}

struct thread *table_thread(struct tracker *t, struct process *p, uint32_t tid, uint64_t ts_ns)
{
	struct thread *th = idmap_get(&t->threads, tid), *found = NULL;

	for (; th; th = th->older) {
		if (th->process != p)
			continue;
		found = th;
		if (th->started_ns <= ts_ns)
			break;
	}
	return found ? found : add_thread(t, p, tid, p->started_ns);
}

static void queue_ended(struct tracker *t, struct thread *th, uint64_t ts_ns)
{
	th->ended_ns = ts_ns;
	th->queued = true;
	th->next_ended = NULL;
	*t->ended_threads_tail = th;
	t->ended_threads_tail = &th->next_ended;
}

void table_thread_ended(struct tracker *t, uint32_t tid, uint64_t ts_ns)
{
	struct thread *th = idmap_get(&t->threads, tid);

	if (th && !th->queued)
		queue_ended(t, th, ts_ns);
}

static bool is_there(const struct tracker *t, const struct thread *th)
{
	char path[48];

	snprintf(path, sizeof(path), "%u/task/%u", th->process->tgid, th->tid);
	return !faccessat(t->proc, path, F_OK, 0) || errno != ENOENT;
}

void table_end_gone(struct tracker *t, uint64_t now_ns)
{
	struct process *p;

	for (size_t i = 0; (p = idmap_next(&t->processes, &i));) {
		if (p->ended_ns || !p->tgid) /* 0: the idle tasks */
			continue;
		for (struct thread *th = p->threads; th; th = th->sibling)
			if (!th->queued && !is_there(t, th))
				queue_ended(t, th, now_ns);
		if (procfs_gone(t->proc, p->tgid))
			table_end(t, p, now_ns, false);
	}
}

void table_thread_started(struct tracker *t, struct process *p, uint32_t tid, uint64_t ts_ns)
{
	/* Threads are entered at their first sample; a reused tid must not be taken for the
	 * previous thread. */
	if (!idmap_get(&t->threads, tid))
		return;
	table_thread_ended(t, tid, ts_ns);
	add_thread(t, p, tid, ts_ns);
}

/* Removes a thread from its process's list and its tid's chain. */
static void unlink_thread(struct tracker *t, struct thread *th)
{
	struct thread *latest = idmap_get(&t->threads, th->tid);

	forget_recent(t);
	if (latest == th) {
		if (th->older)
			idmap_put(&t->threads, th->tid, th->older);
		else
			idmap_del(&t->threads, th->tid);
	} else {
		while (latest && latest->older != th)
			latest = latest->older;
		if (latest)
			latest->older = th->older;
	}
	if (th->prev)
		th->prev->sibling = th->sibling;
	else if (th->process)
		th->process->threads = th->sibling;
	if (th->sibling)
		th->sibling->prev = th->prev;
	th->process = NULL;
	th->prev = th->sibling = th->older = NULL;
}

/* ---- freeing ---- */

static void unlink_process(struct tracker *t, struct process *p)
{
	struct process *latest = idmap_get(&t->processes, p->tgid);

	if (latest == p) {
		if (p->older)
			idmap_put(&t->processes, p->tgid, p->older);
		else
			idmap_del(&t->processes, p->tgid);
	} else {
		while (latest && latest->older != p)
			latest = latest->older;
		if (latest)
			latest->older = p->older;
	}
}

static void free_process(struct tracker *t, struct process *p)
{
	while (p->threads) {
		struct thread *th = p->threads;

		unlink_thread(t, th);
		if (!th->queued) /* otherwise freed with the queue */
			free(th);
	}
	if (p->dirty) {
		struct process **at = &t->dirty;

		while (*at != p)
			at = &(*at)->next_dirty;
		*at = p->next_dirty;
	}
	if (p->jit_own)
		binaries__less_in_use(t->binaries);
	unlink_process(t, p);
	process_free(p);
}

void table_sweep(struct tracker *t, uint64_t before_ns)
{
	while (t->ended && t->ended->ended_ns < before_ns) {
		struct process *p = t->ended;

		t->ended = p->next_ended;
		if (!t->ended)
			t->ended_tail = &t->ended;
		free_process(t, p);
	}
	while (t->ended_threads && t->ended_threads->ended_ns < before_ns) {
		struct thread *th = t->ended_threads;

		t->ended_threads = th->next_ended;
		if (!t->ended_threads)
			t->ended_threads_tail = &t->ended_threads;
		if (th->process)
			unlink_thread(t, th);
		free(th);
	}
}

void tracker_sweep_binaries(struct tracker *t, uint64_t now_ns)
{
	struct process *p;

	binaries__sweep_begin(t->binaries);
	for (size_t i = 0; (p = idmap_next(&t->processes, &i));) {
		for (; p; p = p->older) {
			if (p->jit)
				binaries__in_use(t->binaries, p->jit);
			for (size_t k = 0; k < p->maps.cnt; k++)
				if (p->maps.v[k].binary)
					binaries__in_use(t->binaries, p->maps.v[k].binary);
		}
	}
	binaries__sweep_end(t->binaries, now_ns);
}

void table_free(struct tracker *t)
{
	struct process *p;
	size_t i;

	table_sweep(t, UINT64_MAX);
	/* Only live processes remain. Deletion moves entries, so one iteration may miss some. */
	while (t->processes.cnt)
		for (i = 0; (p = idmap_next(&t->processes, &i));)
			free_process(t, p);
	idmap_fini(&t->processes);
	idmap_fini(&t->threads);
	free(t->ranges);
	free(t->dying);
}
