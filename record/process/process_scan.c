/* SPDX-License-Identifier: BSD-2-Clause */
/* Adopts running processes. The side-band is opened first, so changes during a scan are queued.
 * known_ns and maps_as_of_ns of a process tell which queued records its scan already covers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/host/procfs.h"
#include "record/process/process_tracker.h"
#include "record/reader/reader_process.h"

static uint64_t start_time(const struct tracker *t, const struct procfs_stat *st)
{
	static long hz;
	int64_t ns;

	if (!hz)
		hz = sysconf(_SC_CLK_TCK);
	ns = (int64_t)(st->start_ticks * (1000000000 / hz)) - t->boot_offset_ns;
	return ns > 0 ? ns : 1;
}

/* Returns true for obrec's other processes. */
static bool is_own(const struct tracker *t, uint32_t tgid, uint32_t ppid)
{
	uint32_t nursery = nursery__pid(t->opts.nursery);

	return tgid == nursery || ppid == nursery || tgid == t->opts.uprobes_pid;
}

/* Adds a running process from /proc; NULL: it is gone, or obrec's. */
static struct process *add_running(struct tracker *t, uint32_t tgid, bool *is_kernel)
{
	uint64_t now = clock_now_ns(); /* later events have a side-band record */
	struct procfs_stat st;
	struct process *p;

	if (tgid == t->self || procfs_stat(t->proc, tgid, &st) || st.state == 'Z' ||
	    st.state == 'X' || is_own(t, tgid, st.ppid))
		return NULL;
	p = table_add(t, tgid, st.ppid, start_time(t, &st));
	if (!p)
		return NULL;
	identity_set_comm(&p->identity, span_of(st.comm));
	p->known_ns = p->maps_as_of_ns = now;
	*is_kernel = st.flags & PROCFS_PF_KTHREAD;
	return p;
}

struct process *scan_adopt(struct tracker *t, uint32_t tgid, bool match)
{
	struct process *p = table_live(t, tgid);
	bool is_kernel;
	int err;

	if (p)
		return p;
	p = add_running(t, tgid, &is_kernel);
	if (!p)
		return NULL;
	p->by_match = match;
	table_set_target(t, p, true);
	if (is_kernel)
		return p;
	err = tracker_read_maps(t, p, true);
	p->unreadable = err == -EACCES || err == -EPERM;
	if (p->unreadable)
		tracker_lose(t, "target", "mappings not readable (CAP_SYS_PTRACE)", 1);
	/* A target may exit before its first sample is handled, so it is described at once. For a
	 * whole system it is done at the first sample. */
	if (!t->opts.target.all)
		tracker_describe(t, p);
	return p;
}

struct process *scan_bystander(struct tracker *t, uint32_t tgid)
{
	bool is_kernel;
	struct process *p = table_live(t, tgid) ?: add_running(t, tgid, &is_kernel);

	if (p)
		tracker_describe(t, p);
	return p;
}

void tracker__breathe(void *tracker)
{
	struct tracker *t = tracker;

	if (t->sideband)
		sideband__read(t->sideband);
}

int scan_adopt_wanted(void *ctx, uint32_t pid)
{
	struct tracker *t = ctx;
	uint32_t tgid = pid, ns_pid;
	struct procfs_stat st;
	bool by_comm = target__by_comm(t->target);

	if (table_live(t, pid))
		return 0;
	/* A v1 cgroup.procs should only list processes; check again. */
	if (target__by_cgroup(t->target) &&
	    (procfs_status(t->proc, pid, &tgid, &ns_pid) || tgid != pid))
		return 0;
	if (by_comm && procfs_stat(t->proc, pid, &st))
		return 0;
	if (target__wants(t->target, pid, by_comm ? st.comm : NULL))
		scan_adopt(t, pid, true);
	tracker__breathe(t);
	return 0;
}

