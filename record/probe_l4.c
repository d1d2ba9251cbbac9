/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes and calls of every socket (bpf/net.bpf.c). From 6.3 on by the tracepoints on sockets,
 * before by the exits of system calls. It owns the traffic of the session; l7 adds payload to it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../format/text.h"
#include "probe.h"
#include "traffic.h"
#include "obrec.skel.h"

/* Some 10 MB, for kernels where the map cannot grow. */
enum { SOCKS_PREALLOCATED = 32768 };

/* System calls whose end tells more than the tracepoints on sockets: opening, who sent a
 * datagram, and splice out of a socket. */
static const char *const exits[] = {
	"sys_exit_connect",  "sys_exit_accept",	 "sys_exit_accept4", "sys_exit_sendto",
	"sys_exit_recvfrom", "sys_exit_sendmsg", "sys_exit_recvmsg", "sys_exit_sendmmsg",
	"sys_exit_recvmmsg", "sys_exit_splice",
};

static bool by_sock(const struct features *f)
{
	return features_has_tracepoint(f, "sock", "sock_send_length") &&
	       features_has_tracepoint(f, "syscalls", exits[0]);
}

static bool available(const struct features *f, char *why, size_t why_sz)
{
	if (features_has_tracepoint(f, "raw_syscalls", "sys_exit"))
		return true;
	snprintf(why, why_sz,
		 "no tracepoint raw_syscalls:sys_exit (CONFIG_FTRACE_SYSCALLS, or tracefs is not "
		 "mounted on /sys/kernel/tracing)");
	return false;
}

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	bool sock = by_sock(env->features);

	bpf_program__set_autoload(skel->progs.net_sock_send, sock);
	bpf_program__set_autoload(skel->progs.net_sock_recv, sock);
	bpf_program__set_autoload(skel->progs.net_exit_of, sock);
	bpf_program__set_autoload(skel->progs.net_sys_exit, !sock && env->features->atomic_fetch);
	bpf_program__set_autoload(skel->progs.net_sys_exit_5_10,
				  !sock && !env->features->atomic_fetch);
	bpf_program__set_autoload(skel->progs.net_tcp_state, true);
	bpf_program__set_autoload(
		skel->progs.net_close,
		features_has_tracepoint(env->features, "syscalls", "sys_enter_close"));
	skel->rodata->net_by_sock = sock;
	skel->rodata->net_cpus = env->features->cpus;
	if (!env->features->map_alloc) {
		bpf_map__set_map_flags(skel->maps.net_socks, 0);
		bpf_map__set_max_entries(skel->maps.net_socks, SOCKS_PREALLOCATED);
	}
	return bpf_map__set_max_entries(skel->maps.net_scratch, env->features->cpus);
}

static int attach_one(struct probe_env *env, struct bpf_program *prog, const char *exit)
{
	struct bpf_link *link;
	int err;

	if (!bpf_program__autoload(prog))
		return 0;
	link = exit ? bpf_program__attach_tracepoint(prog, "syscalls", exit)
		    : bpf_program__attach(prog);
	err = probe_env__keep(env, link);
	if (err)
		message_error("cannot attach '%s': %s", exit ? exit : bpf_program__name(prog),
			      strerror(-err));
	return err;
}

static int attach_all(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	struct bpf_program *const progs[] = {
		skel->progs.net_sock_send,     skel->progs.net_sock_recv, skel->progs.net_sys_exit,
		skel->progs.net_sys_exit_5_10, skel->progs.net_tcp_state, skel->progs.net_close};
	int err = 0;

	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]) && !err; i++)
		err = attach_one(env, progs[i], NULL);
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]) && !err; i++)
		err = attach_one(env, skel->progs.net_exit_of, exits[i]);
	return err;
}

static int attach(struct probe_env *env)
{
	struct traffic_opts opts = {
		.writer = env->writer,
		.tracker = env->tracker,
		.loss = env->loss,
		.socks_fd = bpf_map__fd(env->skel->maps.net_socks),
		.redact = env->opts->redact,
		.redact_sql = env->opts->redact_sql,
	};
	int err = traffic__new(&env->traffic, &opts);

	if (err)
		message_error("cannot record traffic: %s", strerror(-err));
	return err ? err : attach_all(env);
}

static bool record(struct probe_env *env, const struct wire_hdr *hdr)
{
	if (hdr->kind == WIRE_SOCK && hdr->size == sizeof(struct wire_sock)) {
		traffic__sock(env->traffic, (const void *)hdr);
		return true;
	}
	if (hdr->kind == WIRE_PAYLOAD && hdr->size >= sizeof(struct wire_payload)) {
		struct wire_payload *p = (void *)hdr;

		if (p->kept > hdr->size - sizeof(*p))
			return false;
		traffic__payload(env->traffic, p);
		return true;
	}
	return false;
}

static void drained(struct probe_env *env)
{
	traffic__drained(env->traffic);
}

static int tick(struct probe_env *env, uint64_t now_ns, bool last)
{
	return traffic__poll(env->traffic, now_ns, last);
}

static void reanchor(struct probe_env *env)
{
	traffic__reanchor(env->traffic);
}

static void free_traffic(struct probe_env *env)
{
	traffic__free(env->traffic);
	env->traffic = NULL;
}

const struct probe probe_l4_entry = {
	.name = "l4",
	.available = available,
	.prepare = prepare,
	.attach = attach,
	.record = record,
	.drained = drained,
	.tick = tick,
	.reanchor = reanchor,
	.free = free_traffic,
};
