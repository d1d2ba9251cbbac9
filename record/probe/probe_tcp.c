/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP connections (bpf/probe/tcp.bpf.c, tcp_flow.bpf.c). */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bpf/probe/tcp.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/host/kallsyms.h"
#include "record/probe/hooks.h"
#include "record/probe/metrics.h"
#include "record/probe/probe.h"

extern const struct probe probe_tcp_entry;

enum {
	CONNECTIONS = 32768,
	PORTS = 4096,
	LISTENERS = 4096,
	CALLS = 16384
}; /* followed at a time */

struct tcp {
	bool blind; /* to accept queues */
	char reasons[TCP_REASONS][TCP_REASON_LEN];
};

static bool has_own_btf(const struct features *f)
{
	return f->kernel_btf;
}

#define TRACEPOINTS                                                                                \
	HOOK("tcp_state", "sock:inet_sock_set_state", HOOK_RAW_TP),                                \
		HOOK("tcp_connect_enter", "syscalls:sys_enter_connect", HOOK_TRACEPOINT,           \
		     .need = HOOK_OPTIONAL),                                                       \
		HOOK("tcp_connect_exit", "syscalls:sys_exit_connect", HOOK_TRACEPOINT,             \
		     .need = HOOK_OPTIONAL),                                                       \
		HOOK("tcp_destroy", "tcp:tcp_destroy_sock", HOOK_RAW_TP),                          \
		HOOK("tcp_read", "tcp:tcp_rcv_space_adjust", HOOK_RAW_TP),                         \
		HOOK("tcp_existing", "task_file", HOOK_RUN, .when = has_own_btf),                  \
		HOOK("tcp_kfree", "skb:kfree_skb", HOOK_RAW_TP),                                   \
		HOOK("tcp_listen_look", "", HOOK_RUN),                                             \
		HOOK("tcp_rtt", "tcp:tcp_probe", HOOK_RAW_TP),                                     \
		HOOK("tcp_retransmit", "tcp:tcp_retransmit_skb", HOOK_RAW_TP,                      \
		     .need = HOOK_OPTIONAL),                                                       \
		HOOK("tcp_retransmit_sent", "tcp:tcp_retransmit_skb", HOOK_RAW_TP,                 \
		     .need = HOOK_INSTEAD),                                                        \
		HOOK("tcp_retransmit_synack", "tcp:tcp_retransmit_synack", HOOK_RAW_TP)
/* First the function that may have too many arguments for fentry: seven of late, six at most before
 * 473e3150e30a ("bpf, x86: allow function arguments up to 12 for TRACING", 6.6). */
#define FUNCTIONS(how, HOOK_HOW)                                                                   \
	HOOK("tcp_ack_" #how, "tcp_v4_syn_recv_sock", HOOK_HOW),                                   \
		HOOK("tcp_syn_" #how, "tcp_conn_request", HOOK_HOW),                               \
		HOOK("tcp_ack6_" #how, "tcp_v6_syn_recv_sock", HOOK_HOW, .need = HOOK_OPTIONAL)

static const struct hook by_fentry[] = {FUNCTIONS(fentry, HOOK_FENTRY), TRACEPOINTS, {0}};
static const struct hook by_kprobe[] = {FUNCTIONS(kprobe, HOOK_KPROBE), TRACEPOINTS, {0}};
static const struct hook by_tracepoint[] = {TRACEPOINTS, {0}};

static const struct variant variants[] = {
	{"fentry", "fentry/tcp_v4_syn_recv_sock, v6, tcp_conn_request; the same tracepoints", NULL,
	 by_fentry},
	{"kprobe", "kprobe/tcp_v4_syn_recv_sock, v6, tcp_conn_request; the same tracepoints", NULL,
	 by_kprobe},
	{"tracepoint",
	 "raw_tp/inet_sock_set_state, tcp_probe, ...: overflows of accept queues not counted", NULL,
	 by_tracepoint},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(1000),
	OPTION("min", PROBE_TIME, 0, "connects from this on are recorded singly"),
	{0},
};

static void address_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			size_t sz)
{
	char peer[INET6_ADDRSTRLEN];
	const struct in6_addr *addr = (const void *)part;

	if (IN6_IS_ADDR_V4MAPPED(addr))
		inet_ntop(AF_INET, &addr->s6_addr[12], peer, sizeof(peer));
	else
		inet_ntop(AF_INET6, addr, peer, sizeof(peer));
	snprintf(text, sz, "%s", peer);
}

static void peer_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	char port[8];

	address_key(env, part, text, sz);
	snprintf(port, sizeof(port), "%u", (unsigned)part[TCP_PART_PORT] & 0xffff);
	series_key_add(text, sz, port);
}

static void failed_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		       size_t sz)
{
	char name[24];

	peer_key(env, part, text, sz);
	series_key_add(text, sz,
		       part[TCP_PART_ERROR] ? format_errno(name, part[TCP_PART_ERROR])
					    : "given up");
}

