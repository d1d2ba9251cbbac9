/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpf/wire.h"
#include "format/text.h"
#include "record/intake/packer.h"
#include "record/host/program.h"
#include "record/reader/readers.h"
#include "record/session/thin.h"

#define PERIOD_NS 500000000ULL
/* Upper bound of obrec's cost per ring record; anything above has other causes. */
#define EVENT_NS 8000

enum { PROCESSES_END = 6 };

const struct lever thin_processes = {.name = "processes", .end = PROCESSES_END};

/* Cost of each lever's programs so far, and the part of it spent in runs that record nothing. */
struct bpf_time {
	uint64_t of[BUDGET_LEVERS], hooks[BUDGET_LEVERS], other;
};

struct thin {
	struct thin_opts opts;
	struct budget budget;
	uint32_t all_per_64k[BUDGET_LEVERS];
	uint64_t next_ns, last_ns, cpu_ns;
	struct bpf_time bpf; /* values last read */
	uint64_t processes_ns, processes_from_ns;
	int processes; /* number of the lever */
	uint64_t events[BUDGET_LEVERS];
	unsigned steps;
};

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

struct bpf_read {
	const struct budget *budget;
	struct bpf_time time;
};

static void add_program(void *ctx, const struct program_cost *c)
{
	struct bpf_read *r = ctx;

	for (int i = 0; i < r->budget->cnt; i++) {
		const struct lever_program *p = r->budget->lever[i]->programs;
		uint64_t hooks, run_ns;

		while (p && p->prefix && strncmp(c->name, p->prefix, strlen(p->prefix)))
			p++;
		if (!p || !p->prefix)
			continue;
		run_ns = c->run_ns + c->runs * p->trap_ns;
		hooks = c->runs * p->hook_ns;
		r->time.of[i] += run_ns;
		r->time.hooks[i] += hooks < run_ns ? hooks : run_ns;
		return;
	}
	r->time.other += c->run_ns;
}

static uint64_t own_ns(const struct thin *t)
{
	return thread_ns() + packer__cpu_ns(t->opts.packer) + readers__cpu_ns(t->opts.readers);
}

int thin__new(struct thin **out, const struct thin_opts *opts)
{
	struct thin *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	t->budget.per_64k = opts->budget_per_64k;
	t->cpu_ns = own_ns(t);
	*out = t;
	return 0;
}

void thin__add(struct thin *t, const struct lever *lever, uint32_t all_per_64k)
{
	int i = t->budget.cnt;

	if (i == BUDGET_LEVERS || !all_per_64k)
		return;
	if (lever == &thin_processes)
		t->processes = i;
	t->budget.lever[i] = lever;
	t->all_per_64k[i] = all_per_64k;
	t->budget.cnt++;
}

void thin__free(struct thin *t)
{
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

void thin__record(struct thin *t, const struct wire_hdr *hdr)
{
	for (int i = 0; t && i < t->budget.cnt; i++) {
		const struct lever *l = t->budget.lever[i];

		if (l->wire != hdr->kind || (l->wire == WIRE_SAMPLE && l->sample != hdr->probe &&
					     l->or_sample != hdr->probe))
			continue;
		t->events[i]++;
		return;
	}
}

unsigned thin__steps(const struct thin *t)
{
	return t ? t->steps : 0;
}

static uint64_t share(const struct thin *t, int lever, unsigned level)
{
	const struct lever *l = t->budget.lever[lever];

	return l->off && level == l->off ? 0 : t->all_per_64k[lever] >> level;
}

static int record_step(struct thin *t, int lever, unsigned from, uint64_t now_ns)
{
	const char *name = t->budget.lever[lever]->name;
	struct rec_thinning r = {
		.ts_ns = now_ns,
		.what = span_of(name),
		.cause = span_of("cpu-budget"),
		.from_per_64k = share(t, lever, from),
		.to_per_64k = share(t, lever, t->budget.level[lever]),
	};

	t->steps++;
	message_verbose("cpu-budget: '%s' from %.3g%% to %.3g%%", name, r.from_per_64k / 655.36,
			r.to_per_64k / 655.36);
	return obz_writer__put(t->opts.writer, REC_thinning, &r);
}

/* Computes the cost of each lever since the last call. */
static void measure(struct thin *t, struct budget_use *use)
{
	struct bpf_read now = {.budget = &t->budget};
	struct bpf_time *b = &now.time;
	uint64_t own = own_ns(t), spent_ns = own - t->cpu_ns, events = 0, rest_ns;

	program_cost_each(t->opts.programs, add_program, &now);
	for (int i = 0; i < t->budget.cnt; i++)
		events += t->events[i];
	rest_ns = spent_ns - t->processes_ns;
	use->used_ns = spent_ns + b->other - t->bpf.other;
	for (int i = 0; i < t->budget.cnt; i++) {
		uint64_t most = t->events[i] * EVENT_NS, bpf_ns = b->of[i] - t->bpf.of[i];

		use->hooks_ns[i] = b->hooks[i] - t->bpf.hooks[i];
		use->cost_ns[i] = events ? rest_ns / events * t->events[i] : 0;
		if (use->cost_ns[i] > most)
			use->cost_ns[i] = most;
		use->cost_ns[i] += bpf_ns - use->hooks_ns[i];
		use->used_ns += bpf_ns;
		t->events[i] = 0;
	}
	use->cost_ns[t->processes] = t->processes_ns;
	t->processes_ns = 0;
	t->bpf = *b;
	t->cpu_ns = own;
}

int thin__tick(struct thin *t, uint64_t now_ns)
{
	struct budget_use use = {0};
	unsigned before[BUDGET_LEVERS];
	int lever;

	if (!t || now_ns < t->next_ns)
		return 0;
	t->next_ns = now_ns + PERIOD_NS;
	measure(t, &use);
	use.interval_ns = now_ns - t->last_ns;
	t->last_ns = now_ns;
	if (use.interval_ns > 10 * PERIOD_NS) /* the first measurement */
		return 0;
	memcpy(before, t->budget.level, sizeof(before));
	lever = budget_step(&t->budget, &use);
	if (lever < 0)
		return 0;
	t->opts.stepped(t->opts.ctx, t->budget.lever[lever], t->budget.level[lever]);
	return record_step(t, lever, before[lever], now_ns);
}
