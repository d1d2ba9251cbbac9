/* SPDX-License-Identifier: BSD-2-Clause */
/* Main loop of a capture, and its clean end. */
#include <errno.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/host/memory.h"
#include "record/host/priority.h"
#include "record/host/uprobes.h"
#include "record/session/session_impl.h"

#define TICK_NS (200 * MSEC_NS)
#define FLUSH_NS SEC_NS
#define EPOCH_NS (60 * SEC_NS)
#define COST_NS (10 * SEC_NS)
#define MEMORY_NS (100 * MSEC_NS)
#define DEBUGINFO_NS (10 * SEC_NS)

/* Rings that fill quickly wake the loop. The timer only limits the age of records that need a
 * process or an address look-up. */
enum { POLL_MIN_MS = 10, POLL_MAX_MS = 100, BUSY_RECORDS = 200, WAIT_MS = 100 };

struct loop {
	uint64_t tick_ns, flush_ns, epoch_ns, cost_ns, memory_ns; /* next times */
	int poll_ms;
	bool command_gone, out_of_memory;
};

static enum stop_reason reason_of(int err)
{
	switch (err) {
	case 0:
		return STOP_NONE;
	case OBZ_MAX_SIZE:
		return STOP_MAX_SIZE;
	case -EFBIG:
		return STOP_FILE_LIMIT;
	case -ENOSPC:
	case -EDQUOT:
		return STOP_DISK_FULL;
	default:
		return STOP_ERROR;
	}
}

enum stop_reason stop_reason_last(enum stop_reason reason, int err)
{
	enum stop_reason last = reason_of(err);

	/* other errors are reported separately */
	return reason == STOP_ERROR || !last || last == STOP_ERROR ? reason : last;
}

static int drain(struct session *s)
{
	int n;

	/* Mappings first: a sample's frames may be in a mapping made just before it. */
	thin__begin_processes(s->thin);
	tracker__drain(s->tracker);
	thin__end_processes(s->thin);
	/* If the reader of the archive is slow, losses occur in the rings, where they are
	 * counted. */
	n = obz_writer__behind(s->writer) ? 0 : ring__drain(s->ring);
	for (size_t i = 0; probes[i]; i++)
		if (session_wants(s, i) && probes[i]->drained)
			probes[i]->drained(&s->env);
	return n;
}

static void wait(struct session *s, struct loop *l)
{
	struct epoll_event ev[16];
	int n = epoll_wait(s->epoll_fd, ev, 16, l->poll_ms);

	for (int i = 0; i < n; i++)
		if (ev[i].data.ptr == &s->command_fd)
			l->command_gone = true;
	if (obz_writer__behind(s->writer)) /* the rings are full and stay readable */
		poll(NULL, 0, POLL_MAX_MS);
	n = drain(s);
	if (n > BUSY_RECORDS && l->poll_ms > POLL_MIN_MS)
		l->poll_ms /= 2;
	else if (n <= BUSY_RECORDS / 4 && l->poll_ms < POLL_MAX_MS)
		l->poll_ms *= 2;
	if (l->poll_ms > POLL_MAX_MS)
		l->poll_ms = POLL_MAX_MS;
}

static int flush(struct session *s, uint64_t now, bool last)
{
	int err;

	session_read_losses(s);
	loss__write(s->loss, s->writer, now);
	unwind_store__reclaim(s->store, now);
	err = intake__flush(s->intake, now);
	for (size_t i = 0; probes[i] && !err; i++)
		if (session_wants(s, i) && probes[i]->tick)
			err = probes[i]->tick(&s->env, now, last);
	err = err ? err : metrics__tick(s->metrics, last ? s->stopped_ns : now);
	return err ? err : obz_writer__flush(s->writer);
}

static bool out_of_memory(const struct session *s)
{
	if (session_memory_left(s))
		return false;
	memory_give_back();
	return !session_memory_left(s);
}

/* Runs the periodic tasks; returns the first write error. */
static int periodic(struct session *s, struct loop *l, uint64_t now)
{
	int err = obz_writer__refuses(s->writer); /* the writer accepts no more data */

	if (err)
		return err;
	if (now >= l->epoch_ns) {
		l->epoch_ns = now + EPOCH_NS;
		s->skel->bss->epoch++;
		intake__advance(s->intake);
		err = tracker__reanchor(s->tracker);
		if (!err && s->kallsyms)
			err = kallsyms__reanchor(s->kallsyms);
		for (size_t i = 0; probes[i]; i++)
			if (session_wants(s, i) && probes[i]->reanchor)
				probes[i]->reanchor(&s->env);
		metrics__reanchor(s->metrics);
		err = err ? err : obz_writer__trim(s->writer);
	}
	debuginfo__tick(s->debuginfo, now);
	err = err ? err : thin__tick(s->thin, now);
	if (s->stats_fd >= 0 && now >= l->cost_ns) {
		l->cost_ns = now + COST_NS;
		program_cost_write(s->skel->obj, s->writer, now);
	}
	if (now >= l->memory_ns) {
		l->memory_ns = now + MEMORY_NS;
		l->out_of_memory = out_of_memory(s);
	}
	if (!err && now >= l->flush_ns) {
		l->flush_ns = now + FLUSH_NS;
		err = flush(s, now, false);
	}
	return err;
}

