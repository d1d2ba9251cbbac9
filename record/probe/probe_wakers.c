/* SPDX-License-Identifier: BSD-2-Clause */
/* Who ended waits (bpf/probe/wakers.bpf.c). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/probe/wakers.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/host/features.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_offcpu_entry;

static const struct hook by_btf[] = {
	HOOK("wakers_waking", "sched:sched_waking", HOOK_TP_BTF),
	{0},
};
static const struct hook by_classic[] = {
	HOOK("wakers_waking_raw", "sched:sched_waking", HOOK_RAW_TP),
	{0},
};

static const struct variant variants[] = {
	{"btf", "tp_btf/sched_waking", NULL, by_btf},
	{"classic", "raw_tp/sched_waking", NULL, by_classic},
	{0},
};

static const char *format_id(char text[16], uint64_t who, uint32_t id)
{
	snprintf(text, 16, "%u", id);
	return who == WAKERS_NO_THREAD ? WAKERS_INTERRUPT : text;
}

/* Names of threads, which may be the same in many processes, are those of their samples. */
static void pair_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	uint64_t waker = part[WAKERS_PART_WAKER], woken = part[WAKERS_PART_WOKEN];
	char id[16];

	series_key_set(text, sz, format_id(id, waker, waker >> 32));
	series_key_add(text, sz, format_id(id, waker, waker));
	series_key_add(text, sz, format_id(id, woken, woken >> 32));
	series_key_add(text, sz, format_id(id, woken, woken));
}

static const struct series series[] = {
	[SERIES_wakers_pairs - SERIES_OWN] = {"pairs", "ns", SERIES_COUNTER,
					      "waker_pid\twaker_tid\tpid\ttid", pair_key},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	uint64_t from = features_symbol("__irqentry_text_start"),
		 to = features_symbol("__irqentry_text_end");

	if (!from || !to) {
		message_error("probe 'wakers' needs the addresses of kernel symbols, to tell "
			      "interrupts from threads: CAP_SYSLOG, or kernel.kptr_restrict=0");
		return -EPERM;
	}
	skel->rodata->wakers_on = true;
	skel->rodata->wakers_irq_from = from;
	skel->rodata->wakers_irq_to = to;
	return bpf_map__set_max_entries(skel->maps.wakers,
					bpf_map__max_entries(skel->maps.offcpu_threads));
}

const struct probe probe_wakers_entry = {
	.name = "wakers",
	.needs = &probe_offcpu_entry,
	.variants = variants,
	.series = series,
	.prepare = prepare,
};
