/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP connections (bpf/probe/tcp.bpf.c). */
#include <arpa/inet.h>
#include <stdio.h>
#include <time.h>

#include "bpf/probe/tcp.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_tcp_entry;

enum { CONNECTIONS = 32768 }; /* followed at a time */

static const struct hook hooks[] = {
	HOOK("tcp_state", "sock:inet_sock_set_state", HOOK_RAW_TP),
	HOOK("tcp_destroy", "tcp:tcp_destroy_sock", HOOK_RAW_TP),
	{0},
};

static const struct variant variants[] = {
	{"tracepoint", "raw_tp/inet_sock_set_state, tcp_destroy_sock", NULL, hooks},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(1000),
	OPTION("min", PROBE_TIME, 0, "connects from this on are recorded singly"),
	{0},
};

static void peer_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	char port[8], peer[INET6_ADDRSTRLEN];
	const struct in6_addr *addr = (const void *)part;

	if (IN6_IS_ADDR_V4MAPPED(addr))
		inet_ntop(AF_INET, &addr->s6_addr[12], peer, sizeof(peer));
	else
		inet_ntop(AF_INET6, addr, peer, sizeof(peer));
	snprintf(text, sz, "%s", peer);
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
	{0},
};

static int prepare(struct probe_env *env)
{
	struct timespec tick = {0};

	/* The coarse clocks advance with jiffies. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && tick.tv_nsec)
		env->skel->rodata->tcp_tick_ns = tick.tv_nsec;
	env->skel->rodata->tcp_min_ns = probe_env__option(env, &probe_tcp_entry, "min");
	return bpf_map__set_max_entries(env->skel->maps.tcp_conns, CONNECTIONS);
}

const struct probe probe_tcp_entry = {
	.name = "tcp",
	.event = REC_tcp_connect,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
