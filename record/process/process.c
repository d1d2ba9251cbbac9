/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids are assigned on demand: a process, thread, binary or mapping is written to the archive when a
 * sample refers to it. Idle processes of a host add nothing to it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/host/procfs.h"
#include "record/process/process_tracker.h"
#include "record/binary/read_jit.h"
#include "record/reader/readers.h"

#define QUICK_NS 5000000ULL   /* check for ended processes */
#define JIT_NS 250000000ULL   /* names of JIT code */
#define SLOW_NS 1000000000ULL /* cgroup members, mappings to write, ranges to free */
#define KEEP_NS 3000000000ULL /* how long ended processes and threads are kept */
#define DESCRIBE_PER_S 300    /* limit for processes without samples; */
#define DESCRIBE_ALL_PER_S 30 /* lower for a whole system, as most are never sampled */
#define IDLE_WAKES_MAX 50     /* wake-ups per 100 ms since the last target event */
#define LAZY_WAKES_MAX 6      /* the same without urgent probes */
#define WAKE_NS 100000000ULL

static int64_t boot_offset(void)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return boot.tv_sec * 1000000000LL + boot.tv_nsec - (int64_t)clock_now_ns();
}

static unsigned describe_budget(const struct tracker *t)
{
	return t->opts.target.all ? DESCRIBE_ALL_PER_S : DESCRIBE_PER_S;
}

/* ---- life ---- */

/* A file has been read: its binary or its unwind table may now be available. */
static void on_file_late(void *ctx)
{
	struct tracker *t = ctx;

	t->files_came = true;
}

int tracker__new(struct tracker **out, const struct tracker_opts *opts)
{
	struct tracker *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	t->self = getpid();
	t->ended_tail = &t->ended;
	t->ended_threads_tail = &t->ended_threads;
	t->waiting_tail = &t->waiting;
	t->boot_offset_ns = boot_offset();
	t->describe_budget = describe_budget(t);
	tracker__wake_less(t, 0);
	t->proc = procfs_open(opts->proc_root);
	err = t->proc < 0 ? t->proc : 0;
	if (err)
		message_error("cannot open %s: %s", opts->proc_root ? opts->proc_root : "/proc",
			      strerror(-err));
	if (!err)
		err = target__new(&t->target, &t->opts.target, t->proc);
	if (!err) {
		const struct binaries_opts b = {
			.readers = opts->readers,
			.facts = opts->facts,
			.writer = opts->writer,
			.store = opts->store,
			.debuginfo = opts->debuginfo,
			.loss = opts->loss,
			.loss_ctx = opts->loss_ctx,
			.file = opts->file,
			.file_gone = opts->file_gone,
			.file_ctx = opts->file_ctx,
			.late = on_file_late,
			.late_ctx = t,
			.room = opts->room,
			.room_ctx = opts->room_ctx,
		};

		err = binaries__new(&t->binaries, &b);
	}
	if (err) {
		tracker__free(t);
		return err;
	}
	*out = t;
	return 0;
}

void tracker__free(struct tracker *t)
{
	if (!t)
		return;
	sideband__close(t->sideband);
	readers__stop(t->opts.readers);
	tracker_free_waiting(t);
	table_free(t);
	binaries__free(t->binaries);
	target__free(t->target);
	if (t->proc >= 0)
		close(t->proc);
	free(t);
}

/* Handles late answers of readers. */
static void take_late(struct tracker *t)
{
	struct process *p;

	readers__deliver(t->opts.readers);
	if (!t->files_came)
		return;
	tracker_map_waiting(t);
	for (size_t i = 0; (p = idmap_next(&t->processes, &i));)
		if (p->target && !p->ended_ns)
			table_mark_dirty(t, p);
}

void tracker__settle(struct tracker *t)
{
	readers__settle(t->opts.readers, tracker__breathe, t);
	take_late(t);
}

