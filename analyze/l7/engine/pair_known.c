/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "analyze/l7/engine/pair_known.h"

void pair_known_end(struct pair_order *p)
{
	p->unasked = false;
	if (!p->tracked && p->late)
		pair_possible_reset(&p->possible);
	else if (!p->tracked)
		pair_possible_begin(&p->possible, pair_known_outstanding(p));
	if (!p->tracked)
		pair_missed_begin(&p->missed);
	p->tracked = !p->window.none;
	p->unsure = true;
}

void pair_known_doubt(struct pair_order *p)
{
	if (!p->tracked) {
		pair_possible_begin(&p->possible, pair_known_outstanding(p));
		pair_missed_begin(&p->missed);
		p->tracked = !p->window.none && !p->late;
		p->unasked = p->tracked;
	}
	pair_possible_hole(&p->possible, false);
}

void pair_known_lose(struct pair_order *p, enum l7_why why)
{
	if (!p->unsure)
		pair_known_end(p);
	p->idle.begun = false;
	p->sure_cnt = 0;
	p->why = why;
	p->resps.tail = 0;
	p->windowed = false;
}

void pair_known_retract(struct pair_order *p)
{
	bool any = !p->tracked;

	pair_known_lose(p, L7_LOST);
	if (any)
		pair_possible_reset(&p->possible);
	p->window.size = 0;
}

/* The client was seen to do so before anything was lost. With L7_NOT_KEPT it is assumed, because
 * holes are too frequent to observe it. */
