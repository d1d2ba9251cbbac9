/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles side-band records in time order. A record older than the state read from /proc is
 * skipped: a mapping if older than the last read of the mappings (maps_as_of_ns), any other record
 * if older than known_ns.
 *
 * An exec appears as COMM with the exec flag, then MMAP2 of the program, the loader and [vdso],
 * then what the loader maps. munmap is not reported (scan_ended_maps()). A process ends when its
 * last thread exits, which need not be the leader: after the leader's exit record /proc is checked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/host/procfs.h"
#include "format/clock.h"
#include "record/process/process_tracker.h"

#define DYING_CHECK_NS 2000000ULL

/* ---- mappings ---- */

/*
 * A process may be gone when its first sample is handled. It is therefore described as soon as its
 * arguments are set up: after [vdso] is mapped, at the latest when the loader maps the first
 * library. The rate is limited.
 */
static void describe_early(struct tracker *t, struct process *p, struct span name)
{
	bool vdso = name.len == 6 && !memcmp(name.p, "[vdso]", 6);

	if (p->identity.cmdline || p->described || !t->describe_budget || (!vdso && p->maps.cnt < 4))
		return;
	t->describe_budget--;
	table_publish(t); /* it is already sampled, and reading /proc takes time */
	tracker_describe(t, p);
}

static void on_mmap(struct tracker *t, const struct sideband_record *r)
{
	struct process *p = table_live(t, r->pid);
	struct mapped m = {
		.pid = r->pid,
		.start = r->start,
		.end = r->end,
		.offset = r->offset,
		.inode = r->inode,
		.generation = r->generation,
		.ts_ns = r->ts_ns,
		.generation_known = true,
		.major = r->major,
		.minor = r->minor,
		.path = r->name,
	};

	if (!p && t->opts.target.all)
		p = scan_adopt(t, r->pid, true);
	if (!p || r->ts_ns < p->maps_as_of_ns)
		return;
	t->relevant = true;
	/* The first file after an exec is the program. */
	if (!p->identity.exe && r->inode)
		p->identity.exe = strndup(r->name.p, r->name.len);
	tracker_map(t, p, &m, r->ts_ns);
	describe_early(t, p, r->name);
}

/* ---- fork ---- */

static void on_fork(struct tracker *t, const struct sideband_record *r)
{
	struct process *parent = table_live(t, r->ppid), *old = table_live(t, r->pid), *p;
	bool match;

	if (r->pid == r->ppid) {
		if (parent && r->ts_ns >= parent->known_ns)
			parent->live += parent->live != 0;
		if (parent)
			table_thread_started(t, parent, r->tid, r->ts_ns);
		return;
	}
	if (old && old->known_ns > r->ts_ns)
		return;
	if (old) /* its exit record was lost */
		table_end(t, old, r->ts_ns, false);
	if (!parent) {
		if (t->opts.target.all)
			scan_adopt(t, r->pid, true);
		return;
	}
	match = parent->by_match &&
		!t->opts.target.pid_cnt; /* its name and cgroup are those of the parent */
	if (!parent->target || !(t->opts.target.inherit || match))
		return;
	t->relevant = true;
	p = table_add(t, r->pid, r->ppid, r->ts_ns);
	if (!p)
		return;
	p->known_ns = p->maps_as_of_ns = r->ts_ns;
	p->live = 1;
	p->by_match = match;
	process_inherit(p, parent);
	if (maps_copy(&p->maps, &parent->maps))
		tracker_lose(t, "target", "no memory for a child's mappings", 1);
	p->maps_read = parent->maps_read;
	p->jit = parent->jit;
	p->unwritten = true;
	table_set_target(t, p, true);
}

/* ---- exec and names ---- */

static void forget_image(struct identity *id)
{
	free(id->exe);
	free(id->cmdline);
	id->exe = id->cmdline = NULL;
	while (id->label_cnt)
		free(id->labels[--id->label_cnt]);
}