/* The processes given by -p must be readable: report an error instead of recording nothing. */
static int check_readable(struct tracker *t)
{
	for (size_t i = 0; i < t->opts.target.pid_cnt; i++) {
		uint32_t pid = t->opts.target.pids[i];
		const struct process *p = table_live(t, pid);

		if (!p && procfs_gone(t->proc, pid)) {
			message_error("no such process: %u (it ended just now)", pid);
			return -ESRCH;
		}
		if (!p) {
			message_error("cannot read /proc/%u", pid);
			return -EIO;
		}
		if (p->unreadable) {
			message_error(
				"cannot read the mappings of process %u: needs CAP_SYS_PTRACE",
				pid);
			return -EPERM;
		}
	}
	return 0;
}

int scan_targets(struct tracker *t)
{
	int err = 0;

	if (target__by_cgroup(t->target))
		tracker_read_members(t, true);
	else
		err = target__scan(t->target, scan_adopt_wanted, t);
	return err ? err : check_readable(t);
}

/* ---- repeated reads ---- */

static void read_maps_again(struct tracker *t, struct process *p)
{
	uint64_t as_of_ns = p->maps_as_of_ns;
	struct maps before = p->maps;

	p->maps = (struct maps){0};
	/* The process or its leader has exited, or permission is missing: keep the old mappings. */
	if (tracker_read_maps(t, p, false) || !p->maps.cnt) {
		maps_fini(&p->maps);
		p->maps = before;
		p->maps_read = before.cnt;
		p->maps_as_of_ns = as_of_ns;
		return;
	}
	maps_fini(&before);
	table_mark_dirty(t, p);
}

/* Number of additional mappings that justifies another read. */
enum { MAPS_MORE = 64 };

static void forget_ended_maps(struct tracker *t, struct process *p)
{
	if (p->id)
		process_write_mappings(t->opts.writer, p, false);
	read_maps_again(t, p);
}

void scan_full_maps(struct tracker *t)
{
	for (struct process *p = t->dirty; p; p = p->next_dirty)
		if (p->target && !p->ended_ns && p->maps.cnt >= RANGE_SEG_CNT &&
		    p->maps.cnt >= p->maps_read + MAPS_MORE)
			forget_ended_maps(t, p);
}

void scan_ended_maps(struct tracker *t)
{
	struct process *p;

	for (size_t i = 0; (p = idmap_next(&t->processes, &i));) {
		if (p->ended_ns || !p->target || p->maps.cnt < 2 * p->maps_read + MAPS_MORE)
			continue;
		forget_ended_maps(t, p);
		tracker__breathe(t);
	}
}

/* ---- after a loss ---- */

static void refresh(struct tracker *t, struct process *p)
{
	if (procfs_gone(t->proc, p->tgid)) {
		table_end(t, p, clock_now_ns(), false);
		return;
	}
	p->live = 0;
	read_maps_again(t, p);
}

/* Adopts a child whose fork record was lost. */
static int adopt_child(void *ctx, uint32_t pid)
{
	struct tracker *t = ctx;
	struct process *parent;
	struct procfs_stat st;

	if (table_live(t, pid) || procfs_stat(t->proc, pid, &st))
		return 0;
	parent = table_live(t, st.ppid);
	if (parent && parent->target && start_time(t, &st) > parent->started_ns)
		scan_adopt(t, pid, false);
	tracker__breathe(t);
	return 0;
}

void scan_again(struct tracker *t)
{
	struct process *p;
	size_t known;

	for (size_t i = 0; (p = idmap_next(&t->processes, &i));) {
		if (!p->ended_ns && p->target)
			refresh(t, p);
		tracker__breathe(t);
	}
	if (target__by_cgroup(t->target))
		tracker_read_members(t, true);
	else if (!t->opts.target.pid_cnt)
		target__scan(t->target, scan_adopt_wanted, t);
	if (!t->opts.target.inherit || t->opts.target.all)
		return;
	do { /* children of children */
		known = t->processes.cnt;
		procfs_each_id(t->proc, ".", adopt_child, t);
	} while (t->processes.cnt != known);
}
