/* SPDX-License-Identifier: BSD-2-Clause */
/* Which CPU obrec's reading thread keeps off, and that it does. */
#include <sched.h>
#include <stdio.h>

#include "../../record/aside.h"

#define SECOND 1000000000ULL
#define MUCH (16ULL << 20)

static int failed;

static void check(const char *what, int ok)
{
	if (!ok) {
		printf("FAILED: %s\n", what);
		failed = 1;
	}
}

static int choose(uint64_t a, uint64_t b, uint64_t c, int now)
{
	const uint64_t brought[] = {a, b, c};

	return aside_choose(brought, 3, now);
}

static void choices(void)
{
	check("little traffic: anywhere", choose(1000, 0, 0, -1) == -1);
	check("and back to it", choose(1000, 0, 0, 0) == -1);
	check("one CPU's records: off it", choose(0, MUCH, 0, -1) == 1);
	check("evenly spread: anywhere", choose(MUCH, MUCH, MUCH, -1) == -1);
	check("not quite two thirds", choose(3 * MUCH, 2 * MUCH, 0, -1) == -1);
	check("are enough to stay off", choose(3 * MUCH, 2 * MUCH, 0, 0) == 0);
	check("less than half is not", choose(2 * MUCH, 2 * MUCH, MUCH, 0) == -1);
	check("the target has moved", choose(0, 0, MUCH, 0) == 2);
}

static bool anywhere(const cpu_set_t *allowed)
{
	cpu_set_t now;

	sched_getaffinity(0, sizeof(now), &now);
	return CPU_EQUAL(&now, allowed);
}

/* On the first two CPUs that are allowed: off the first, then off the second, then on both. */
static void moves(void)
{
	uint64_t taken[CPU_SETSIZE] = {0};
	int cpu[2], cnt = 0;
	cpu_set_t set, two, now;
	struct aside *a;

	sched_getaffinity(0, sizeof(set), &set);
	CPU_ZERO(&two);
	for (int i = 0; i < CPU_SETSIZE && cnt < 2; i++)
		if (CPU_ISSET(i, &set)) {
			CPU_SET(i, &two);
			cpu[cnt++] = i;
		}
	if (cnt < 2 || sched_setaffinity(0, sizeof(two), &two)) {
		check("there is no choice with one CPU", !aside__new(CPU_SETSIZE));
		return;
	}
	a = aside__new(CPU_SETSIZE);
	check("two CPUs are a choice", a != NULL);
	for (int i = 0; i < 2 && a; i++) {
		taken[cpu[i]] += MUCH;
		aside__look(a, taken, false, (i + 1) * SECOND);
		sched_getaffinity(0, sizeof(now), &now);
		check("off where the records come from",
		      CPU_COUNT(&now) == 1 && CPU_ISSET(cpu[!i], &now));
		check("the thread is there", sched_getcpu() == cpu[!i]);
	}
	check("not at once again", !aside__due(a, 2 * SECOND + 1));
	check("but soon", aside__due(a, 3 * SECOND));
	taken[cpu[0]] += MUCH;
	aside__look(a, taken, true, 3 * SECOND);
	check("late: anywhere", anywhere(&two));
	taken[cpu[0]] += MUCH;
	aside__look(a, taken, false, 4 * SECOND);
	check("for a while", anywhere(&two));
	taken[cpu[0]] += MUCH;
	aside__look(a, taken, false, 5 * SECOND);
	check("then off again", !anywhere(&two));
	aside__look(a, taken, false, 6 * SECOND);
	check("nothing comes: as before, and nowhere else", anywhere(&two));
	aside__free(a);
}

int main(void)
{
	choices();
	moves();
	return failed;
}
