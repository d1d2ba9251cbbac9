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
#include "record/probe/perf_event_name.h"

static const struct sampled {
	const char *name;
	uint64_t event;
	bool by_period; /* the rate is a number of events per sample */
} sampled[] = {
	{"cycles", PERF_EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), false},
	{"clock", PERF_EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK), false},
	{"minor-faults", PERF_EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN), true},
	{"major-faults", PERF_EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ), true},
};

static const struct sampled *sampled_of(const char *name)
{
	const struct sampled *s = sampled;

	while (strcmp(s->name, name))
		s++;
	return s;
}

static int open_event(struct perf_event_attr *attr, uint64_t event, unsigned cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->type = PERF_EVENT_TYPE(event);
	attr->config = PERF_EVENT_CONFIG(event);
	attr->exclude_kernel = !!(event & PERF_EVENT_USER);
	attr->exclude_user = !!(event & PERF_EVENT_KERNEL);
	fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_sampled(uint64_t event, unsigned cpu, bool by_period, uint64_t rate)
{
	struct perf_event_attr attr = {
		.freq = !by_period,
		.sample_freq = rate, /* or sample_period */
		/* A hardware counter stops when the CPU is idle, and that of arm64 rejects this. */
		.exclude_idle = perf_event_is_clock(event),
		.disabled = 1,
	};

	return open_event(&attr, event, cpu);
}

int perf_event_count(uint64_t event, unsigned cpu)
{
	struct perf_event_attr attr = {
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return open_event(&attr, event, cpu);
}

/* Whether opening it on CPU 0 gave a descriptor, which is closed. CPU 0 may be offline. */
static bool was_opened(int fd, char *why, size_t why_sz)
{
	if (fd >= 0)
		close(fd);
	else if (fd != -ENODEV)
		features_explain_perf(fd, why, why_sz);
	return fd >= 0 || fd == -ENODEV;
}

bool perf_events_possible(const char *name, const struct features *f, char *why, size_t why_sz)
{
	const struct sampled *s = sampled_of(name);

	if (perf_event_is_hardware(s->event) && !f->pmu) {
		snprintf(why, why_sz, "no hardware counters (a virtual machine without PMU?)");
		return false;
	}
	return was_opened(open_sampled(s->event, 0, s->by_period, 1), why, why_sz);
}

bool perf_event_possible(uint64_t event, const struct features *f, char *why, size_t why_sz)
{
	char name[PERF_EVENT_NAME_LEN];
	int fd = perf_event_count(event, 0);

	if (fd >= 0 || !perf_event_is_hardware(event))
		return was_opened(fd, why, why_sz);
	perf_event_name(event, name);
	if (!f->pmu)
		snprintf(why, why_sz,
			 "no hardware counters for '%s' (a virtual machine without PMU?); software "
			 "events work: task-clock, page-faults, context-switches, cpu-migrations",
			 name);
	else if (fd == -ENOENT || fd == -EOPNOTSUPP || fd == -EINVAL || fd == -ENODEV)
		snprintf(why, why_sz, "the processor's counters do not have '%s'", name);
	else
		return was_opened(fd, why, why_sz);
	return false;
}

static int attach_cpu(struct links *links, struct bpf_program *prog, uint64_t event, unsigned cpu,
		      bool by_period, uint64_t rate)
{
	int fd = open_sampled(event, cpu, by_period, rate), err;
	char why[256];

	if (fd == -ENODEV) /* went offline */
		return 0;
	if (fd < 0) {
		features_explain_perf(fd, why, sizeof(why));
		message_error("cannot sample CPU %u at %llu %s: %s", cpu, (unsigned long long)rate,
			      by_period ? "events per sample" : "Hz", why);
		return fd;
	}
	err = links__keep(links, bpf_program__attach_perf_event(prog, fd));
	if (err) {
		message_error("cannot attach to the perf event of CPU %u: %s", cpu, strerror(-err));
		close(fd);
	}
	return err;
}

int perf_events_sample(struct links *links, struct bpf_program *prog, uint64_t event,
		       bool by_period, uint64_t rate)
{
	unsigned cpus[WIRE_MAX_CPUS];
	int cnt = features_online_cpus(cpus, WIRE_MAX_CPUS), err = 0;

	if (cnt < 0) {
		message_error("cannot read the list of online CPUs: %s", strerror(-cnt));
		return cnt;
	}
	for (int i = 0; i < cnt && !err; i++)
		err = attach_cpu(links, prog, event, cpus[i], by_period, rate);
	return err;
}

int perf_events_attach(struct links *links, struct bpf_program *prog, const char *name,
		       unsigned rate)
{
	const struct sampled *s = sampled_of(name);

	return perf_events_sample(links, prog, s->event, s->by_period, rate);
}
