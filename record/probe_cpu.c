/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On-CPU sampling: one perf event on every online CPU, for whoever runs there; who is recorded is
 * decided in BPF. Hardware cycles where there is a PMU (they sample code that runs with interrupts
 * off as well), else cpu-clock.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bpf/wire.h"
#include "../format/text.h"
#include "probe.h"
#include "obrec.skel.h"

static int open_event(const struct probe_env *env, unsigned cpu, unsigned freq)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = env->features->pmu ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = env->features->pmu ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = freq,
		.exclude_idle = 1,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool available(const struct features *f, char *why, size_t why_sz)
{
	struct probe_env env = {.features = f};
	int fd = open_event(&env, 0, 1);

	if (fd >= 0 || fd == -ENODEV) {
		if (fd >= 0)
			close(fd);
		return true;
	}
	features_explain_perf(fd, why, why_sz);
	return false;
}

static int prepare(struct probe_env *env)
{
	bpf_program__set_autoload(env->skel->progs.cpu_sample, true);
	env->skel->rodata->cpu_period_ns = 1000000000ULL / env->opts->freq;
	return 0;
}

static int attach_cpu(struct probe_env *env, unsigned cpu)
{
	int fd = open_event(env, cpu, env->opts->freq), err;
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
	err = probe_env__keep(env, link);
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
	.available = available,
	.prepare = prepare,
	.attach = attach,
};