int tracker__start(struct tracker *t)
{
	int err;

	if (t->opts.store) {
		unwind_store__publish(t->opts.store, t->self, PROC_IGNORE, 0, NULL, 0);
		/* also excludes its readers, none of which exists yet */
		unwind_store__publish(t->opts.store, nursery__pid(t->opts.nursery),
				      PROC_IGNORE | PROC_INHERIT, 0, NULL, 0);
		if (t->opts.uprobes_pid)
			unwind_store__publish(t->opts.store, t->opts.uprobes_pid, PROC_IGNORE, 0,
					      NULL, 0);
	}
	readers__set_mood(t->opts.readers, READERS_STARTING);
	err = sideband__open(&t->sideband, t->opts.epoll_fd, t);
	if (!err)
		err = scan_targets(t);
	tracker__settle(t);
	table_publish(t);
	readers__set_mood(t->opts.readers, READERS_RECORDING);
	return err ? err : tracker__drain(t);
}

/* ---- following ---- */

static void count_losses(struct tracker *t)
{
	struct sideband_lost lost = sideband__lost(t->sideband);

	tracker_lose(t, "side-band", "ring buffer full", lost.ring_full);
	tracker_lose(t, "side-band", "queue full", lost.queue_full);
	tracker_lose(t, "side-band", "malformed record", lost.malformed);
	if (lost.ring_full || lost.queue_full || lost.malformed)
		t->rescan = true;
}

static void publish(struct tracker *t)
{
	scan_full_maps(t);
	table_publish(t);
}

/* Returns the number of records handled. */
static unsigned handle_queued(struct tracker *t)
{
	struct sideband_record r;
	unsigned all = 0;

	/* Handling takes time (up to 100 ms for a new binary's table), so more records may have
	 * arrived. The number of rounds is bounded. */
	for (int round = 0; round < 8; round++) {
		unsigned handled = 0;

		sideband__read(t->sideband);
		while (sideband__next(t->sideband, &r)) {
			uint64_t known = binaries__loaded(t->binaries);

			tracker_handle(t, &r);
			handled++;
			/* Building a table takes long; publish first so that other processes do not
			 * wait longer. */
			if (binaries__loaded(t->binaries) != known) {
				publish(t);
				sideband__read(t->sideband);
			}
		}
		if (!handled)
			break;
		publish(t);
		all += handled;
	}
	return all;
}

/* Limits wake-ups on a host where processes outside the target fork and exec a lot. Events of
 * targets must be handled at once, and after one more are expected, so they reset the limit. */
static void limit_wakes(struct tracker *t, uint64_t now, unsigned handled)
{
	if (handled && t->relevant && !t->opts.target.all && t->wakes_max == IDLE_WAKES_MAX) {
		t->idle_wakes = 0;
		sideband__wake(t->sideband, true);
	} else if (handled && ++t->idle_wakes >= t->wakes_max) {
		sideband__wake(t->sideband, false);
	}
	if (now < t->next_wake_ns)
		return;
	t->next_wake_ns = now + WAKE_NS;
	t->idle_wakes = 0;
	sideband__wake(t->sideband, t->wakes_max > 0);
}

void tracker__wake_less(struct tracker *t, unsigned level)
{
	t->wakes_max = (t->opts.urgent ? IDLE_WAKES_MAX : LAZY_WAKES_MAX) >> level;
}

/* Writes mappings of hit binaries in processes with samples. */
static void write_mappings(struct tracker *t)
{
	struct process *p;

	if (!t->unwritten && !t->hit_since)
		return;
	for (size_t i = 0; (p = idmap_next(&t->processes, &i));) {
		for (; p; p = p->older) {
			if (p->id && (p->unwritten || t->hit_since))
				process_write_mappings(t->opts.writer, p, false);
			p->unwritten = p->unwritten && !p->id;
		}
	}
	t->unwritten = t->hit_since = false;
}

