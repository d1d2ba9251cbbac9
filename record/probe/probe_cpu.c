/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On-CPU sampling: one perf event on every online CPU, for whoever runs there; who is recorded is
 * decided in BPF. Hardware cycles where there is a PMU (they sample code that runs with interrupts
 * off as well), else cpu-clock.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/wire.h"
#include "format/text.h"
#include "record/probe/probe.h"
#include "obrec.skel.h"

extern const struct probe probe_cpu_entry;

enum { BY_CYCLES, BY_CLOCK };

static int open_event(bool cycles, unsigned cpu, unsigned freq)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = freq,
		/* a hardware counter stands still when idle, and arm64's refuses to be told so */
		.exclude_idle = !cycles,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool can_open(bool cycles, char *why, size_t why_sz)
{
	int fd = open_event(cycles, 0, 1);

	if (fd >= 0)
		close(fd);
	else if (fd != -ENODEV) /* CPU 0 may be offline */
		features_explain_perf(fd, why, why_sz);
	return fd >= 0 || fd == -ENODEV;
}

static bool by_cycles(const struct features *f, char *why, size_t why_sz)
{
	if (f->pmu)
		return can_open(true, why, why_sz);
	snprintf(why, why_sz, "no hardware counters (a virtual machine without PMU?)");
	return false;
}

static bool by_clock(const struct features *f, char *why, size_t why_sz)
{
	return can_open(false, why, why_sz);
}

static const struct variant variants[] = {
	[BY_CYCLES] = {"cycles", "hardware cycle counter", by_cycles},
	[BY_CLOCK] = {"clock", "the kernel's cpu-clock timer", by_clock},
	{0},
};

static int prepare(struct probe_env *env)
{
	bpf_program__set_autoload(env->skel->progs.cpu_sample, true);
	env->skel->rodata->cpu_period_ns = 1000000000ULL / env->opts->freq;
	return 0;
}

static int attach_cpu(struct probe_env *env, unsigned cpu)
{
	bool cycles = probe_env__variant(env, &probe_cpu_entry) == BY_CYCLES;
	int fd = open_event(cycles, cpu, env->opts->freq), err;
	struct bpf_link *link;
	char why[256];

	if (fd == -ENODEV) /* went offline */
		return 0;
	if (fd < 0) {
		features_explain_perf(fd, why, sizeof(why));
		message_error("cannot sample CPU %u at %u Hz: %s", cpu, env->opts->freq, why);
		return fd;
	}
	link = bpf_program__attach_perf_event(env->skel->progs.cpu_sample, fd);
	err = links__keep(&env->links, link);
	if (err) {
		message_error("cannot attach to the perf event of CPU %u: %s", cpu, strerror(-err));
		close(fd);
	}
	return err;
}

static int attach(struct probe_env *env)
{
	unsigned cpus[WIRE_MAX_CPUS];
	int cnt = features_online_cpus(cpus, WIRE_MAX_CPUS), err = 0;

	if (cnt < 0) {
		message_error("cannot read the list of online CPUs: %s", strerror(-cnt));
		return cnt;
	}
	for (int i = 0; i < cnt && !err; i++)
		err = attach_cpu(env, cpus[i]);
	return err;
}

const struct probe probe_cpu_entry = {
	.name = "cpu",
	.urgent = true,
	.variants = variants,
	.prepare = prepare,
	.attach = attach,
};
