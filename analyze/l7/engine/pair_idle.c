/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/pair_idle.h"

/*
 * An outstanding request whose response comes at a random time, 1 / t a second, is not answered
 * during a pause of r * d, but within d after it, with probability e^(-r d/t) (1 - e^(-d/t)). That
 * is at most about 1 / (e (r + 1)), whatever t is: 0.08 for r = 4, 0.01 for r = 32. A pause counts
 * log2(r) + 1 bits; much larger ones count no more, because both sides may have been stopped.
 */
enum {
	PAUSE_MIN = 4, /* shortest pause that counts, in times to the response after it */
	PAUSE_BITS = 10,
	PROVEN = 16,	     /* at least two pauses, */
	SILENCE = 6,	     /* or a long one, */
	UNDISPUTED = 12,     /* with requests at that level since, each a bit, */
	ANSWERS = 16,	     /* and so many responses a bit */
	LIKELY = 400,	     /* as many, and none at other levels, without a pause, */
	LIKELY_SINGLY = 2,   /* if clients of the protocol ask one by one */
	RESPONSE_MIN = 1000, /* ns: shorter times are inexact */
};

void pair_idle_hole(struct pair_idle *i)
{
	i->level = 0;
	i->lowest = INT64_MAX;
	i->begun = i->paused = i->uneven = false;
}

static void lower(struct pair_idle *i, int64_t level)
{
	bool first = i->lowest == INT64_MAX;

	if (level >= i->lowest)
		return;
	i->lowest = level;
	i->paused = false;
	i->begun &= first;
}

static void at_lowest(struct pair_idle *i, const struct l7_message *m)
{
	if (!i->begun)
		i->score = i->longest = i->times = i->answers = 0;
	i->times++;
	i->turns = m->unread == L7_UNREAD_NONE ? i->turns + 1 : 0;
	i->paused = m->unread == L7_UNREAD_NONE && m->first_ns > i->latest_ns && i->latest_ns;
	i->pause_ns = i->paused ? m->first_ns - i->latest_ns : 0;
	i->asked_ns = m->last_ns;
}

bool pair_idle_request(struct pair_idle *i, const struct l7_message *m)
{
	bool first = i->lowest == INT64_MAX && !i->level, lowest;

	if (m->unread == L7_UNREAD_SOME && !i->pushes)
		lower(i, i->level - 1);
	lowest = (i->answered || first) && i->level <= i->lowest;
	if (lowest) {
		at_lowest(i, m);
	} else if (i->answered) {
		i->uneven = true;
		i->turns = 0;
	}
	i->answered = false;
	i->level++;
	if (m->last_ns > i->latest_ns)
		i->latest_ns = m->last_ns;
	return lowest;
}

static uint64_t between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns + RESPONSE_MIN ? to_ns - from_ns : RESPONSE_MIN;
}

static unsigned weight(uint64_t pause_ns, uint64_t response_ns)
{
	uint64_t r = pause_ns / response_ns;
	unsigned bits = r < PAUSE_MIN ? 0 : 64 - __builtin_clzll(r);

	return bits < PAUSE_BITS ? bits : PAUSE_BITS;
}

static void compare(struct pair_idle *i, const struct l7_message *m)
{
	unsigned bits = weight(i->pause_ns, between(i->asked_ns, m->first_ns));

	i->paused = false;
	i->score += bits;
	if (bits > i->longest)
		i->longest = bits;
}

void pair_idle_response(struct pair_idle *i, const struct l7_message *m)
{
	lower(i, --i->level);
	i->answers++;
	if (i->paused && !i->answered)
		compare(i, m);
	i->answered = true;
	if (m->last_ns > i->latest_ns)
		i->latest_ns = m->last_ns;
}

bool pair_idle_seen(const struct pair_idle *i)
{
	return i->score >= PROVEN || (i->longest >= SILENCE &&
				      i->longest + i->times + i->answers / ANSWERS >= UNDISPUTED);
}

bool pair_idle_likely(const struct pair_idle *i, bool singly)
{
	return !i->uneven && (singly ? i->times >= LIKELY_SINGLY : i->turns >= LIKELY);
}

bool pair_idle_even(const struct pair_idle *i)
{
	return !i->uneven && i->turns && i->turns == i->times;
}