static const char *state_name(uint64_t state)
{
	static const char *const names[TCP_STATE_CNT] = {
#define X(number, text) [number] = text,
		TCP_STATES(X)
#undef X
	};

	return state && state < TCP_STATE_CNT ? names[state] : "other";
}

static void retransmits_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS],
			    char *text, size_t sz)
{
	static const char *const ca_states[TCP_CA_STATE_CNT] = {
#define X(number, text) [number] = text,
		TCP_CA_STATES(X)
#undef X
	};
	uint64_t ca_state = part[TCP_PART_CA_STATE];

	address_key(env, part, text, sz);
	series_key_add(text, sz, state_name(part[TCP_PART_STATE]));
	series_key_add(text, sz, ca_state < TCP_CA_STATE_CNT ? ca_states[ca_state] : "other");
}

static void state_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		      size_t sz)
{
	uint64_t next = part[TCP_PART_NEXT];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, state_name(part[TCP_PART_STATE]));
	series_key_add(text, sz, next ? state_name(next) : "(end of capture)");
}

static void listener_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz)
{
	char limit[16];

	peer_key(env, part, text, sz);
	snprintf(limit, sizeof(limit), "%u", (unsigned)(part[TCP_PART_PORT] >> 32));
	series_key_add(text, sz, limit);
}

static void overflow_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz)
{
	listener_key(env, part, text, sz);
	series_key_add(text, sz, part[TCP_PART_SEGMENT] == TCP_SEGMENT_SYN ? "SYN" : "ACK");
}

static void drop_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	const struct tcp *tcp = probe_env__state(env, &probe_tcp_entry);
	uint64_t reason = part[TCP_PART_REASON], at = part[TCP_PART_LOCATION];
	const char *name = env->kallsyms ? kallsyms__name(env->kallsyms, at) : NULL;

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, tcp->reasons[reason < TCP_REASONS ? reason : 0]);
	series_key_add(text, sz, name ?: "");
}

