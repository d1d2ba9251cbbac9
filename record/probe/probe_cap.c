/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of capabilities (bpf/probe/cap.bpf.c). */
#include "bpf/probe/cap.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_cap_entry;

static const struct hook by_fentry[] = {HOOK("cap_fentry", "cap_capable", HOOK_FENTRY), {0}};
static const struct hook by_kprobe[] = {HOOK("cap_kprobe", "cap_capable", HOOK_KPROBE), {0}};
static const struct hook by_tracepoint[] = {
	HOOK("cap_tracepoint", "capability:cap_capable", HOOK_RAW_TP, .since = "6.14"), {0}};

static const struct variant variants[] = {
	{"fentry", "fentry/cap_capable", NULL, by_fentry},
	{"kprobe", "kprobe/cap_capable", NULL, by_kprobe},
	{"tracepoint", "raw_tp/cap_capable: does not tell whether it is audited", NULL,
	 by_tracepoint},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(1000),
	OPTION("denied", PROBE_FLAG, 0, "only checks that failed"),
	OPTION("stack", PROBE_FLAG, 0, "with user and kernel stacks"),
	{0},
};

static void checks_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		       size_t sz)
{
	char name[24];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, format_capability(name, part[CAP_PART_NUMBER]));
	series_key_add(text, sz, part[CAP_PART_DENIED] ? "denied" : "allowed");
}

static const struct series series[] = {
	[SERIES_cap_checks - SERIES_OWN] = {"checks", "", SERIES_COUNTER,
					    "process\tcapability\tverdict", checks_key},
	{0},
};

static int prepare(struct probe_env *env)
{
	env->skel->rodata->cap_denied = probe_env__option(env, &probe_cap_entry, "denied");
	env->skel->rodata->cap_stack = probe_env__option(env, &probe_cap_entry, "stack");
	return 0;
}

const struct probe probe_cap_entry = {
	.name = "cap",
	.event = REC_cap,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
