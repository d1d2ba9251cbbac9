/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes and calls of every socket (bpf/net/net.bpf.c), attached in one of four ways. It owns the
 * traffic of the session; l7 adds payload to it.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/text.h"
#include "record/traffic/datagrams.h"
#include "record/probe/probe.h"
#include "record/binary/read_file.h"
#include "record/process/process.h"
#include "record/host/procfs.h"
#include "record/host/rdonly_cast.h"
#include "record/traffic/traffic_intake.h"
#include "obrec.skel.h"

struct l4 {
	struct traffic *traffic;
};

/* Some 10 MB, for kernels where the maps cannot grow. */
enum { SOCKS_PREALLOCATED = 32768, OTHERS_PREALLOCATED = 4096 };

/*
 * Tracepoints before the exits of system calls: these do not see io_uring, and run for every call.
 * Exits before the entries of functions, which know only what a call is asked to move.
 */
enum { BY_TRACEPOINT, BY_SYSCALL, BY_FENTRY, BY_KPROBE };

/*
 * The kernel's functions, with the programs net_fentry_NAME and net_kprobe_NAME. Called with the
 * socket's lock held, so that sequence numbers stand still: not tcp_sendmsg, nor tcp_recvmsg.
 */
static const struct entry {
	const char *name, *func;
	const char *instead; /* where there is none */
	bool may_lack;
} entries[] = {
	{"tcp_send", "tcp_sendmsg_locked", NULL, false},
	/* gone in 6.5, dc97391e6610 ("sock: Remove ->sendpage*() in favour of sendmsg(...)") */
	{"tcp_sendpage", "do_tcp_sendpages", NULL, true},
	/* 6.2: the inner one is there for callers without ->recvmsg */
	{"tcp_receive", "__tcp_cleanup_rbuf", "tcp_cleanup_rbuf", false},
	{"udp_send", "udp_sendmsg", NULL, false},
	{"udp6_send", "udpv6_sendmsg", NULL, true},
	{"udp_receive", "skb_consume_udp", NULL, false},
};

static bool has_exits(const struct features *f)
{
	return features_has_tracepoint(f, "raw_syscalls", "sys_exit");
}

static bool by_tracepoint(const struct features *f, char *why, size_t why_sz)
{
	if (features_has_tracepoint(f, "sock", "sock_send_length"))
		return true;
	snprintf(why, why_sz, "no tracepoint sock:sock_send_length (added in Linux 6.3)");
	return false;
}

static bool by_syscall(const struct features *f, char *why, size_t why_sz)
{
	if (has_exits(f))
		return true;
	snprintf(why, why_sz,
		 "no tracepoint raw_syscalls:sys_exit (CONFIG_FTRACE_SYSCALLS, or tracefs is not "
		 "mounted on /sys/kernel/tracing)");
	return false;
}

static bool by_fentry(const struct features *f, char *why, size_t why_sz)
{
	return features_try_fentry(f, entries[0].func, why, why_sz);
}

static bool by_kprobe(const struct features *f, char *why, size_t why_sz)
{
	return features_try_kprobe(entries[0].func, why, why_sz);
}

static const struct variant variants[] = {
	[BY_TRACEPOINT] = {"tracepoint", "raw_tp/sock_send_length and sock_recv_length",
			   by_tracepoint},
	[BY_SYSCALL] = {"syscall", "raw_tp/sys_exit, run at every system call exit", by_syscall},
	[BY_FENTRY] = {"fentry", "fentry on TCP and UDP functions", by_fentry},
	[BY_KPROBE] = {"kprobe", "kprobes on TCP and UDP functions", by_kprobe},
	{0},
};

static struct l4 *state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_l4_entry);
}

static unsigned variant(const struct probe_env *env)
{
	return probe_env__variant(env, &probe_l4_entry);
}

static struct bpf_program *entry_program(struct probe_env *env, const struct entry *e)
{
	char name[64];

	snprintf(name, sizeof(name), "net_%s_%s", variants[variant(env)].name, e->name);
	return bpf_object__find_program_by_name(env->skel->obj, name);
}

/* The function that is there, NULL for none. */
static const char *entry_function(const struct features *f, const struct entry *e)
{
	if (features_has_function(f, e->func))
		return e->func;
	return e->instead && features_has_function(f, e->instead) ? e->instead : NULL;
}

static int prepare_entries(struct probe_env *env)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]) && !err; i++) {
		const char *func = entry_function(env->features, &entries[i]);
		struct bpf_program *prog = entry_program(env, &entries[i]);

		if (!func && entries[i].may_lack)
			continue;
		if (!func) {
			message_error("probe 'l4' cannot be attached by %s: the kernel has no "
				      "function %s",
				      variants[variant(env)].name, entries[i].func);
			return -EOPNOTSUPP;
		}
		bpf_program__set_autoload(prog, true);
		if (variant(env) == BY_FENTRY)
			err = bpf_program__set_attach_target(prog, 0, func);
	}
	return err;
}

