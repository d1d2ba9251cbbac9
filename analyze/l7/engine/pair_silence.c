/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/pair_silence.h"

enum {
	SILENCE_FACTOR = 4, /* minimum length of a silence, in longest response times */
	FORGET = 256,	    /* the longest response time decays by 1 / FORGET with each response */
	USUAL = 16, /* the average moves by 1 / USUAL of the difference with each response */
	QUICK = 2,  /* a response this much faster than average answers an earlier request */
	TURNS = 4,  /* turns that confirm a silence */
};
#define SILENCE_MIN_NS 10000000ull

void pair_silence_settle_old(struct pair_order *p, bool proven)
{
	waiting_hand_out_tail(p->out, &p->old_reqs, &p->old_resps,
			      proven ? waiting_tails(&p->old_reqs, &p->old_resps) : 0, p->old_why);
}

bool pair_silence_before(const struct pair_order *p, const struct l7_message *m)
{
	uint64_t long_ns = SILENCE_FACTOR * p->longest_ns;

	if (long_ns < SILENCE_MIN_NS)
		long_ns = SILENCE_MIN_NS;
	return m->first_ns > p->latest_ns && m->first_ns - p->latest_ns > long_ns;
}

static void begin(struct pair_order *p)
{
	pair_silence_settle_old(p, false);
	if (p->hole_since || p->sure_cnt || p->level > p->floor ||
	    (p->tracked && !pair_possible_has(&p->possible, 1)) /* this request */)
		return;
	p->old_reqs = p->reqs;
	p->old_resps = p->resps;
	p->old_why = p->why;
	p->reqs = p->resps = (struct waiting_list){0};
	p->begun_idle = true;
	p->idle_turns = 0;
}

/* All requests were answered, as they were before the silence. */
static void confirm(struct pair_order *p)
{
	waiting_hand_out_tail(p->out, &p->reqs, &p->resps, p->reqs.cnt, p->why);
	pair_silence_settle_old(p, true);
	p->begun_idle = false;
	p->unsure = p->hole_since;
	p->derived = true;
}

void pair_silence_turn(struct pair_order *p, const struct l7_message *m)
{
	bool silent = pair_silence_before(p, m),
	     even = p->begun_idle && waiting_agree(&p->reqs, &p->resps);

	if (even && (silent || ++p->idle_turns >= TURNS))
		confirm(p);
	else if (silent && !even)
		begin(p);
}

void pair_silence_response(struct pair_order *p, const struct l7_message *m)
{
	uint64_t least_ns = 0;

	if (!p->answered && p->latest_ns && m->last_ns > p->latest_ns)
		least_ns = m->last_ns - p->latest_ns;
	if (p->begun_idle && p->reqs.cnt && !p->resps.cnt && least_ns * QUICK < p->usual_ns)
		pair_silence_doubt(p);
	p->usual_ns += p->answered ? 0 : (int64_t)(least_ns - p->usual_ns) / USUAL;
	p->longest_ns -= p->longest_ns / FORGET;
	if (least_ns > p->longest_ns)
		p->longest_ns = least_ns;
	if (--p->level < p->floor)
		p->floor = p->level;
}

void pair_silence_doubt(struct pair_order *p)
{
	if (p->begun_idle)
		pair_silence_settle_old(p, false);
	p->begun_idle = false;
}
