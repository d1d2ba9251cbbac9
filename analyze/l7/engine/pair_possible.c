/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/engine/pair_possible.h"

enum {
	CONFIRMED = 48, /* responses needed that part of the requests do not allow */
	TELLS = 3,	/* at least 1 / TELLS of them: rules out chance, unless cyclic */
	TAIL_MIN = 64,	/* requests needed, plus TAIL_TIMES the number outstanding; */
	TAIL_TIMES = 4, /* no client keeps a longer cycle outstanding */
};
enum { WORDS = PAIR_POSSIBLE_CNT / 64, NONE = -PAIR_POSSIBLE_LEAST }; /* the bit of number 0 */

static bool is_set(const struct pair_possible *p, size_t bit)
{
	return p->bits[bit / 64] >> bit % 64 & 1;
}

static void set(struct pair_possible *p, size_t bit, size_t end)
{
	for (; bit < end; bit++)
		p->bits[bit / 64] |= 1ull << bit % 64;
}

static void strike_below(struct pair_possible *p, size_t bit)
{
	for (size_t i = 0; i < WORDS; i++, bit -= bit < 64 ? bit : 64)
		p->bits[i] &= bit < 64 ? ~0ull << bit : 0;
}

static bool is_empty(const struct pair_possible *p)
{
	uint64_t any = p->more || p->fewer;

	for (size_t i = 0; i < WORDS; i++)
		any |= p->bits[i];
	return !any;
}

static uint64_t word(const struct pair_possible *p, int64_t i)
{
	return i >= 0 && i < WORDS ? p->bits[i] : 0;
}

/* The set with n added to each number; abs(n) <= PAIR_POSSIBLE_CNT. */
static struct pair_possible moved(const struct pair_possible *p, int64_t n)
{
	struct pair_possible to = *p;
	int64_t words = n >> 6;
	unsigned bits = n & 63;

	for (int64_t i = 0; i < WORDS; i++) {
		to.bits[i] = word(p, i - words) << bits;
		if (bits)
			to.bits[i] |= word(p, i - words - 1) >> (64 - bits);
	}
	for (int64_t bit = PAIR_POSSIBLE_CNT - n; bit < PAIR_POSSIBLE_CNT; bit++)
		to.more |= is_set(p, bit);
	for (int64_t bit = 0; bit < -n; bit++)
		to.fewer |= is_set(p, bit);
	/* A number from out of range may be any of those shifted in. */
	if (p->fewer && n > 0)
		set(&to, 0, n);
	if (p->more && n < 0)
		set(&to, PAIR_POSSIBLE_CNT + n, PAIR_POSSIBLE_CNT);
	return to;
}

static void join(struct pair_possible *p, const struct pair_possible *with)
{
	for (size_t i = 0; i < WORDS; i++)
		p->bits[i] |= with->bits[i];
	p->more |= with->more;
	p->fewer |= with->fewer;
}

static uint64_t bounded(uint64_t n)
{
	return n < PAIR_POSSIBLE_CNT ? n : PAIR_POSSIBLE_CNT;
}

/* An empty set is a contradiction: nothing is known. */
static void settle(struct pair_possible *p)
{
	if (is_empty(p))
		pair_possible_reset(p);
}

void pair_possible_begin(struct pair_possible *p, int64_t outstanding)
{
	memset(p->bits, 0, sizeof(p->bits));
	p->hole[0] = p->hole[1] = false;
	p->seen = outstanding;
	p->counted = true;
	p->confirmed = 0;
	p->fewer = outstanding < PAIR_POSSIBLE_LEAST;
	p->more = outstanding > PAIR_POSSIBLE_MOST;
	if (!p->fewer && !p->more)
		p->bits[(outstanding + NONE) / 64] |= 1ull << (outstanding + NONE) % 64;
}

void pair_possible_reset(struct pair_possible *p)
{
	set(p, 0, PAIR_POSSIBLE_CNT);
	p->fewer = p->more = true;
	p->counted = false;
	p->confirmed = 0;
}

void pair_possible_hole(struct pair_possible *p, bool requests)
{
	p->hole[requests] = true;
}

void pair_possible_missed(struct pair_possible *p, bool requests, const struct pair_range *range)
{
	int64_t least = bounded(range->least), spread = bounded(range->most) - least;

	p->hole[requests] = false;
	p->confirmed = 0;
	*p = moved(p, requests ? least : -least);
	/* Each step doubles the range covered. */
	for (int64_t covered = 0; covered < spread;) {
		int64_t step = covered < spread - covered ? covered + 1 : spread - covered;
		struct pair_possible further = moved(p, requests ? step : -step);

		join(p, &further);
		covered += step;
	}
	if (range->most > PAIR_POSSIBLE_CNT)
		*(requests ? &p->more : &p->fewer) = true;
	settle(p);
}

void pair_possible_settle(struct pair_possible *p)
{
	strike_below(p, NONE);
	p->fewer = false;
	settle(p);
}

void pair_possible_request(struct pair_possible *p)
{
	*p = moved(p, 1);
	p->seen++;
}

static void strike_kinds(struct pair_possible *p, const struct l7_message *m,
			 const struct waiting_list *reqs)
{
	const struct waiting *w = reqs->newest;
	size_t others = 0, i = 1;

	for (; i <= reqs->tail && i <= PAIR_POSSIBLE_MOST && w; i++, w = w->prev)
		if (!pair_possible_fits(&w->m, m)) {
			p->bits[(NONE + i) / 64] &= ~(1ull << (NONE + i) % 64);
			others++;
		}
	p->confirmed += others * TELLS >= i;
}

void pair_possible_response(struct pair_possible *p, const struct l7_message *m,
			    const struct waiting_list *reqs, bool doubtful)
{
	struct pair_possible before;

	if (!doubtful && m->kinds & p->uncommon)
		strike_kinds(p, m, reqs);
	before = *p;
	*p = moved(p, -1);
	if (doubtful)
		join(p, &before);
	p->seen--;
	settle(p);
}

/* How many numbers there are below the bit `end`; *one: one of them. */
static unsigned count_below(const struct pair_possible *p, size_t end, int64_t *one)
{
	unsigned cnt = p->fewer;

	for (size_t i = 0; i < WORDS && i * 64 < end; i++) {
		uint64_t bits = p->bits[i];

		if (end < i * 64 + 64)
			bits &= ~(~0ull << end % 64);
		cnt += __builtin_popcountll(bits);
		if (bits)
			*one = (int64_t)(i * 64 + __builtin_ctzll(bits)) - NONE;
	}
	return cnt;
}

int64_t pair_possible_only(const struct pair_possible *p, size_t tail)
{
	size_t told = tail < PAIR_POSSIBLE_MOST ? tail : PAIR_POSSIBLE_MOST;
	int64_t one = -1;

	if (p->hole[0] || p->hole[1])
		return -1;
	if (!p->more && count_below(p, PAIR_POSSIBLE_CNT, &one) == 1)
		return one;
	if (p->confirmed < CONFIRMED || count_below(p, NONE + told + 1, &one) != 1 || one < 0 ||
	    tail < TAIL_MIN + TAIL_TIMES * (size_t)one)
		return -1;
	return one;
}

bool pair_possible_has(const struct pair_possible *p, int64_t outstanding)
{
	if (p->hole[0] || p->hole[1])
		return true;
	if (outstanding < PAIR_POSSIBLE_LEAST)
		return p->fewer;
	if (outstanding > PAIR_POSSIBLE_MOST)
		return p->more;
	return is_set(p, outstanding + NONE);
}