static void on_exec(struct tracker *t, const struct sideband_record *r, const char *comm)
{
	struct process *old = table_live(t, r->pid), *p;
	bool match, target;

	if (old && old->known_ns > r->ts_ns)
		return;
	/* A pid given by the user means the process that had it at the start, not a later one with
	 * the same pid. */
	match = t->opts.target.pid_cnt ? old && old->by_match
				       : target__wants(t->target, r->pid, comm);
	target = match || (old && old->target && t->opts.target.inherit);
	if (!old && !target)
		return;
	t->relevant = true;
	if (old)
		table_end(t, old, r->ts_ns, target);
	if (!target)
		return;
	p = table_add(t, r->pid, old ? old->ppid : 0, r->ts_ns);
	if (!p)
		return;
	if (old) {
		process_inherit(p, old);
		forget_image(&p->identity);
	} else {
		struct procfs_stat st;

		if (procfs_stat(t->proc, r->pid, &st) == 0)
			p->ppid = st.ppid;
	}
	p->by_match = match;
	p->known_ns = p->maps_as_of_ns = r->ts_ns;
	p->live = 1; /* the other threads exited before exec completed */
	identity_set_comm(&p->identity, r->name);
	table_set_target(t, p, true);
}

static void on_comm(struct tracker *t, const struct sideband_record *r)
{
	char comm[64];
	struct process *p;
	size_t n = r->name.len < sizeof(comm) ? r->name.len : sizeof(comm) - 1;

	memcpy(comm, r->name.p, n);
	comm[n] = 0;
	if (r->exec) {
		on_exec(t, r, comm);
		return;
	}
	if (r->pid != r->tid)
		return;
	p = table_live(t, r->pid);
	if (p && p->known_ns <= r->ts_ns)
		identity_set_comm(&p->identity, r->name);
	if (!p && target__by_comm(t->target) && target__wants(t->target, r->pid, comm))
		scan_adopt(t, r->pid, true);
}

/* ---- exit ---- */

static void on_exit_record(struct tracker *t, const struct sideband_record *r)
{
	struct process *p = table_live(t, r->pid);

	table_thread_ended(t, r->tid, r->ts_ns);
	if (!p || r->ts_ns < p->known_ns)
		return;
	t->relevant = true;
	p->last_exit_ns = r->ts_ns;
	if (p->live && !--p->live) {
		table_end(t, p, r->ts_ns, false);
		return;
	}
	if (r->tid != r->pid || p->dying)
		return;
	if (t->dying_cnt == t->dying_cap) {
		size_t cap = t->dying_cap ? t->dying_cap * 2 : 64;
		uint32_t *v = realloc(t->dying, cap * sizeof(*v));

		if (!v)
			return;
		t->dying = v;
		t->dying_cap = cap;
	}
	p->dying = true;
	t->dying[t->dying_cnt++] = p->tgid;
}

void tracker_check_dying(struct tracker *t, bool at_once)
{
	uint64_t now = clock_now_ns();
	size_t left = 0;

	for (size_t i = 0; i < t->dying_cnt; i++) {
		struct process *p = table_live(t, t->dying[i]);

		if (!p || !p->dying)
			continue;
		if ((at_once || now - p->last_exit_ns >= DYING_CHECK_NS) &&
		    procfs_gone(t->proc, p->tgid))
			table_end(t, p, p->last_exit_ns, false);
		else
			t->dying[left++] = p->tgid;
	}
	t->dying_cnt = left;
}

void tracker_handle(struct tracker *t, const struct sideband_record *r)
{
	switch (r->type) {
	case SIDEBAND_MMAP:
		on_mmap(t, r);
		break;
	case SIDEBAND_COMM:
		on_comm(t, r);
		break;
	case SIDEBAND_FORK:
		on_fork(t, r);
		break;
	case SIDEBAND_EXIT:
		on_exit_record(t, r);
		break;
	}
}