static enum stop_reason check(const struct session *s, const struct loop *l, uint64_t now,
			      const volatile sig_atomic_t *stop)
{
	const struct target_spec *t = &s->opts.target;

	if (*stop)
		return STOP_INTERRUPT;
	if (l->command_gone)
		return STOP_COMMAND_EXIT;
	if (l->out_of_memory)
		return STOP_MAX_MEM;
	if (s->opts.duration_ns && now - s->started_ns >= s->opts.duration_ns)
		return STOP_DURATION;
	if (t->pid_cnt && !s->opts.command_pid && !tracker__live_targets(s->tracker))
		return STOP_TARGET_EXIT;
	return STOP_NONE;
}

/* Not beyond the end of the capture. */
static void bound_poll(const struct session *s, struct loop *l, uint64_t now)
{
	uint64_t left_ms;

	if (!s->opts.duration_ns)
		return;
	left_ms = (s->started_ns + s->opts.duration_ns - now + MSEC_NS - 1) / MSEC_NS;
	if (left_ms < (uint64_t)l->poll_ms)
		l->poll_ms = left_ms ? left_ms : 1;
}

static enum stop_reason run(struct session *s, struct loop *l, volatile sig_atomic_t *stop,
			    void (*tick)(void *ctx, const struct session_status *st), void *ctx)
{
	enum stop_reason reason;
	uint64_t now = clock_now_ns();
	int err;

	while (!(reason = check(s, l, now, stop))) {
		bound_poll(s, l, now);
		wait(s, l);
		now = clock_now_ns();
		err = periodic(s, l, now);
		if (err)
			return reason_of(err);
		if (tick && now >= l->tick_ns) {
			struct session_status st = session__status(s);

			l->tick_ns = now + TICK_NS;
			tick(ctx, &st);
		}
	}
	return reason;
}

enum stop_reason session__run(struct session *s, volatile sig_atomic_t *stop,
			      void (*tick)(void *ctx, const struct session_status *st), void *ctx)
{
	uint64_t now = clock_now_ns();
	struct loop l = {
		.flush_ns = now + FLUSH_NS,
		.epoch_ns = now + EPOCH_NS,
		.cost_ns = now + COST_NS,
		.poll_ms = POLL_MIN_MS,
	};

	return run(s, &l, stop, tick, ctx);
}

/*
 * Waits in progress at the stop are read at once, before they end. Detaching takes time and
 * continues in the background until session__free(). Programs that still saw `enabled` set must
 * have finished: membarrier(2) waits for an RCU grace period, except with nohz_full.
 */
static void stop_probes(struct session *s)
{
	s->skel->bss->enabled = false;
	s->env.stop_ns = clock_now_ns();
	session_read_losses(s);
	s->stopped_ns = s->env.stop_ns;
	for (size_t i = 0; probes[i]; i++)
		if (session_wants(s, i) && probes[i]->finish)
			probes[i]->finish(&s->env);
	links__detach(&s->env.links);
	uprobes__stop(s->env.uprobes);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		links__fini(&s->env.links);
}

/* Waits for pending symbols, but returns soon after a second Ctrl-C. */
static void finish_debuginfo(struct session *s, const volatile sig_atomic_t *stop, int requests,
			     void (*tick)(void *ctx, const struct session_status *st), void *ctx)
{
	uint64_t deadline = clock_now_ns() + DEBUGINFO_NS;
	unsigned timed_out;

	while (debuginfo__wait(s->debuginfo, WAIT_MS) && *stop <= requests &&
	       clock_now_ns() < deadline) {
		struct session_status st = session__status(s);

		st.stopping = true;
		if (tick)
			tick(ctx, &st);
	}
	debuginfo__finish(s->debuginfo, clock_now_ns());
	timed_out = debuginfo__timed_out(s->debuginfo);
	if (timed_out)
		loss__add(s->loss, "file access", "a file with symbols timed out", timed_out);
}

/* Duration of each part of the end, for --verbose. */
struct split {
	uint64_t from_ns;
	char text[128];
	size_t len;
};

static void part_ends(struct split *sp, const char *name)
{
	uint64_t now = clock_now_ns();

	if (sp->len < sizeof(sp->text))
		sp->len += snprintf(sp->text + sp->len, sizeof(sp->text) - sp->len, "%s%s %.0f ms",
				    sp->len ? ", " : "", name, (now - sp->from_ns) / 1e6);
	sp->from_ns = now;
}

int session__finish(struct session *s, const volatile sig_atomic_t *stop,
		    void (*tick)(void *ctx, const struct session_status *st), void *ctx)
{
	struct split split = {.from_ns = clock_now_ns()};
	int requests = *stop ? 1 : 0; /* another one, even immediately, is the second */
	int err;

	priority_lower(0);
	obz_writer__hurry(s->writer);
	stop_probes(s);
	part_ends(&split, "last programs");
	for (int i = 0; i < 2; i++) /* a mapping older than the last sample may have been read after
				     * it */
		drain(s);
	intake__finish(s->intake);
	tracker__finish(s->tracker);
	part_ends(&split, "draining");
	finish_debuginfo(s, stop, requests, tick, ctx);
	part_ends(&split, "symbols");
	if (s->stats_fd >= 0)
		program_cost_write(s->skel->obj, s->writer, clock_now_ns());
	packer__free(s->packer);
	s->packer = NULL;
	err = flush(s, clock_now_ns(), true);
	syncer__free(s->syncer);
	s->syncer = NULL;
	part_ends(&split, "writing");
	message_verbose("stopping: %s", split.text);
	return err;
}
