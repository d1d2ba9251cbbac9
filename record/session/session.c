/* SPDX-License-Identifier: BSD-2-Clause */
/* Creation and end of a session: its parts are created in order of dependency and freed in reverse
 * order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/host/memory.h"
#include "record/host/priority.h"
#include "record/host/privilege.h"
#include "record/host/uprobes.h"
#include "record/session/session_impl.h"

#define SYNC_PERIOD_NS (3 * SEC_NS)

enum { UPROBES_END_MS = 1500 };

/* Before 5.11 maps count against RLIMIT_MEMLOCK. If it cannot be raised, either it does not matter
 * or loading reports it. */
static void raise_memlock(void)
{
	struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

static int attach_core(struct session *s)
{
	int err = links__keep(&s->env.links, bpf_program__attach(s->skel->progs.core_fork));

	if (!err)
		err = links__keep(&s->env.links, bpf_program__attach(s->skel->progs.core_exec));
	if (err)
		message_error("cannot follow fork and exec: %s", strerror(-err));
	return err;
}

static int make_store(struct session *s)
{
	struct unwind_maps maps = {
		.procs = bpf_map__fd(s->skel->maps.procs),
		.range_segs = bpf_map__fd(s->skel->maps.range_segs),
		.row_segs = bpf_map__fd(s->skel->maps.row_segs),
		.pages = bpf_map__fd(s->skel->maps.unwind_pages),
		.rules = bpf_map__fd(s->skel->maps.unwind_rules),
		.target_slots = s->skel->bss->target_slots,
		.target_procs = (void *)s->skel->bss->target_procs,
	};
	int err;

	/* Recording all, a process without an entry is a target. */
	for (size_t i = 0; probes[i] && !s->opts.target.all; i++)
		maps.linger |= session_wants(s, i) && probes[i]->ends;
	err = unwind_store__new(&s->store, &maps, s->opts.max_mem / 2);

	s->env.store = s->store;
	return err;
}

static int make_symbols(struct session *s)
{
	struct debuginfo_opts opts = s->opts.debuginfo;
	int err;

	opts.writer = s->writer;
	opts.nursery = s->nursery;
	if (s->opts.bound_mem)
		opts.mem_max = memory_reserve(s->opts.max_mem);
	err = kallsyms__new(&s->kallsyms, s->writer);
	if (err) /* already reported */
		s->kallsyms = NULL;
	s->env.kallsyms = s->kallsyms;
	return debuginfo__new(&s->debuginfo, &opts);
}

static bool on_file(void *ctx, const struct file_facts *facts, int fd, const struct stat *st,
		    const char *path)
{
	struct session *s = ctx;
	bool awaited = false;

	if (s->env.links.closed) /* process events left over at the stop */
		return false;
	for (size_t i = 0; probes[i]; i++)
		if (session_wants(s, i) && probes[i]->file)
			awaited |= probes[i]->file(&s->env, facts, fd, st, path);
	return awaited;
}

static void on_file_gone(void *ctx, const struct stat *st)
{
	struct session *s = ctx;

	for (size_t i = 0; probes[i]; i++)
		if (session_wants(s, i) && probes[i]->file_gone)
			probes[i]->file_gone(&s->env, st);
}

/* An unwind table is smaller than its file. */
static uint64_t table_room(void *ctx, uint64_t file_sz)
{
	uint64_t left = session_memory_left(ctx);

	if (left >= file_sz)
		return left;
	memory_give_back();
	return session_memory_left(ctx);
}

static int make_tracker(struct session *s)
{
	struct tracker_opts opts = {
		.target = s->opts.target,
		.writer = s->writer,
		.nursery = s->nursery,
		.uprobes_pid = uprobes__pid(s->env.uprobes),
		.readers = s->readers,
		.store = s->store,
		.debuginfo = s->debuginfo,
		.epoll_fd = s->epoll_fd,
		.loss = loss__add,
		.loss_ctx = s->loss,
		.file = on_file,
		.file_gone = on_file_gone,
		.file_ctx = s,
		.room = table_room,
		.room_ctx = s,
	};

	/* A process selected by name or cgroup becomes a target only when its event is read. */
	opts.urgent = opts.target.comm || opts.target.cgroup;
	for (size_t i = 0; probes[i]; i++) {
		if (!session_wants(s, i))
			continue;
		opts.urgent |= probes[i]->urgent;
		opts.facts |= probes[i]->facts;
	}
	return tracker__new(&s->tracker, &opts);
}

static void on_stack(void *ctx, const struct wire_stack *stack)
{
	struct session *s = ctx;

	s->events++;
	intake__stack(s->intake, stack);
}

static void on_sample(void *ctx, const struct wire_sample *sample)
{
	struct session *s = ctx;

	s->events++;
	thin__record(s->thin, &sample->hdr);
	if (!intake__sample(s->intake, sample))
		loss__add(s->loss, "ring", "record not understood", 1);
}

static void on_other(void *ctx, const struct wire_hdr *hdr)
{
	struct session *s = ctx;

	s->events++;
	if (hdr->kind == WIRE_EVENT && intake__event(s->intake, hdr))
		return;
	thin__record(s->thin, hdr);
	for (size_t i = 0; probes[i]; i++)
		if (session_wants(s, i) && probes[i]->record && probes[i]->record(&s->env, hdr))
			return;
	loss__add(s->loss, "ring", "record not understood", 1);
}

static void on_bad(void *ctx)
{
	struct session *s = ctx;

	loss__add(s->loss, "ring", "record not understood", 1);
}

static int make_intake(struct session *s)
{
	const struct ring_handler handler = {on_stack, on_sample, on_other, on_bad, s};
	const struct intake_opts opts = {
		.writer = s->writer,
		.tracker = s->tracker,
		.kallsyms = s->kallsyms,
		.loss = s->loss,
		.interval_ns = s->opts.interval_ns,
	};
	int err = intake__new(&s->intake, &opts);

	if (!err)
		err = ring__new(&s->ring, bpf_map__fd(s->skel->maps.rings), s->plan.features.cpus,
				s->opts.ring_sz, &handler);
	if (!err && s->payload_ring_sz)
		err = ring__add_payload(s->ring, bpf_map__fd(s->skel->maps.net_scratch),
					bpf_map__max_entries(s->skel->maps.net_scratch),
					s->payload_ring_sz);
	if (err)
		return err;
	s->env.intake = s->intake;
	return ring__watch(s->ring, s->epoll_fd);
}

static int watch_command(struct session *s)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &s->command_fd};

	if (!s->opts.command_pid)
		return 0;
	s->command_fd = syscall(SYS_pidfd_open, s->opts.command_pid, 0);
	if (s->command_fd < 0)
		return -errno;
	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->command_fd, &ev) ? -errno : 0;
}