static struct bpf_program *exits_of(const struct probe_env *env)
{
	return env->features->atomic_fetch ? env->skel->progs.net_sys_exit
					   : env->skel->progs.net_sys_exit_5_10;
}

/* The programs that dereference what the kernel hands them, or those that have it read. */
static int prepare_sock(struct probe_env *env)
{
	const struct features *f = env->features;
	struct bpf_program *const progs[][2] = {
		{env->skel->progs.net_sock_send_raw, env->skel->progs.net_sock_send},
		{env->skel->progs.net_sock_recv_raw, env->skel->progs.net_sock_recv},
		{env->skel->progs.net_sock_splice_raw, env->skel->progs.net_sock_splice},
	};
	bool typed = f->task_pt_regs && f->rdonly_cast;
	int err = 0;

	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]) && !err; i++) {
		err = bpf_program__set_autoload(progs[i][typed], true);
		if (!err && typed)
			err = rdonly_cast_put(progs[i][typed], f->rdonly_cast);
	}
	return err;
}

static int prepare(struct probe_env *env)
{
	static const enum net_by by[] = {
		[BY_TRACEPOINT] = NET_BY_SOCK,
		[BY_SYSCALL] = NET_BY_EXIT,
		[BY_FENTRY] = NET_BY_ENTRY,
		[BY_KPROBE] = NET_BY_ENTRY,
	};
	const struct features *f = env->features;
	struct obrec_bpf *skel = env->skel;
	bool sock = variant(env) == BY_TRACEPOINT;
	int err = 0;

	bpf_program__set_autoload(exits_of(env), has_exits(f));
	bpf_program__set_autoload(skel->progs.net_tcp_state, true);
	bpf_program__set_autoload(skel->progs.net_tcp_state_missed, true);
	bpf_program__set_autoload(skel->progs.net_gone, true);
	skel->bss->net_splice_state = sock ? NET_DEMAND_OFF : NET_DEMAND_ON;
	skel->rodata->net_by = by[variant(env)];
	skel->rodata->net_exits = has_exits(f);
	skel->rodata->net_cpus = f->cpus;
	if (!f->map_alloc) {
		bpf_map__set_map_flags(skel->maps.net_socks, 0);
		bpf_map__set_max_entries(skel->maps.net_socks, SOCKS_PREALLOCATED);
		bpf_map__set_map_flags(skel->maps.net_others, 0);
		bpf_map__set_max_entries(skel->maps.net_others, OTHERS_PREALLOCATED);
	}
	if (sock)
		err = prepare_sock(env);
	else if (by[variant(env)] == NET_BY_ENTRY)
		err = prepare_entries(env);
	if (err)
		return err;
	return bpf_map__set_max_entries(skel->maps.net_scratch, f->cpus);
}

/* Takes the link over; `where` it is. */
static int keep(struct probe_env *env, struct bpf_link *link, const char *where)
{
	int err = links__keep(&env->links, link);

	if (err)
		message_error("cannot attach '%s': %s", where, strerror(-err));
	return err;
}

static int attach_entries(struct probe_env *env)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]) && !err; i++) {
		struct bpf_program *prog = entry_program(env, &entries[i]);
		const char *func = entry_function(env->features, &entries[i]);

		if (!bpf_program__autoload(prog))
			continue;
		err = keep(env,
			   variant(env) == BY_FENTRY
				   ? bpf_program__attach_trace(prog)
				   : bpf_program__attach_kprobe(prog, false, func),
			   func);
	}
	return err;
}

/* Without them datagrams are counted as of unknown senders; functions need them for Unix sockets.
 */
static int attach_exits(struct probe_env *env)
{
	struct bpf_program *prog = exits_of(env);
	int err = -ENOENT;

	if (bpf_program__autoload(prog))
		err = keep(env, bpf_program__attach(prog), bpf_program__name(prog));
	env->skel->bss->net_exits_state = err ? NET_DEMAND_NONE : NET_DEMAND_ON;
	return err == -ENOENT ? 0 : err;
}

/* It makes what any process receives by TCP dearer, by some 40 ns a call: attached on demand. */
static int attach_splice(struct probe_env *env)
{
	struct bpf_program *prog = bpf_program__autoload(env->skel->progs.net_sock_splice)
					   ? env->skel->progs.net_sock_splice
					   : env->skel->progs.net_sock_splice_raw;
	int err = keep(env, bpf_program__attach(prog), bpf_program__name(prog));

	env->skel->bss->net_splice_state = err ? NET_DEMAND_NONE : NET_DEMAND_ON;
	return err;
}

/* Who may splice by the looks of its symbols; who does so in another way the kernel side finds out.
 */
static bool file(struct probe_env *env, const struct file_facts *facts, int fd,
		 const struct stat *st, const char *path)
{
	if (env->skel->bss->net_splice_state == NET_DEMAND_OFF && facts->may_splice) {
		message_verbose("%s: may splice from sockets", path);
		env->skel->bss->net_splice_state = NET_DEMAND_WANTED;
	}
	return false;
}

