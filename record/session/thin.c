/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpf/net/net.h"
#include "format/text.h"
#include "record/intake/packer.h"
#include "record/host/program.h"
#include "record/reader/readers.h"
#include "record/session/thin.h"
#include "obrec.skel.h"

#define PERIOD_NS 500000000ULL
/* At most, in obrec, for one record of a ring: more is another's doing. */
#define EVENT_NS 8000
/* One run of a program that has nothing to do: what thinning out cannot spare. */
#define SWITCH_NS 64
#define SYS_EXIT_NS 40
#define COUNT_NS 250 /* counting a call's bytes */

static const char *const lever_names[LEVER_CNT] = {"cpu", "offcpu", "payload", "processes"};

struct thin {
	struct thin_opts opts;
	struct budget budget;
	uint64_t next_ns, last_ns, cpu_ns;
	struct bpf_time *bpf; /* as last read */
	uint64_t processes_ns, processes_from_ns;
	uint64_t events[LEVER_CNT];
	unsigned steps;
};

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* What the programs of a lever cost so far, and of it what their mere running did. */
struct bpf_time {
	uint64_t of[LEVER_CNT], hooks[LEVER_CNT], other;
};

static const struct {
	const char *prefix;
	enum budget_lever lever;
	uint64_t hook_ns;
} program_levers[] = {
	{"cpu_", LEVER_CPU, 0},
	{"offcpu_switch", LEVER_OFFCPU, SWITCH_NS},
	{"offcpu_", LEVER_OFFCPU, SYS_EXIT_NS},
	/* Counting bytes is never thinned, but what comes with payload is most of it. */
	{"net_s", LEVER_PAYLOAD, COUNT_NS},
};

static void add_program(void *ctx, const struct program_cost *c)
{
	struct bpf_time *t = ctx;

	for (size_t i = 0; i < sizeof(program_levers) / sizeof(program_levers[0]); i++) {
		uint64_t hooks = c->runs * program_levers[i].hook_ns;

		if (strncmp(c->name, program_levers[i].prefix, strlen(program_levers[i].prefix)))
			continue;
		t->of[program_levers[i].lever] += c->run_ns;
		t->hooks[program_levers[i].lever] += hooks < c->run_ns ? hooks : c->run_ns;
		return;
	}
	t->other += c->run_ns;
}

static uint64_t own_ns(const struct thin *t)
{
	return thread_ns() + packer__cpu_ns(t->opts.packer) + readers__cpu_ns(t->opts.readers);
}

int thin__new(struct thin **out, const struct thin_opts *opts)
{
	struct thin *t = calloc(1, sizeof(*t));

	if (t)
		t->bpf = calloc(1, sizeof(*t->bpf));
	if (!t || !t->bpf) {
		free(t);
		return -ENOMEM;
	}
	t->opts = *opts;
	t->budget.per_64k = opts->budget_per_64k;
	t->cpu_ns = own_ns(t);
	*out = t;
	return 0;
}

void thin__free(struct thin *t)
{
	if (!t)
		return;
	free(t->bpf);
	free(t);
}

void thin__begin_processes(struct thin *t)
{
	if (t)
		t->processes_from_ns = thread_ns();
}

void thin__end_processes(struct thin *t)
{
	if (t)
		t->processes_ns += thread_ns() - t->processes_from_ns;
}

void thin__event(struct thin *t, enum budget_lever lever)
{
	if (t)
		t->events[lever]++;
}

unsigned thin__steps(const struct thin *t)
{
	return t ? t->steps : 0;
}

static void apply(struct thin *t, enum budget_lever lever)
{
	unsigned level = t->budget.level[lever];

	switch (lever) {
	case LEVER_CPU:
		t->opts.skel->bss->cpu_thin = level;
		break;
	case LEVER_OFFCPU:
		t->opts.skel->bss->offcpu_thin = level;
		break;
	case LEVER_PAYLOAD:
		t->opts.skel->bss->net_thin = level;
		break;
	case LEVER_PROCESSES:
	case LEVER_CNT:
		break;
	}
	t->opts.stepped(t->opts.ctx, lever, level);
}

static uint64_t share(const struct thin *t, enum budget_lever lever, unsigned level)
{
	uint64_t all = lever == LEVER_PAYLOAD ? t->opts.sample_per_64k : 65536;

	if (lever == LEVER_OFFCPU && level == OFFCPU_LEVEL_OFF)
		return 0;
	return all >> level;
}

static int record_step(struct thin *t, enum budget_lever lever, unsigned from, uint64_t now_ns)
{
	struct rec_thinning r = {
		.ts_ns = now_ns,
		.what = span_of(lever_names[lever]),
		.cause = span_of("cpu-budget"),
		.from_per_64k = share(t, lever, from),
		.to_per_64k = share(t, lever, t->budget.level[lever]),
	};

	t->steps++;
	message_verbose("cpu-budget: '%s' from %.3g%% to %.3g%%", lever_names[lever],
			r.from_per_64k / 655.36, r.to_per_64k / 655.36);
	return obz_writer__put(t->opts.writer, REC_thinning, &r);
}

static uint64_t of_hooks(const struct bpf_time *now, const struct bpf_time *before,
			 enum budget_lever lever)
{
	return now->hooks[lever] - before->hooks[lever];
}

/* What each lever cost since the last time. */
static void measure(struct thin *t, struct budget_use *use)
{
	struct bpf_time b = {0};
	uint64_t own = own_ns(t), spent_ns = own - t->cpu_ns, events = 0, rest_ns;

	program_cost_each(t->opts.skel->obj, add_program, &b);
	for (int i = 0; i < LEVER_CNT; i++)
		events += t->events[i];
	rest_ns = spent_ns - t->processes_ns;
	use->used_ns = spent_ns + b.other - t->bpf->other;
	for (int i = 0; i < LEVER_CNT; i++) {
		uint64_t most = t->events[i] * EVENT_NS, bpf_ns = b.of[i] - t->bpf->of[i];

		use->cost_ns[i] = events ? rest_ns / events * t->events[i] : 0;
		if (use->cost_ns[i] > most)
			use->cost_ns[i] = most;
		use->cost_ns[i] += bpf_ns - of_hooks(&b, t->bpf, i);
		use->used_ns += bpf_ns;
		t->events[i] = 0;
	}
	use->cost_ns[LEVER_PROCESSES] = t->processes_ns;
	use->offcpu_hooks_ns = of_hooks(&b, t->bpf, LEVER_OFFCPU);
	if (!t->opts.sample_per_64k)
		use->cost_ns[LEVER_PAYLOAD] = 0;
	t->processes_ns = 0;
	*t->bpf = b;
	t->cpu_ns = own;
}

int thin__tick(struct thin *t, uint64_t now_ns)
{
	struct budget_use use = {0};
	unsigned before[LEVER_CNT];
	enum budget_lever lever;

	if (!t || now_ns < t->next_ns)
		return 0;
	t->next_ns = now_ns + PERIOD_NS;
	measure(t, &use);
	use.interval_ns = now_ns - t->last_ns;
	t->last_ns = now_ns;
	if (use.interval_ns > 10 * PERIOD_NS) /* the first one */
		return 0;
	memcpy(before, t->budget.level, sizeof(before));
	lever = budget_step(&t->budget, &use);
	if (lever == LEVER_CNT)
		return 0;
	apply(t, lever);
	return record_step(t, lever, before[lever], now_ns);
}