static int cannot_set_up(int err)
{
	if (err)
		message_error("cannot set up the capture: %s", strerror(-err));
	return err;
}

/* Creates everything between the loaded programs and the attached probes. */
static int make_parts(struct session *s)
{
	int err;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = s->epoll_fd < 0 ? -errno : readers__new(&s->readers, s->nursery);
	if (!err)
		err = make_store(s);
	if (!err)
		err = make_symbols(s);
	if (!err)
		err = watch_command(s);
	if (!err)
		err = packer__new(&s->packer, s->writer);
	if (!err)
		err = syncer__new(&s->syncer, s->writer, SYNC_PERIOD_NS);
	if (!err)
		err = metrics__new(&s->metrics, &s->env);
	if (err)
		return cannot_set_up(err);
	err = make_tracker(s); /* reports its errors: no such process */
	s->env.tracker = s->tracker;
	uprobes__breathe(s->env.uprobes, tracker__breathe, s->tracker);
	s->env.readers = s->readers;
	return err ? err : cannot_set_up(make_intake(s));
}

/* Before processes are followed: attaching to a tracepoint may take seconds, as the kernel detaches
 * uprobes under the same lock (event_mutex). */
static int attach_hooks(struct session *s)
{
	int err = 0;

	for (size_t i = 0; probes[i] && !err; i++) {
		if (!session_wants(s, i))
			continue;
		message_status("attaching probe '%s'", probes[i]->name);
		err = hooks_attach(&s->env, i);
	}
	return err;
}

static int attach_probes(struct session *s)
{
	int err = 0;

	for (size_t i = 0; probes[i] && !err; i++) {
		if (!session_wants(s, i) || !probes[i]->attach)
			continue;
		message_status("attaching probe '%s'", probes[i]->name);
		err = probes[i]->attach(&s->env);
	}
	return err;
}

static void init(struct session *s, const struct record_opts *opts, struct obz_writer *writer,
		 struct nursery *nursery)
{
	s->opts = *opts;
	s->nursery = nursery;
	s->writer = writer;
	s->epoll_fd = s->command_fd = s->stats_fd = -1;
	s->command = opts->command_pid;
	if (s->command && !opts->target.all && !opts->target.pid_cnt && !opts->target.comm &&
	    !opts->target.cgroup) {
		s->opts.target.pids = &s->command;
		s->opts.target.pid_cnt = 1;
	}
	s->env.opts = &s->opts;
	s->env.writer = writer;
	s->env.plan = &s->plan;
	s->env.features = &s->plan.features;
}

/* Requires CAP_SYS_ADMIN. If another process has enabled the statistics, nothing needs to be
 * done. */
static void count_costs(struct session *s)
{
	s->stats_fd = program_cost_enable();
	if (s->stats_fd < 0 && !program_cost_counted())
		message_warn(
			"run times of BPF programs are not measured%s: %s (needs CAP_SYS_ADMIN, "
			"or sysctl kernel.bpf_stats_enabled at 1)",
			s->opts.budget_per_64k ? ", --cpu-budget covers only obrec's own CPU time"
					       : "",
			strerror(-s->stats_fd));
}

