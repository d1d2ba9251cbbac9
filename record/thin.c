/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../bpf/net.h"
#include "../format/text.h"
#include "program.h"
#include "thin.h"
#include "obrec.skel.h"

#define PERIOD_NS 500000000ULL
/* At most, in obrec, for one record of a ring: more is another's doing. */
#define EVENT_NS 8000

static const char *const lever_names[LEVER_CNT] = {"cpu", "offcpu", "payload"};

struct thin {
	struct thin_opts opts;
	struct budget budget;
	uint64_t next_ns, last_ns, cpu_ns, bpf_ns[LEVER_CNT], other_ns;
	uint64_t events[LEVER_CNT];
	unsigned steps;
};

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

struct bpf_time {
	uint64_t of[LEVER_CNT], other;
};

/* Counting bytes (net_...) is never thinned, but what comes with payload is most of it. */
static void add_program(void *ctx, const struct program_cost *c)
{
	struct bpf_time *t = ctx;

	if (!strncmp(c->name, "cpu_", 4))
		t->of[LEVER_CPU] += c->run_ns;
	else if (!strncmp(c->name, "offcpu_", 7))
		t->of[LEVER_OFFCPU] += c->run_ns;
	else if (!strncmp(c->name, "net_s", 5))
		t->of[LEVER_PAYLOAD] += c->run_ns;
	else
		t->other += c->run_ns;
}

int thin__new(struct thin **out, const struct thin_opts *opts)
{
	struct thin *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	t->budget.per_64k = opts->budget_per_64k;
	t->cpu_ns = thread_ns();
	*out = t;
	return 0;
}

void thin__free(struct thin *t)
{
	free(t);
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
	case LEVER_CNT:
		break;
	}
}

static uint64_t share(const struct thin *t, enum budget_lever lever, unsigned level)
{
	uint64_t all = lever == LEVER_PAYLOAD ? t->opts.sample_per_64k : 65536;

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
	message_verbose("cpu-budget: keeping 1/%u of '%s'", 1u << t->budget.level[lever],
			lever_names[lever]);
	return obz_writer__put(t->opts.writer, REC_thinning, &r);
}

/* What each lever cost since the last time; all of it in *used. */
static void measure(struct thin *t, uint64_t cost[LEVER_CNT], uint64_t *used)
{
	struct bpf_time b = {0};
	uint64_t own = thread_ns(), own_ns = own - t->cpu_ns, events = 0;

	program_cost_each(t->opts.skel->obj, add_program, &b);
	for (int i = 0; i < LEVER_CNT; i++)
		events += t->events[i];
	*used = own_ns + b.other - t->other_ns;
	for (int i = 0; i < LEVER_CNT; i++) {
		uint64_t most = t->events[i] * EVENT_NS;

		cost[i] = events ? own_ns / events * t->events[i] : 0;
		if (cost[i] > most)
			cost[i] = most;
		cost[i] += b.of[i] - t->bpf_ns[i];
		*used += b.of[i] - t->bpf_ns[i];
		t->bpf_ns[i] = b.of[i];
		t->events[i] = 0;
	}
	t->other_ns = b.other;
	t->cpu_ns = own;
}

int thin__tick(struct thin *t, uint64_t now_ns)
{
	uint64_t cost[LEVER_CNT], used, interval;
	unsigned before[LEVER_CNT];
	enum budget_lever lever;

	if (!t || now_ns < t->next_ns)
		return 0;
	t->next_ns = now_ns + PERIOD_NS;
	measure(t, cost, &used);
	interval = now_ns - t->last_ns;
	t->last_ns = now_ns;
	if (interval > 10 * PERIOD_NS) /* the first one */
		return 0;
	if (!t->opts.sample_per_64k)
		cost[LEVER_PAYLOAD] = 0;
	memcpy(before, t->budget.level, sizeof(before));
	lever = budget_step(&t->budget, interval, used, cost);
	if (lever == LEVER_CNT)
		return 0;
	apply(t, lever);
	return record_step(t, lever, before[lever], now_ns);
}
