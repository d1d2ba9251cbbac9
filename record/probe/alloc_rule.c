/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "record/probe/alloc_rule.h"

double alloc_weight(uint64_t size, uint64_t rate)
{
	return rate ? size / -expm1(-(double)size / rate) : size;
}

/* Go draws gaps of at most this mean (runtime.fastexprand). */
#define GO_RATE_MAX 0x7000000

uint64_t alloc_go_rate(uint64_t value)
{
	if ((int64_t)value < 1) /* changed since the allocation was sampled */
		return 1;
	return value < GO_RATE_MAX ? value : GO_RATE_MAX;
}

double alloc_first_gap(double u, uint64_t rate)
{
	return -log(u) * rate;
}

uint64_t alloc_round(double x, double u)
{
	uint64_t whole = x;

	return whole + (u < x - whole);
}

/* Whether it was in use and old at that time. */
static bool is_old(const struct alloc_life *l, uint64_t at_ns, uint64_t age_ns)
{
	return l->birth_ns + age_ns <= at_ns && (!l->freed_ns || l->freed_ns > at_ns);
}

bool alloc_leaks(const struct alloc_life *lives, size_t cnt, uint64_t end_ns, uint64_t age_ns)
{
	uint64_t first = UINT64_MAX, from, old = 0, before = 0, removed = 0;
	double grown;

	for (size_t i = 0; i < cnt; i++) {
		if (!is_old(&lives[i], end_ns, age_ns))
			continue;
		old++;
		if (lives[i].birth_ns + age_ns < first)
			first = lives[i].birth_ns + age_ns;
	}
	if (old < ALLOC_LEAK_MIN)
		return false;
	from = end_ns - (end_ns - first) / 4;
	for (size_t i = 0; i < cnt; i++) {
		before += is_old(&lives[i], from, age_ns);
		removed +=
			lives[i].freed_ns > from && lives[i].freed_ns - lives[i].birth_ns >= age_ns;
	}
	grown = (double)old - before;
	return grown >= 1 && grown >= old / 16.0 && grown >= 4 * sqrt(2.0 * removed);
}