static void chores(struct tracker *t, uint64_t now)
{
	if (now >= t->next_quick_ns) {
		t->next_quick_ns = now + QUICK_NS;
		tracker_check_dying(t, false);
	}
	if (now - t->jit_resolved_ns >= JIT_NS)
		tracker_read_jit(t, false);
	if (now < t->next_slow_ns)
		return;
	t->next_slow_ns = now + SLOW_NS;
	t->describe_budget = describe_budget(t);
	if (t->rescan) {
		t->rescan = false;
		scan_again(t);
	}
	if (target__by_cgroup(t->target) && now >= t->next_members_ns)
		tracker_read_members(t, false);
	scan_ended_maps(t);
	write_mappings(t);
	if (now > KEEP_NS)
		table_sweep(t, now - KEEP_NS);
	if (binaries__crowded(t->binaries, now))
		tracker_sweep_binaries(t, now);
	if (t->opts.store)
		unwind_store__reclaim(t->opts.store, now);
}

int tracker__drain(struct tracker *t)
{
	uint64_t now = clock_now_ns();
	unsigned handled;

	if (!t->sideband || t->draining)
		return 0;
	t->draining = true;
	t->relevant = false;
	take_late(t);
	handled = handle_queued(t);
	count_losses(t);
	limit_wakes(t, now, handled);
	chores(t, now);
	publish(t);
	t->draining = false;
	return 0;
}

/* ---- what samples ask ---- */

/*
 * A process with records that is in no table: its fork was not seen, and it may already be gone.
 * Or it is no target, but woke one up or sent it a signal.
 */
static struct process *stranger(struct tracker *t, uint32_t tgid, const char *comm, uint64_t ts_ns)
{
	bool target = t->opts.target.all || !t->opts.store ||
		      unwind_store__has_target(t->opts.store, tgid);
	struct process *p = target ? scan_adopt(t, tgid, false) : scan_bystander(t, tgid);

	if (p)
		return p;
	p = table_add(t, tgid, 0, 0);
	if (!p)
		return NULL;
	identity_set_comm(&p->identity,
			  (struct span){comm, strnlen(comm, sizeof(p->identity.comm))});
	if (tgid) /* 0: the idle tasks, which never exit */
		table_end(t, p, ts_ns, true);
	return p;
}

/* Returns true if all events up to that time have been read. */
static bool is_read(const struct tracker *t, uint64_t ts_ns)
{
	return !t->sideband || ts_ns <= sideband__horizon(t->sideband);
}

/* Returns the image of a tgid at that time, with its record written; NULL: unknown. */
static struct process *written_process(struct tracker *t, uint32_t tgid, const char *comm,
				       uint64_t ts_ns)
{
	struct process *p;

	if (!is_read(t, ts_ns))
		tracker__drain(t);
	p = table_at(t, tgid, ts_ns);
	if (!p)
		p = stranger(t, tgid, comm, ts_ns);
	return p && table_write(t, p) ? p : NULL;
}

uint32_t tracker__process(struct tracker *t, uint32_t tgid, const char *comm, uint64_t ts_ns)
{
	struct process *p = written_process(t, tgid, comm, ts_ns);

	return p ? p->id : 0;
}

uint32_t tracker__thread(struct tracker *t, uint32_t tgid, uint32_t tid, const char *comm,
			 uint64_t ts_ns)
{
	struct thread *th = is_read(t, ts_ns) ? table_recent(t, tgid, tid, ts_ns) : NULL;
	struct process *p;

	if (th && !strncmp(th->comm, comm, sizeof(th->comm) - 1))
		return th->id;
	p = written_process(t, tgid, comm, ts_ns);
	th = p ? table_thread(t, p, tid, ts_ns) : NULL;
	if (!th)
		return 0;
	if (!th->id || strncmp(th->comm, comm, sizeof(th->comm) - 1)) {
		if (!th->id)
			th->id = ++t->thread_ids;
		memset(th->comm, 0, sizeof(th->comm));
		memcpy(th->comm, comm, strnlen(comm, sizeof(th->comm) - 1));
		thread_write(t->opts.writer, th);
	}
	table_set_recent(t, th);
	return th->id;
}