bool pair_known_bursts(const struct pair_order *p)
{
	return !p->overlaps && (p->calm || p->why == L7_NOT_KEPT);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Sets the number of requests outstanding, which are the newest. Placeholders for missed ones are
 * inserted after the `ahead` oldest, which are sure. */
static void refill(struct pair_order *p, size_t ahead, size_t outstanding)
{
	static const struct l7_message nothing;
	struct waiting_list all = {0};

	waiting_move(&all, &p->reqs, ahead);
	while (all.cnt + p->reqs.cnt < outstanding) {
		struct waiting *w = waiting_new(&nothing);

		if (!w) {
			waiting_move(&all, &p->reqs, p->reqs.cnt);
			p->reqs = all;
			pair_known_lose(p, L7_LOST);
			return;
		}
		w->missed = true;
		waiting_push(&all, w);
	}
	waiting_move(&all, &p->reqs, p->reqs.cnt);
	p->reqs = all;
	p->idle.begun = false;
	p->sure_cnt = 0;
	p->unsure = false;
	p->early = 0;
	p->derived = true;
	p->by_idle = false;
}

/* The newest requests since the hole stay waiting, as many as are outstanding. Those before them
 * are paired with the held responses, from the newest back. */
static void end_turn(struct pair_order *p, size_t outstanding)
{
	size_t since = smaller(p->reqs.tail, p->reqs.cnt - p->sure_cnt), wait;
	struct waiting_list sure = {0}, old = {0};

	if (p->sure_cnt + (p->sure_cnt ? since : 0) > outstanding) {
		p->window.size = 0; /* not a window */
		return;
	}
	wait = smaller(since, outstanding);
	waiting_move(&sure, &p->reqs, p->sure_cnt);
	waiting_move(&old, &p->reqs, p->reqs.cnt - wait);
	waiting_hand_out_tail(p->out, &old, &p->resps, smaller(since - wait, p->resps.tail),
			      p->why);
	waiting_move(&sure, &p->reqs, p->reqs.cnt);
	p->reqs = sure;
	refill(p, p->sure_cnt, outstanding);
}

int64_t pair_known_outstanding(const struct pair_order *p)
{
	return p->unsure ? PAIR_WINDOW_UNKNOWN : (int64_t)p->reqs.cnt - (int64_t)p->early;
}

/* If the missed messages all had one size, their number is known, and so is the number
 * outstanding. */
static void count_alike(struct pair_order *p)
{
	int64_t more;

	if (!p->possible.counted || !pair_missed_more(&p->missed, &more) ||
	    !pair_possible_has(&p->possible, p->possible.seen + more))
		return;
	pair_possible_begin(&p->possible, p->possible.seen + more);
	pair_missed_begin(&p->missed);
}

static void find_by_window(struct pair_order *p)
{
	int64_t outstanding = pair_window_outstanding(&p->window);

	if (outstanding < 0)
		return;
	if (!pair_possible_has(&p->possible, outstanding)) {
		p->window.size = 0;
		return;
	}
	end_turn(p, outstanding);
	p->windowed = !p->unsure;
}

/* Recovers the order from the only number possible or, before a request, from the client's window,
 * if the two do not contradict each other. */
void pair_known_find(struct pair_order *p, bool request)
{
	int64_t only;

	if (!p->tracked || p->unasked || p->window.none)
		return;
	count_alike(p);
	only = pair_possible_only(&p->possible, p->reqs.tail);
	if (only >= 0 && p->unsure)
		end_turn(p, only);
	if (only >= 0 && !p->unsure)
		p->tracked = p->derived = p->windowed = p->late = false;
	if (p->unsure && !pair_known_bursts(p) && request && !p->hole_since)
		find_by_window(p);
}

bool pair_known_contradicted(const struct pair_order *p)
{
	return p->tracked && !p->unasked && !p->unsure && !p->window.none &&
	       !pair_possible_has(&p->possible, pair_known_outstanding(p));
}

void pair_known_turn(struct pair_order *p)
{
	if (!pair_window_turn(&p->window, pair_known_outstanding(p)) && !p->unsure && p->windowed)
		pair_known_retract(p);
}

/* ---- idle moments ---- */

/* Delivers what is held: `outstanding` of the requests are not answered, and of the others the
 * newest of both sides correspond. */
static void settle_idle(struct pair_order *p, size_t outstanding)
{
	struct waiting_list open = {0}, q = {0};
	size_t n = waiting_tails(&p->reqs, &p->resps), cnt = p->reqs.cnt;

	if (outstanding > cnt)
		outstanding = cnt;
	n = smaller(n, p->reqs.tail - smaller(p->reqs.tail, outstanding));
	waiting_move(&q, &p->reqs, cnt - outstanding);
	waiting_move(&open, &p->reqs, outstanding);
	waiting_hand_out_tail(p->out, &q, &p->resps, n, p->why);
	p->reqs = open;
}

static void confirm_idle(struct pair_order *p, size_t outstanding, bool seen)
{
	if (p->hole_since || !waiting_tails(&p->reqs, &p->resps))
		return;
	settle_idle(p, outstanding);
	p->idle.begun = false;
	p->unsure = p->tracked = false;
	p->derived = true;
	p->by_idle = seen;
	p->calm |= !p->idle.uneven;
	p->overlaps |= p->idle.uneven;
}

static bool tells(const struct pair_order *p)
{
	return pair_idle_seen(&p->idle) ||
	       (!p->overlaps && pair_idle_likely(&p->idle, p->asks_singly));
}

void pair_known_idle(struct pair_order *p)
{
	p->idle.begun |= !p->hole_since && !p->sure_cnt &&
			 (!p->tracked || pair_possible_has(&p->possible, 1) /* this request */);
}

void pair_known_answered(struct pair_order *p)
{
	if (p->unsure && p->idle.begun && !pair_known_bursts(p) && tells(p))
		confirm_idle(p, p->idle.level - p->idle.lowest + 1, pair_idle_seen(&p->idle));
}

bool pair_known_at_end(struct pair_order *p)
{
	bool even = p->asks_singly || pair_idle_even(&p->idle);

	if (!p->unsure || !p->idle.begun || !(tells(p) || (even && !p->overlaps)))
		return false;
	settle_idle(p, p->idle.level - p->idle.lowest);
	return true;
}