static void on_step(void *ctx, const struct lever *lever, unsigned level)
{
	struct session *s = ctx;

	if (lever == &thin_processes)
		tracker__wake_less(s->tracker, level);
	for (size_t i = 0; probes[i]; i++)
		if (probes[i]->lever == lever)
			probes[i]->thin(&s->env, level);
}

static int make_thin(struct session *s)
{
	const struct thin_opts opts = {
		.programs = s->skel->obj,
		.writer = s->writer,
		.packer = s->packer,
		.readers = s->readers,
		.budget_per_64k = s->opts.budget_per_64k,
		.stepped = on_step,
		.ctx = s,
	};
	int err = thin__new(&s->thin, &opts);

	for (size_t i = 0; probes[i] && !err; i++)
		if (session_wants(s, i) && probes[i]->lever)
			thin__add(s->thin, probes[i]->lever,
				  probes[i]->thinnable ? probes[i]->thinnable(&s->env) : 65536);
	if (!err)
		thin__add(s->thin, &thin_processes, 65536);
	return err;
}

static bool attaches_many(const struct probe *p, unsigned variant)
{
	return !p->variants || !(p->attaches_singly >> variant & 1);
}

/* While there is a single thread. */
static int make_uprobes(struct session *s)
{
	bool wanted = false, multi = s->plan.features.uprobe_multi;
	int err;

	for (size_t i = 0; probes[i]; i++)
		if (session_wants(s, i) && probes[i]->attaches_files) {
			wanted = true;
			multi &= attaches_many(probes[i], s->plan.variant[i]);
		}
	err = wanted ? uprobes__new(&s->env.uprobes, multi) : 0;
	if (err)
		message_error("cannot fork the process that attaches uprobes: %s", strerror(-err));
	return err;
}

int session__new(struct session **out, const struct record_opts *opts, struct obz_writer *writer,
		 struct nursery *nursery)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	init(s, opts, writer, nursery);
	raise_memlock();
	err = loss__new(&s->loss);
	s->env.loss = s->loss;
	message_status("loading BPF programs");
	if (!err)
		err = session_load(s);
	if (!err)
		err = make_uprobes(s);
	if (!err)
		privilege_warn(s->opts.target.pid_cnt);
	if (!err)
		err = make_parts(s);
	if (!err)
		err = attach_core(s);
	if (!err)
		err = attach_hooks(s);
	message_status("reading the running processes");
	if (!err)
		err = tracker__start(s->tracker);
	if (!err)
		err = attach_probes(s);
	if (!err && (s->opts.stats || s->opts.budget_per_64k))
		count_costs(s);
	if (!err && s->opts.budget_per_64k)
		err = cannot_set_up(make_thin(s));
	if (err)
		session__free(s);
	else
		*out = s;
	return err;
}

int session__start(struct session *s)
{
	int err = 0;

	priority_raise(0);
	uprobes__hurry(s->env.uprobes);
	s->started_ns = s->env.start_ns = clock_now_ns();
	session_miss_from_now(s);
	s->skel->bss->enabled = true;
	for (size_t i = 0; probes[i] && !err; i++)
		if (session_wants(s, i) && probes[i]->start)
			err = probes[i]->start(&s->env);
	return err;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void end_links(struct session *s)
{
	uint64_t from_ns = clock_now_ns();
	size_t cnt = s->env.links.cnt;

	links__fini(&s->env.links);
	if (!uprobes__free(s->env.uprobes, UPROBES_END_MS))
		message_warn("detaching uprobes continues in the background");
	if (cnt)
		message_verbose("stopping: detaching %zu BPF links took %.0f ms", cnt,
				(clock_now_ns() - from_ns) / 1e6);
}

void session__free(struct session *s)
{
	if (!s)
		return;
	packer__free(s->packer);
	syncer__free(s->syncer);
	readers__stop(s->readers); /* late answers are handled by probes */
	end_links(s);
	for (size_t i = 0; probes[i]; i++)
		if (probes[i]->free)
			probes[i]->free(&s->env);
	hooks_free(&s->env);
	metrics__free(s->metrics);
	ring__free(s->ring);
	intake__free(s->intake);
	if (s->tracker)
		tracker__free(s->tracker);
	readers__free(s->readers);
	if (s->debuginfo)
		debuginfo__free(s->debuginfo);
	if (s->kallsyms)
		kallsyms__free(s->kallsyms);
	if (s->store)
		unwind_store__free(s->store);
	thin__free(s->thin);
	loss__free(s->loss);
	if (s->skel)
		obrec_bpf__destroy(s->skel);
	close_fd(s->stats_fd);
	close_fd(s->command_fd);
	close_fd(s->epoll_fd);
	free(s);
}
