/* SPDX-License-Identifier: BSD-2-Clause */
/* Interrupts and softirqs (bpf/probe/irq.bpf.c). */
#include <stdio.h>
#include <string.h>

#include "bpf/probe/irq.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

#define VECTOR(name)                                                                               \
	HOOK("irq_" name "_entry", "irq_vectors:" name "_entry", HOOK_RAW_TP,                      \
	     .need = HOOK_OPTIONAL),                                                               \
		HOOK("irq_" name "_exit", "irq_vectors:" name "_exit", HOOK_RAW_TP,                \
		     .need = HOOK_OPTIONAL)
static const struct hook hooks[] = {
	HOOK("irq_hard_entry", "irq:irq_handler_entry", HOOK_RAW_TP),
	HOOK("irq_hard_exit", "irq:irq_handler_exit", HOOK_RAW_TP),
	HOOK("irq_soft_raise", "irq:softirq_raise", HOOK_RAW_TP),
	HOOK("irq_soft_entry", "irq:softirq_entry", HOOK_RAW_TP),
	HOOK("irq_soft_exit", "irq:softirq_exit", HOOK_RAW_TP),
	VECTOR("local_timer"),
	VECTOR("reschedule"),
	VECTOR("call_function"),
	VECTOR("call_function_single"),
	VECTOR("irq_work"),
	{0},
};

static const struct variant variants[] = {
	{"tracepoint", "raw_tp/irq_handler_*, softirq_*, irq_vectors of x86", NULL, hooks},
	{0},
};

/* As in /proc/interrupts. */
static const struct {
	const char *number, *name;
} vectors[] = {
	[IRQ_LOC - IRQ_LOC] = {"LOC", "local timer"},
	[IRQ_RES - IRQ_LOC] = {"RES", "rescheduling"},
	[IRQ_CAL - IRQ_LOC] = {"CAL", "function call"},
	[IRQ_IWI - IRQ_LOC] = {"IWI", "IRQ work"},
};

static const char *const softirqs[IRQ_SOFT_CNT] = {
	"HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
	"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU",
};

static void hard_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	uint32_t number = part[IRQ_PART_NUMBER];

	if (number >= IRQ_LOC && number < IRQ_VECTORS_END)
		snprintf(text, sz, "%s\t%s", vectors[number - IRQ_LOC].number,
			 vectors[number - IRQ_LOC].name);
	else
		snprintf(text, sz, "%u\t%.*s", number, IRQ_NAME_LEN, (const char *)part);
}

static void soft_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	uint32_t number = part[IRQ_PART_NUMBER];

	if (number < IRQ_SOFT_CNT)
		snprintf(text, sz, "%s", softirqs[number]);
	else
		snprintf(text, sz, "%u", number);
}

static void add_cpu(const uint64_t part[METRIC_KEY_PARTS], char *text, size_t sz)
{
	char cpu[16];

	snprintf(cpu, sizeof(cpu), "%u", (uint32_t)(part[IRQ_PART_NUMBER] >> 32) - 1);
	series_key_add(text, sz, cpu);
}

static void hard_cpu_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz)
{
	hard_key(env, part, text, sz);
	add_cpu(part, text, sz);
}

static void soft_cpu_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz)
{
	soft_key(env, part, text, sz);
	add_cpu(part, text, sz);
}

static void interrupted_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS],
			    char *text, size_t sz)
{
	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, part[IRQ_PART_BY] ? "softirq" : "interrupt");
}

static const struct series series[] = {
	[SERIES_irq_hard - SERIES_OWN] = {"interrupts", "ns", SERIES_COARSE, "interrupt\tname",
					  hard_key},
	[SERIES_irq_hard_cpu - SERIES_OWN] = {"interrupts_cpu", "ns", SERIES_COUNTER,
					      "interrupt\tname\tcpu", hard_cpu_key},
	[SERIES_irq_soft - SERIES_OWN] = {"softirqs", "ns", SERIES_COARSE, "softirq", soft_key},
	[SERIES_irq_soft_cpu -
		SERIES_OWN] = {"softirqs_cpu", "ns", SERIES_COUNTER, "softirq\tcpu", soft_cpu_key},
	[SERIES_irq_delay - SERIES_OWN] = {"delay", "ns", SERIES_COARSE, "softirq", soft_key},
	[SERIES_irq_interrupted -
		SERIES_OWN] = {"interrupted", "ns", SERIES_COUNTER, "process\tby", interrupted_key},
	{0},
};

const struct probe probe_irq_entry = {
	.name = "irq",
	.variants = variants,
	.series = series,
};