static const struct series series[] = {
	[SERIES_tcp_connect - SERIES_OWN] = {"connect", "ns", SERIES_COARSE, "peer\tport",
					     peer_key},
	[SERIES_tcp_failed -
		SERIES_OWN] = {"failed", "ns", SERIES_COARSE, "peer\tport\terror", failed_key},
	[SERIES_tcp_close_events -
		SERIES_OWN] = {"close_events", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_tcp_close_throttled -
		SERIES_OWN] = {"close_throttled", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_tcp_unseen - SERIES_OWN] = {"unseen", "", SERIES_COUNTER, "", NULL},
	[SERIES_tcp_rtt - SERIES_OWN] = {"rtt", "ns", SERIES_COARSE, "peer", address_key},
	[SERIES_tcp_retransmits - SERIES_OWN] = {"retransmits", "", SERIES_COUNTER,
						 "peer\tstate\tcongestion", retransmits_key},
	[SERIES_tcp_retransmit_events -
		SERIES_OWN] = {"retransmit_events", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_tcp_retransmit_throttled - SERIES_OWN] = {"retransmit_throttled", "",
							  SERIES_COUNTER, "process",
							  series_key_comm},
	[SERIES_tcp_state -
		SERIES_OWN] = {"state", "ns", SERIES_COARSE, "process\tstate\tnext", state_key},
	[SERIES_tcp_accept_queue - SERIES_OWN] = {"accept_queue", "", SERIES_HISTOGRAM,
						  "listener\tport\tlimit", listener_key},
	[SERIES_tcp_accept_waiting - SERIES_OWN] = {"accept_waiting", "", SERIES_HISTOGRAM,
						    "listener\tport\tlimit", listener_key},
	[SERIES_tcp_overflows - SERIES_OWN] = {"overflows", "", SERIES_COUNTER,
					       "listener\tport\tlimit\tsegment", overflow_key},
	[SERIES_tcp_listen_drops - SERIES_OWN] = {"listen_drops", "", SERIES_COUNTER,
						  "listener\tport\tlimit", listener_key},
	[SERIES_tcp_drops - SERIES_OWN] = {"drops", "bytes", SERIES_COUNTER,
					   "process\treason\tfunction", drop_key},
	[SERIES_tcp_drop_events -
		SERIES_OWN] = {"drop_events", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_tcp_drop_throttled -
		SERIES_OWN] = {"drop_throttled", "", SERIES_COUNTER, "process", series_key_comm},
	{0},
};

/* ---- reasons why packets are dropped */

static void name_reason(void *ctx, const char *name, uint32_t value)
{
	static const char prefix[] = "SKB_DROP_REASON_";
	struct tcp *tcp = ctx;

	if (!strncmp(name, prefix, strlen(prefix)) && value < TCP_REASON_NONE)
		snprintf(tcp->reasons[value], TCP_REASON_LEN, "%s", name + strlen(prefix));
}

static void name_reasons(struct probe_env *env)
{
	struct tcp *tcp = probe_env__state(env, &probe_tcp_entry);

	env->skel->rodata->tcp_kfree_args = features_tracepoint_args(env->features, "kfree_skb");
	for (uint32_t i = 0; i < TCP_REASON_NONE; i++)
		snprintf(tcp->reasons[i], TCP_REASON_LEN, i ? "reason %u" : "other", i);
	features_enum_names(env->features, "skb_drop_reason", tcp, name_reason);
	for (uint32_t i = 0; i < TCP_REASON_NONE; i++)
		if (!strcmp(tcp->reasons[i], "QUEUE_PURGE"))
			env->skel->rodata->tcp_reason_purge = i;
}

static int attach(struct probe_env *env)
{
	struct tcp *tcp = probe_env__state(env, &probe_tcp_entry);
	int reasons = bpf_map__fd(env->skel->maps.tcp_reasons), err = 0;

	for (uint32_t i = 0; i < TCP_REASONS && !err; i++)
		err = bpf_map_update_elem(reasons, &i, tcp->reasons[i], BPF_ANY);
	return err;
}

