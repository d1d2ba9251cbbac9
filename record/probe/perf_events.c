/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/perf_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/wire.h"
#include "format/text.h"
#include "record/base/links.h"
#include "record/host/features.h"

/* A hardware counter stops when the CPU is idle, and that of arm64 rejects exclude_idle. */
static const struct event {
	const char *name;
	unsigned type, config;
	bool exclude_idle;
	bool by_period; /* the rate is a number of events per sample */
} events[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false},
	{"clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, false},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false, true},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, true},
};

static const struct event *event_of(const char *name)
{
	const struct event *e = events;

	while (strcmp(e->name, name))
		e++;
	return e;
}

static int open_event(const struct event *e, unsigned cpu, unsigned rate)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = e->type,
		.config = e->config,
		.freq = !e->by_period,
		.sample_freq = rate, /* or sample_period */
		.exclude_idle = e->exclude_idle,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool perf_events_possible(const char *name, const struct features *f, char *why, size_t why_sz)
{
	const struct event *e = event_of(name);
	int fd;

	if (e->type == PERF_TYPE_HARDWARE && !f->pmu) {
		snprintf(why, why_sz, "no hardware counters (a virtual machine without PMU?)");
		return false;
	}
	fd = open_event(e, 0, 1);
	if (fd >= 0)
		close(fd);
	else if (fd != -ENODEV) /* CPU 0 may be offline */
		features_explain_perf(fd, why, why_sz);
	return fd >= 0 || fd == -ENODEV;
}

static int attach_cpu(struct links *links, struct bpf_program *prog, const struct event *e,
		      unsigned cpu, unsigned rate)
{
	int fd = open_event(e, cpu, rate), err;
	char why[256];

	if (fd == -ENODEV) /* went offline */
		return 0;
	if (fd < 0) {
		features_explain_perf(fd, why, sizeof(why));
		message_error("cannot sample CPU %u at %u %s: %s", cpu, rate,
			      e->by_period ? "events per sample" : "Hz", why);
		return fd;
	}
	err = links__keep(links, bpf_program__attach_perf_event(prog, fd));
	if (err) {
		message_error("cannot attach to the perf event of CPU %u: %s", cpu, strerror(-err));
		close(fd);
	}
	return err;
}

int perf_events_attach(struct links *links, struct bpf_program *prog, const char *name,
		       unsigned rate)
{
	unsigned cpus[WIRE_MAX_CPUS];
	int cnt = features_online_cpus(cpus, WIRE_MAX_CPUS), err = 0;

	if (cnt < 0) {
		message_error("cannot read the list of online CPUs: %s", strerror(-cnt));
		return cnt;
	}
	for (int i = 0; i < cnt && !err; i++)
		err = attach_cpu(links, prog, event_of(name), cpus[i], rate);
	return err;
}
