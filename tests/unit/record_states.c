/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one program misses of a CPU's changes and the other makes up for (bpf/states.h), with
 * another change at each place where one can be interrupted: each is noted once, and as many are
 * made up for as the kernel skipped.
 */
#include <linux/types.h>
#include <string.h>

#include "check.h"

static void interrupted(void);
#define barrier() interrupted()
#include "bpf/states.h"

enum { CHANGES = 4, PLACES = 24, MOST = 64 };

static struct states st;
static struct {
	bool running;
	unsigned missed;
} first, second;
static unsigned made_up, noted[MOST];
static unsigned change, place; /* the last one's number; passed in the outermost change */
static unsigned at, cnt;       /* so many come at that place */
static bool inside, last_step; /* interrupt the second behind its last step, too */

static void run_first(unsigned number)
{
	if (first.running) {
		first.missed++;
		return;
	}
	first.running = true;
	barrier();
	states_first(&st, number);
	noted[number]++;
	barrier();
	first.running = false;
}

static void run_second(unsigned number)
{
	if (second.running) {
		second.missed++;
		return;
	}
	second.running = true;
	barrier();
	if (states_missed(&st, number)) {
		barrier();
		noted[number]++;
		made_up++;
	}
	states_end(&st);
	if (last_step)
		barrier();
	second.running = false;
}

static void one_more(void)
{
	unsigned number = ++change;

	run_first(number);
	barrier();
	run_second(number);
}

static void interrupted(void)
{
	if (inside || place++ != at)
		return;
	inside = true;
	for (unsigned i = 0; i < cnt; i++)
		one_more();
	inside = false;
}

/* One after the other, each interrupted at a place of its own, by one or two. */
static void follow(const unsigned *places, unsigned each)
{
	memset(&st, 0, sizeof(st));
	memset(noted, 0, sizeof(noted));
	first.missed = second.missed = made_up = change = 0;
	cnt = each;
	for (unsigned i = 0; i < CHANGES; i++) {
		at = places[i];
		place = 0;
		one_more();
	}
	CHECK(made_up == first.missed, "%u of %u, at %u %u %u %u", made_up, first.missed, places[0],
	      places[1], places[2], places[3]);
	for (unsigned i = 1; i <= change; i++)
		CHECK(noted[i] == 1, "%u: %u times, at %u %u %u %u", i, noted[i], places[0],
		      places[1], places[2], places[3]);
}

/* There nothing tells that the second misses what comes: the mark it leaves is dropped in time. */
static void leave_mark(void)
{
	unsigned p[CHANGES] = {0, PLACES, PLACES, PLACES};

	last_step = true;
	for (; p[0] < PLACES && !st.outer; p[0]++)
		follow(p, 1);
	last_step = false;
	CHECK(st.outer, "a mark is left");
	for (unsigned i = 0; i < STATES_STALE + 1; i++) {
		run_first(i % 7 + 1);
		run_second(i % 7 + 1);
	}
	CHECK(!st.outer, "for ever");
}

int main(void)
{
	unsigned p[CHANGES], missed = 0;

	for (p[0] = 0; p[0] < PLACES && !failed; p[0]++)
		for (p[1] = 0; p[1] < PLACES; p[1]++)
			for (p[2] = 0; p[2] < PLACES; p[2]++)
				for (p[3] = 0; p[3] < PLACES; p[3]++)
					for (unsigned each = 1; each <= 2; each++) {
						follow(p, each);
						missed += first.missed && second.missed;
					}
	leave_mark();
	CHECK(missed > 1000, "both were skipped in %u", missed);
	return failed;
}