static int prepare(struct probe_env *env)
{
	struct timespec tick = {0};
	int err;

	/* The coarse clocks advance with jiffies. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && tick.tv_nsec)
		env->skel->rodata->tcp_tick_ns = tick.tv_nsec;
	name_reasons(env);
	env->skel->rodata->tcp_min_ns = probe_env__option(env, &probe_tcp_entry, "min");
	err = bpf_map__set_max_entries(env->skel->maps.tcp_conns, CONNECTIONS);
	err = err ? err : bpf_map__set_max_entries(env->skel->maps.tcp_ports, PORTS);
	err = err ? err : bpf_map__set_max_entries(env->skel->maps.tcp_listeners, LISTENERS);
	err = err ? err : bpf_map__set_max_entries(env->skel->maps.tcp_calls, CALLS);
	return err ? err : bpf_map__set_max_entries(env->skel->maps.tcp_flows, CONNECTIONS);
}

static int start(struct probe_env *env)
{
	struct bpf_program *existing = env->skel->progs.tcp_existing;
	int err = bpf_program__autoload(existing) ? hook_run(existing, NULL, NULL) : 0;

	if (err)
		message_warn("TCP connections that exist at the start are missed until read: %s",
			     strerror(-err));
	return 0;
}

/* ---- listening sockets, each second */

static int look(struct probe_env *env)
{
	int listeners = bpf_map__fd(env->skel->maps.tcp_listeners), err = 0;
	int prog = bpf_program__fd(env->skel->progs.tcp_listen_look);
	uint64_t key, next;
	bool more = !bpf_map_get_next_key(listeners, NULL, &next);

	/* If one is removed meanwhile, those before it are looked at again. */
	for (int i = 0; more && !err && i < LISTENERS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &key, .ctx_size_in = sizeof(key));

		key = next;
		more = !bpf_map_get_next_key(listeners, &key, &next);
		err = bpf_prog_test_run_opts(prog, &run);
	}
	return err;
}

static int tick(struct probe_env *env, uint64_t now_ns, bool last)
{
	struct tcp *tcp = probe_env__state(env, &probe_tcp_entry);
	int err = last || tcp->blind ? 0 : look(env);

	if (err)
		message_warn("what waits in accept queues is not known: %s", strerror(-err));
	tcp->blind |= !!err;
	return 0;
}

/* ---- what is still there at the end */

static void count_state(struct probe_env *env, const char *process, uint32_t state,
			uint64_t since_ns)
{
	uint64_t ns = env->stop_ns > since_ns ? env->stop_ns - since_ns : 0;
	struct metric_key key = {
		.series = SERIES_NUMBER(PROBE_tcp, SERIES_tcp_state),
		.bucket = METRIC_COARSE(metric_bucket(ns)),
		.part[TCP_PART_STATE] = state,
	};

	memcpy(key.part, process, WIRE_COMM_LEN);
	metrics_add(env, &key, ns);
}

static void finish_conns(struct probe_env *env)
{
	bool all = env->skel->rodata->target_all;
	int conns = bpf_map__fd(env->skel->maps.tcp_conns);
	struct tcp_conn conn;
	uint64_t key;

	/* Those that end meanwhile are removed, after which the next key would be the first again.
	 */
	while (!bpf_map_get_next_key(conns, NULL, &key)) {
		if (!bpf_map_lookup_elem(conns, &key, &conn) && conn.since_ns && !conn.failed &&
		    !conn.end_ns && (all || conn.who || conn.listener))
			count_state(env, conn.process, conn.state, conn.since_ns);
		bpf_map_delete_elem(conns, &key);
	}
}

static void finish(struct probe_env *env)
{
	int listeners = bpf_map__fd(env->skel->maps.tcp_listeners);
	struct tcp *tcp = probe_env__state(env, &probe_tcp_entry);
	struct tcp_listen l;
	uint64_t key;

	if (!tcp->blind)
		look(env);
	while (!bpf_map_get_next_key(listeners, NULL, &key)) {
		if (!bpf_map_lookup_elem(listeners, &key, &l))
			count_state(env, l.who.process, TCP_LISTEN, l.since_ns);
		bpf_map_delete_elem(listeners, &key);
	}
	finish_conns(env);
}

const struct probe probe_tcp_entry = {
	.name = "tcp",
	.event = REC_tcp_connect,
	.variants = variants,
	.series = series,
	.options = options,
	.state_sz = sizeof(struct tcp),
	.prepare = prepare,
	.attach = attach,
	.start = start,
	.tick = tick,
	.finish = finish,
};
