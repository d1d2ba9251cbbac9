/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "aside.h"

#define PERIOD_NS 100000000ULL
#define ANYWHERE_NS 2000000000ULL /* after it was late */

/* Below this many bytes a period obrec is not felt. Two thirds of all make a CPU the one to leave,
 * and half keep it so: a target that moves about is not run after. */
enum { FELT = 256 << 10 };

struct aside {
	cpu_set_t *allowed, *others; /* by the administrator; without the one kept off */
	size_t set_sz;
	unsigned cpus;
	int off;
	uint64_t looked_ns, anywhere_until_ns;
	uint64_t *taken, *brought; /* at the last look, since then */
};

struct aside *aside__new(unsigned cpus)
{
	struct aside *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->cpus = cpus;
	a->off = -1;
	a->set_sz = CPU_ALLOC_SIZE(cpus);
	a->allowed = CPU_ALLOC(cpus);
	a->others = CPU_ALLOC(cpus);
	a->taken = calloc(cpus, sizeof(*a->taken));
	a->brought = calloc(cpus, sizeof(*a->brought));
	if (a->allowed && a->others && a->taken && a->brought &&
	    !sched_getaffinity(0, a->set_sz, a->allowed) && CPU_COUNT_S(a->set_sz, a->allowed) > 1)
		return a;
	aside__free(a);
	return NULL;
}

void aside__free(struct aside *a)
{
	if (!a)
		return;
	CPU_FREE(a->allowed);
	CPU_FREE(a->others);
	free(a->taken);
	free(a->brought);
	free(a);
}

int aside_choose(const uint64_t *brought, unsigned cpus, int now)
{
	uint64_t sum = 0;
	int most = 0;

	for (unsigned i = 0; i < cpus; i++) {
		sum += brought[i];
		if (brought[i] > brought[most])
			most = i;
	}
	if (sum < FELT)
		return -1;
	if (now >= 0 && brought[now] >= sum / 2)
		return now;
	return brought[most] >= sum / 3 * 2 ? most : -1;
}

bool aside__due(const struct aside *a, uint64_t now_ns)
{
	return a && now_ns - a->looked_ns >= PERIOD_NS;
}

static void move(struct aside *a, int off)
{
	if (off == a->off)
		return;
	a->off = off;
	memcpy(a->others, a->allowed, a->set_sz);
	if (off >= 0)
		CPU_CLR_S(off, a->set_sz, a->others);
	/* Forbidden, or the allowed CPUs have changed: it runs where it did. */
	sched_setaffinity(0, a->set_sz, a->others);
}

void aside__look(struct aside *a, const uint64_t *taken, bool late, uint64_t now_ns)
{
	a->looked_ns = now_ns;
	for (unsigned i = 0; i < a->cpus; i++) {
		a->brought[i] = taken[i] - a->taken[i];
		a->taken[i] = taken[i];
	}
	if (late)
		a->anywhere_until_ns = now_ns + ANYWHERE_NS;
	move(a, now_ns < a->anywhere_until_ns ? -1 : aside_choose(a->brought, a->cpus, a->off));
}