static int receives_datagrams(void *ctx, uint32_t tgid, uint32_t tid)
{
	return tgid == tid && datagrams_received(ctx, tgid);
}

/* Has a target a socket whose datagrams, wanted by l7, may come from anyone? A command gets it
 * before obrec hears of it. */
static bool datagrams_come(struct probe_env *env)
{
	struct datagrams d = {0};
	bool any;

	if (!env->skel->rodata->net_payload_on || env->opts->command_pid)
		return env->skel->rodata->net_payload_on;
	d.proc = procfs_open(NULL);
	if (d.proc < 0)
		return false;
	any = tracker__each_thread(env->tracker, receives_datagrams, &d) == 1;
	datagrams_fini(&d);
	close(d.proc);
	return any;
}

static int attach_all(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	struct bpf_program *const progs[] = {
		skel->progs.net_sock_send,     skel->progs.net_sock_recv,
		skel->progs.net_sock_send_raw, skel->progs.net_sock_recv_raw,
		skel->progs.net_tcp_state,     skel->progs.net_tcp_state_missed};
	int err = 0;

	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]) && !err; i++)
		if (bpf_program__autoload(progs[i]))
			err = keep(env, bpf_program__attach(progs[i]), bpf_program__name(progs[i]));
	if (!err && (variant(env) == BY_FENTRY || variant(env) == BY_KPROBE))
		err = attach_entries(env);
	if (!err && (variant(env) != BY_TRACEPOINT || datagrams_come(env)))
		err = attach_exits(env);
	if (!err && skel->bss->net_splice_state == NET_DEMAND_WANTED)
		err = attach_splice(env);
	return err;
}

static int attach(struct probe_env *env)
{
	struct traffic_opts opts = {
		.writer = env->writer,
		.tracker = env->tracker,
		.loss = env->loss,
		.socks_fd = bpf_map__fd(env->skel->maps.net_socks),
		.others_fd = bpf_map__fd(env->skel->maps.net_others),
		.gone_fd = bpf_program__fd(env->skel->progs.net_gone),
		.redact = env->opts->redact,
		.redact_sql = env->opts->redact_sql,
		.keep_unnamed = env->opts->keep_unnamed,
		.tls = env->skel->rodata->net_tls,
	};
	int err = traffic__new(&state(env)->traffic, &opts);

	if (err)
		message_error("cannot record traffic: %s", strerror(-err));
	return err ? err : attach_all(env);
}

static bool record(struct probe_env *env, const struct wire_hdr *hdr)
{
	if (hdr->kind == WIRE_SOCK && hdr->size == sizeof(struct wire_sock)) {
		traffic__sock(state(env)->traffic, (const void *)hdr);
		return true;
	}
	if (hdr->kind == WIRE_PAYLOAD && hdr->size >= sizeof(struct wire_payload)) {
		struct wire_payload *p = (void *)hdr;

		if (p->kept > hdr->size - sizeof(*p))
			return false;
		traffic__payload(state(env)->traffic, p);
		return true;
	}
	return false;
}

/* Where the exits cannot be had, each datagram stays counted as one of an unknown sender. */
static void drained(struct probe_env *env)
{
	traffic__drained(state(env)->traffic);
	if (env->skel->bss->net_exits_state == NET_DEMAND_WANTED && !env->links.closed)
		attach_exits(env);
	if (env->skel->bss->net_splice_state == NET_DEMAND_WANTED && !env->links.closed)
		attach_splice(env);
}

static int tick(struct probe_env *env, uint64_t now_ns, bool last)
{
	return traffic__poll(state(env)->traffic, now_ns, last);
}

static void reanchor(struct probe_env *env)
{
	traffic__reanchor(state(env)->traffic);
}

/* Calls whose payload was left out, as no protocol could be named for it. */
static void conclude(const struct probe_env *env, struct json_object *end)
{
	struct traffic_counts counts = traffic__counts(state(env)->traffic);
	struct json_object *o;

	if (!counts.unnamed)
		return;
	o = json_object_new_object();
	json_object_object_add(o, "calls", json_object_new_uint64(counts.unnamed));
	json_object_object_add(o, "bytes", json_object_new_uint64(counts.unnamed_bytes));
	json_object_object_add(end, "payload_unnamed", o);
}

static void free_traffic(struct probe_env *env)
{
	if (state(env))
		traffic__free(state(env)->traffic);
}

const struct probe probe_l4_entry = {
	.name = "l4",
	.variants = variants,
	.state_sz = sizeof(struct l4),
	.prepare = prepare,
	.attach = attach,
	.facts = FILE_FACT_SPLICE,
	.file = file,
	.record = record,
	.drained = drained,
	.tick = tick,
	.reanchor = reanchor,
	.conclude = conclude,
	.free = free_traffic,
};
