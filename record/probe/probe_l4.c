/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes and calls of every socket (bpf/net/net.bpf.c), attached in one of four variants. Owns the
 * session's traffic; l7 adds payload to it. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/text.h"
#include "record/traffic/datagrams.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"
#include "record/probe/probe_l4.h"
#include "record/binary/read_file.h"
#include "record/process/process.h"
#include "record/host/procfs.h"
#include "obrec.skel.h"

struct l4 {
	struct traffic *traffic;
};

/* About 10 MB, for kernels where the maps cannot grow. */
enum { SOCKS_PREALLOCATED = 32768, OTHERS_PREALLOCATED = 4096 };

/* Tracepoints are preferred to system call exits, which do not see io_uring and run for every call.
 * Exits are preferred to function entries, which see only the requested size of a call. */
enum { BY_TRACEPOINT, BY_SYSCALL, BY_FENTRY, BY_KPROBE };

#define SEND "sock:sock_send_length"
#define RECV "sock:sock_recv_length"
#define SPLICE "tcp:tcp_rcv_space_adjust"
#define STATE "sock:inet_sock_set_state"
#define EXITS "raw_syscalls:sys_exit"

/* Typed programs dereference kernel pointers directly; the others use helpers to read memory. */
static bool is_typed(const struct features *f)
{
	return f->task_pt_regs && features_kfunc(f, WIRE_RDONLY_CAST);
}

static bool is_raw(const struct features *f)
{
	return !is_typed(f);
}

static bool has_atomic_fetch(const struct features *f)
{
	return f->atomic_fetch;
}

static bool lacks_atomic_fetch(const struct features *f)
{
	return !f->atomic_fetch;
}

/* Without the exits, datagrams are counted for unknown senders. Function hooks need the exits for
 * Unix sockets. */
#define HOOKS_OF_ALL(need_exits)                                                                   \
	HOOK("net_sys_exit", EXITS, HOOK_RAW_TP, .need = need_exits, .later = true,                \
	     .when = has_atomic_fetch),                                                            \
		HOOK("net_sys_exit_5_10", EXITS, HOOK_RAW_TP, .need = need_exits, .later = true,   \
		     .when = lacks_atomic_fetch),                                                  \
		HOOK("net_tcp_state", STATE, HOOK_RAW_TP, .always = true),                         \
		HOOK("net_tcp_state_missed", STATE, HOOK_RAW_TP, .always = true),                  \
		HOOK("net_gone", "", HOOK_RUN)

/* The splice hook adds about 40 ns to each TCP receive of every process, so it is attached on
 * demand. */
static const struct hook by_tracepoint[] = {
	HOOK("net_sock_send", SEND, HOOK_TP_BTF, .when = is_typed, .since = "6.3"),
	HOOK("net_sock_send_raw", SEND, HOOK_RAW_TP, .when = is_raw, .since = "6.3"),
	HOOK("net_sock_recv", RECV, HOOK_TP_BTF, .when = is_typed, .since = "6.3"),
	HOOK("net_sock_recv_raw", RECV, HOOK_RAW_TP, .when = is_raw, .since = "6.3"),
	HOOK("net_sock_splice", SPLICE, HOOK_TP_BTF, .always = true, .later = true,
	     .when = is_typed),
	HOOK("net_sock_splice_raw", SPLICE, HOOK_RAW_TP, .always = true, .later = true,
	     .when = is_raw),
	HOOKS_OF_ALL(HOOK_OPTIONAL),
	{0},
};

static const struct hook by_syscall[] = {HOOKS_OF_ALL(HOOK_REQUIRED), {0}};

/*
 * Functions that run with the socket lock held, so that sequence numbers do not change; thus not
 * tcp_sendmsg or tcp_recvmsg.
 *
 * do_tcp_sendpages: removed in 6.5, dc97391e6610 ("sock: Remove ->sendpage*() in favour of
 * sendmsg(...)"). __tcp_cleanup_rbuf: 6.2; the inner one is hooked for callers without ->recvmsg.
 */