static uint64_t find_frame(struct tracker *t, uint32_t tgid, uint64_t address)
{
	struct process *p = idmap_get(&t->processes, tgid);
	const struct map *m = p ? maps_find(&p->maps, address) : NULL;
	uint64_t bias;

	if (!m)
		return frame_pack(FRAME_BINARY_UNKNOWN, address);
	if (!m->binary)
		return frame_pack(p->jit ? p->jit->id : FRAME_BINARY_UNKNOWN, address);
	image_bias(&m->binary->image, m->start, m->offset, &bias);
	return frame_pack(m->binary->id, address - bias);
}

uint64_t tracker__frame(struct tracker *t, uint32_t tgid, uint64_t address)
{
	uint64_t frame = find_frame(t, tgid, address);

	/* Most likely the mapping is new and its record is still queued. */
	if (frame_binary(frame) == FRAME_BINARY_UNKNOWN && t->sideband) {
		tracker__drain(t);
		frame = find_frame(t, tgid, address);
	}
	return frame;
}

const char *tracker__file(const struct tracker *t, uint32_t binary)
{
	const struct binary *b = binaries__get(t->binaries, binary);

	return b && !b->jit && b->path[0] == '/' ? b->path : NULL;
}

void tracker__hit(struct tracker *t, uint32_t binary, uint64_t elf_address)
{
	struct binary *b = binaries__get(t->binaries, binary);

	if (!b)
		return;
	if (binaries__hit(t->binaries, b))
		t->hit_since = true;
	if (t->opts.debuginfo && !b->jit)
		debuginfo__hit(t->opts.debuginfo, binary, elf_address);
	if (b->jit && jit_names__hit(b->jit, elf_address) &&
	    clock_now_ns() - t->jit_resolved_ns >= JIT_NS) /* early: the process may be
							    * short-lived */
		tracker_read_jit(t, false);
}

size_t tracker__live_targets(const struct tracker *t)
{
	return t->live_targets;
}

int tracker__reanchor(struct tracker *t)
{
	struct process *p;
	struct thread *th;

	table_end_gone(t, clock_now_ns());
	binaries__reanchor(t->binaries);
	for (size_t i = 0; (p = idmap_next(&t->processes, &i));) {
		for (; p; p = p->older) {
			if (!p->id)
				continue;
			process_write(t->opts.writer, p);
			if (p->ended_ns)
				process_write_exit(t->opts.writer, p);
			for (th = p->threads; th; th = th->sibling)
				if (th->id)
					thread_write(t->opts.writer, th);
			process_write_mappings(t->opts.writer, p, true);
		}
	}
	return 0;
}

int tracker__finish(struct tracker *t)
{
	readers__set_mood(t->opts.readers, READERS_STOPPING);
	tracker__drain(t);
	tracker_check_dying(t, true);
	tracker_read_jit(t, true);
	/* Requests still unanswered are lost. */
	readers__stop(t->opts.readers);
	take_late(t);
	write_mappings(t);
	return 0;
}

/* ---- current processes and threads ---- */

int tracker__each_target(struct tracker *t, int (*fn)(void *ctx, uint32_t tgid), void *ctx)
{
	struct process *p;
	int err = 0;

	for (size_t i = 0; err <= 0 && (p = idmap_next(&t->processes, &i));)
		if (!p->ended_ns && p->target)
			err = fn(ctx, p->tgid); /* negative: the process is gone */
	return err > 0 ? err : 0;
}

struct each {
	struct tracker *t;
	uint32_t tgid;
	int (*fn)(void *ctx, uint32_t tgid, uint32_t tid);
	void *ctx;
};

static int each_task(void *ctx, uint32_t tid)
{
	const struct each *e = ctx;

	return e->fn(e->ctx, e->tgid, tid);
}

static int each_process(void *ctx, uint32_t tgid)
{
	struct each *e = ctx;
	char dir[32];

	e->tgid = tgid;
	snprintf(dir, sizeof(dir), "%u/task", tgid);
	return procfs_each_id(e->t->proc, dir, each_task, e);
}

int tracker__each_thread(struct tracker *t, int (*fn)(void *ctx, uint32_t tgid, uint32_t tid),
			 void *ctx)
{
	struct each e = {.t = t, .fn = fn, .ctx = ctx};

	return tracker__each_target(t, each_process, &e);
}
