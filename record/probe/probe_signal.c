/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals (bpf/probe/signal.bpf.c). */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bpf/probe/signal.h"
#include "format/option.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_signal_entry;

enum { PENDING = 16384 }; /* at a time */

static const struct hook hooks[] = {
	HOOK("signal_generate", "signal:signal_generate", HOOK_RAW_TP),
	HOOK("signal_deliver", "signal:signal_deliver", HOOK_RAW_TP),
	{0},
};

static const struct variant variants[] = {
	{"tracepoint", "raw_tp/signal_generate, signal_deliver", NULL, hooks},
	{0},
};

/* "TERM", "SIGTERM" or "15". Several add up. */
static int parse_signal(const char *word, uint64_t *value)
{
	const char *name = strncmp(word, "SIG", 3) ? word : word + 3;
	uint64_t number;

	if (!parse_u64(word, &number)) {
		if (!number || number > 64)
			return -1;
		*value |= 1ull << (number - 1);
		return 0;
	}
	for (int n = 1; n < 32; n++)
		if (sigabbrev_np(n) && !strcmp(sigabbrev_np(n), name)) {
			*value |= 1ull << (n - 1);
			return 0;
		}
	return -1;
}

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(500),
	OPTION("only", PROBE_WORD, 0, "only this signal, such as TERM or 15; may be repeated",
	       .takes = "the name or number of a signal", .parse = parse_signal),
	OPTION("failed", PROBE_FLAG, 0, "only those that were blocked, ignored or not queued"),
	OPTION("stack", PROBE_FLAG, 0, "with the sender's user and kernel stacks"),
	{0},
};

static void delivery_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz)
{
	char name[24];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, format_signal(name, part[SIGNAL_PART_NUMBER]));
}

static void sent_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	static const char *const causes[SIGNAL_TEXTS] = {
#define X(number, name) [number] = name,
		SIGNAL_CAUSES(X)};
	static const char *const results[SIGNAL_TEXTS] = {SIGNAL_RESULTS(X)};
#undef X
	const char *sender = (const char *)part, *receiver = sender + SIGNAL_PART_RECEIVER * 8;
	unsigned what = (unsigned char)receiver[SIGNAL_LAST];
	char comm[WIRE_COMM_LEN], name[24];
	const char *result = results[what % SIGNAL_TEXTS];

	snprintf(comm, sizeof(comm), "%.*s", SIGNAL_LAST, sender);
	series_key_set(text, sz, comm);
	series_key_add(text, sz, format_signal(name, (unsigned char)sender[SIGNAL_LAST]));
	snprintf(comm, sizeof(comm), "%.*s", SIGNAL_LAST, receiver);
	series_key_add(text, sz, comm);
	series_key_add(text, sz, causes[what / SIGNAL_TEXTS % SIGNAL_TEXTS]);
	series_key_add(text, sz, result ? result : "other");
}

static const struct series series[] = {
	{"delivery", "ns", SERIES_HISTOGRAM, "process\tsignal", delivery_key},
	{"sent", "", SERIES_COUNTER, "sender\tsignal\treceiver\tcause\tresult", sent_key},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf__rodata *to = env->skel->rodata;

	to->signal_only = probe_env__option(env, &probe_signal_entry, "only");
	to->signal_failed = probe_env__option(env, &probe_signal_entry, "failed");
	to->signal_stack = probe_env__option(env, &probe_signal_entry, "stack");
	return bpf_map__set_max_entries(env->skel->maps.signal_pending, PENDING);
}

const struct probe probe_signal_entry = {
	.name = "signal",
	.event = REC_signal,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