#define HOOKS_OF_FUNCTIONS(p, how)                                                                 \
	HOOK(p "tcp_send", "tcp_sendmsg_locked", how),                                             \
		HOOK(p "tcp_sendpage", "do_tcp_sendpages", how, .need = HOOK_OPTIONAL),            \
		HOOK(p "tcp_receive", "__tcp_cleanup_rbuf|tcp_cleanup_rbuf", how),                 \
		HOOK(p "udp_send", "udp_sendmsg", how),                                            \
		HOOK(p "udp6_send", "udpv6_sendmsg", how, .need = HOOK_OPTIONAL),                  \
		HOOK(p "udp_receive", "skb_consume_udp", how)

static const struct hook by_fentry[] = {
	HOOKS_OF_FUNCTIONS("net_fentry_", HOOK_FENTRY), HOOKS_OF_ALL(HOOK_OPTIONAL), {0}};
static const struct hook by_kprobe[] = {
	HOOKS_OF_FUNCTIONS("net_kprobe_", HOOK_KPROBE), HOOKS_OF_ALL(HOOK_OPTIONAL), {0}};

static const struct variant variants[] = {
	[BY_TRACEPOINT] = {"tracepoint", "raw_tp/sock_send_length and sock_recv_length", NULL,
			   by_tracepoint},
	[BY_SYSCALL] = {"syscall", "raw_tp/sys_exit, run at every system call exit", NULL,
			by_syscall},
	[BY_FENTRY] = {"fentry", "fentry on TCP and UDP functions", NULL, by_fentry},
	[BY_KPROBE] = {"kprobe", "kprobes on TCP and UDP functions", NULL, by_kprobe},
	{0},
};

static struct l4 *state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_l4_entry);
}

struct traffic *probe_l4_traffic(const struct probe_env *env)
{
	return state(env)->traffic;
}

static unsigned variant(const struct probe_env *env)
{
	return probe_env__variant(env, &probe_l4_entry);
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

	skel->bss->net_splice_state =
		variant(env) == BY_TRACEPOINT ? NET_DEMAND_OFF : NET_DEMAND_ON;
	skel->rodata->net_by = by[variant(env)];
	skel->rodata->net_exits = bpf_program__autoload(skel->progs.net_sys_exit) ||
				  bpf_program__autoload(skel->progs.net_sys_exit_5_10);
	skel->rodata->net_cpus = f->cpus;
	if (!f->map_alloc) {
		bpf_map__set_map_flags(skel->maps.net_socks, 0);
		bpf_map__set_max_entries(skel->maps.net_socks, SOCKS_PREALLOCATED);
		bpf_map__set_map_flags(skel->maps.net_others, 0);
		bpf_map__set_max_entries(skel->maps.net_others, OTHERS_PREALLOCATED);
	}
	return bpf_map__set_max_entries(skel->maps.net_scratch, f->cpus);
}

static int attach_exits(struct probe_env *env)
{
	int err = hook_attach(env, &probe_l4_entry, EXITS);

	env->skel->bss->net_exits_state = err ? NET_DEMAND_NONE : NET_DEMAND_ON;
	return err == -ENOENT ? 0 : err;
}

static int attach_splice(struct probe_env *env)
{
	int err = hook_attach(env, &probe_l4_entry, SPLICE);

	env->skel->bss->net_splice_state = err ? NET_DEMAND_NONE : NET_DEMAND_ON;
	return err;
}

/* Detects by symbols which programs may call splice(). Other callers are detected by the BPF
 * program. */
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

/* Returns true if a target has a socket that receives datagrams from any sender and l7 captures
 * payload. A COMMAND opens its sockets before obrec is notified. */
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

static int attach(struct probe_env *env)
{
	struct traffic_opts opts = {
		.writer = env->writer,
		.tracker = env->tracker,
		.loss = env->loss,
		.socks_fd = bpf_map__fd(env->skel->maps.net_socks),
		.others_fd = bpf_map__fd(env->skel->maps.net_others),
		.gone_fd = bpf_program__fd(env->skel->progs.net_gone),
	};
	int err = traffic__new(&state(env)->traffic, &opts);

	if (err)
		message_error("cannot record traffic: %s", strerror(-err));
	if (!err && (variant(env) != BY_TRACEPOINT || datagrams_come(env)))
		err = attach_exits(env);
	if (!err && env->skel->bss->net_splice_state == NET_DEMAND_WANTED)
		err = attach_splice(env);
	return err;
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

/* Without the exits each datagram stays counted for an unknown sender. */
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

/* Reports calls whose payload was omitted because the protocol is unknown. */
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
