/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs by order, and what becomes of the order when bytes were missed.
 *
 *   requests   1 2 3 4 . . 7 8           9 ...      . missed
 *   responses            1 2 . . 5 6 7 8     9 ...
 *              |-------- a burst ------| the next
 *
 * Missed requests leave those that wait before them as they were: their answers come first. Missed
 * responses may have been those of any that wait. Either way what comes then is held back until its
 * burst is over: most clients ask on only when all answers have come, so that a request after
 * responses begins another burst, with nothing outstanding. Then the last responses belong to the
 * last requests, as many as came behind the holes of both directions. That no response was lost
 * behind them shows when the next one comes, without a hole before it; until then the burst waits.
 *
 * A client that asks on while answers are still to come has no such bursts; one that was not yet
 * seen to wait for all is taken for such. Its order is taken for
 * known again only when what passed between two long silences agrees in number.
 *
 * Requests may be quiet: answered only where that says something. Then the parser chooses the
 * request that a response takes, and numbers prove nothing. A response that names its request, one
 * that came behind the hole, proves the order.
 */
#include <stdlib.h>

#include "pair_order.h"

/* Silence: so many times the longest answer, and this long at least. */
enum { SILENCE_FACTOR = 8 };
#define SILENCE_MIN_NS 10000000ull

static void hand_out_alone(struct pair_order *p, struct waiting_list *reqs,
			   struct waiting_list *resps, enum l7_why why)
{
	/* What one side lacks the other shows; both may lack more. */
	if (why == L7_NOT_KEPT)
		p->out->missing +=
			reqs->cnt > resps->cnt ? reqs->cnt - resps->cnt : resps->cnt - reqs->cnt;
	while (reqs->oldest) {
		struct waiting *w = waiting_take(reqs, reqs->oldest);

		pair_hand_out(p->out, &w->m, NULL, false, why);
		free(w);
	}
	while (resps->oldest) {
		struct waiting *w = waiting_take(resps, resps->oldest);

		pair_hand_out(p->out, NULL, &w->m, false, why);
		free(w);
	}
}

/* The last n of both are pairs, those before are alone. */
static void hand_out_tail(struct pair_order *p, struct waiting_list *reqs,
			  struct waiting_list *resps, size_t n, enum l7_why why)
{
	struct waiting_list q = {0}, a = {0};

	while (reqs->cnt > n)
		waiting_push(&q, waiting_take(reqs, reqs->oldest));
	while (resps->cnt > n)
		waiting_push(&a, waiting_take(resps, resps->oldest));
	hand_out_alone(p, &q, &a, why);
	while (reqs->oldest) {
		struct waiting *req = waiting_take(reqs, reqs->oldest),
			       *resp = waiting_take(resps, resps->oldest);

		pair_hand_out(p->out, &req->m, &resp->m, true, 0);
		free(req);
		free(resp);
	}
}

static bool has_quiet(const struct waiting_list *reqs)
{
	for (const struct waiting *w = reqs->oldest; w; w = w->next)
		if (w->m.quiet)
			return true;
	return false;
}

static bool only_quiet(const struct waiting_list *reqs)
{
	for (const struct waiting *w = reqs->oldest; w; w = w->next)
		if (!w->m.quiet)
			return false;
	return true;
}

static size_t tails(const struct waiting_list *reqs, const struct waiting_list *resps)
{
	if (has_quiet(reqs))
		return 0;
	return reqs->tail < resps->tail ? reqs->tail : resps->tail;
}

/* Nothing was missed in between, and none is left over. */
static bool agree(const struct waiting_list *reqs, const struct waiting_list *resps)
{
	return reqs->cnt == resps->cnt && tails(reqs, resps) == reqs->cnt;
}

static void settle_old(struct pair_order *p, bool proven)
{
	hand_out_tail(p, &p->old_reqs, &p->old_resps,
		      proven ? tails(&p->old_reqs, &p->old_resps) : 0, p->old_why);
}

static void lose_order(struct pair_order *p, enum l7_why why)
{
	p->unsure = true;
	p->sure_cnt = 0;
	p->why = why;
	p->resps.tail = 0;
	p->begun_idle = false;
}

/* Does it ask on only when all answers have come? It was seen to, before anything was lost; that
 * what was not kept comes again and again leaves nobody the time. */
static bool has_bursts(const struct pair_order *p)
{
	return !p->overlaps && (p->calm || p->why == L7_NOT_KEPT);
}

/* Of one that overlaps nothing is held that silence did not begin: it may go on for hours. */
static bool holds(const struct pair_order *p)
{
	return p->unsure && (has_bursts(p) || p->begun_idle);
}

static void let_go(struct pair_order *p)
{
	if (!p->unsure || holds(p) || p->sure_cnt)
		return;
	hand_out_alone(p, &p->reqs, &p->resps, p->why);
}

/* A request after responses: the burst before is complete, if the client is of that kind. */
static void end_burst(struct pair_order *p)
{
	if (p->unsure ? p->sure_cnt : !only_quiet(&p->reqs)) {
		p->may_overlap = true;
		return;
	}
	if (!p->unsure)
		return;
	settle_old(p, false);
	p->old_reqs = p->reqs;
	p->old_resps = p->resps;
	p->old_why = p->why;
	p->reqs = p->resps = (struct waiting_list){0};
	p->sure_cnt = 0;
	/* The new one's first requests are missing: its end has to tell. */
	p->unsure = p->hole_since;
	p->derived = true;
}

static void end_silence(struct pair_order *p)
{
	if (p->begun_idle && agree(&p->reqs, &p->resps)) {
		hand_out_tail(p, &p->reqs, &p->resps, p->reqs.cnt, p->why);
		p->unsure = p->hole_since;
		p->derived = true;
	} else {
		hand_out_alone(p, &p->reqs, &p->resps, p->why);
	}
	p->sure_cnt = 0;
	p->begun_idle = p->unsure && !p->hole_since;
}

static bool is_silent(const struct pair_order *p, const struct l7_message *m)
{
	uint64_t least = SILENCE_FACTOR * p->longest_ns;

	if (least < SILENCE_MIN_NS)
		least = SILENCE_MIN_NS;
	return m->first_ns > p->latest_ns && m->first_ns - p->latest_ns > least;
}

static void add(struct pair_order *p, struct waiting_list *l, const struct l7_message *m)
{
	struct waiting *w = waiting_new(m);

	if (m->last_ns > p->latest_ns)
		p->latest_ns = m->last_ns;
	if (w)
		waiting_push(l, w);
	else
		lose_order(p, L7_LOST);
}

void pair_order_request(struct pair_order *p, const struct l7_message *m)
{
	if (p->unsure && !has_bursts(p)) {
		if (is_silent(p, m))
			end_silence(p);
	} else if (p->answered) {
		end_burst(p);
	}
	p->answered = p->hole_since = false;
	if (p->reqs.cnt >= WAITING_MAX) {
		struct waiting *w = waiting_take(&p->reqs, p->reqs.oldest);

		p->sure_cnt -= p->sure_cnt > 0;
		pair_hand_out(p->out, &w->m, NULL, false, p->unsure ? p->why : L7_UNANSWERED);
		free(w);
	}
	add(p, &p->reqs, m);
	let_go(p);
}

static void take_pair(struct pair_order *p, const struct l7_message *m)
{
	struct waiting *w = waiting_take(&p->reqs, p->reqs.oldest);

	p->sure_cnt -= p->sure_cnt > 0;
	p->calm |= !p->unsure && !p->derived && only_quiet(&p->reqs);
	if (!p->derived && m->last_ns > w->m.first_ns && m->last_ns - w->m.first_ns > p->longest_ns)
		p->longest_ns = m->last_ns - w->m.first_ns;
	pair_hand_out(p->out, &w->m, m, true, 0);
	free(w);
}

/* All answers of the burst before had come, or else it overlaps. */
static void prove_burst(struct pair_order *p)
{
	settle_old(p, true);
	if (!p->may_overlap)
		return;
	p->may_overlap = false;
	if (!p->overlaps && p->derived)
		lose_order(p, L7_LOST);
	p->overlaps = true;
}

/* How many came after it. */
static size_t younger(const struct waiting *w)
{
	size_t n = 0;

	while ((w = w->next))
		n++;
	return n;
}

/* What came before the request that a response named has had its answers. */
static void regain_order(struct pair_order *p, const struct waiting *named)
{
	struct waiting_list before = {0};

	while (p->reqs.oldest != named)
		waiting_push(&before, waiting_take(&p->reqs, p->reqs.oldest));
	hand_out_alone(p, &before, &p->resps, p->why);
	p->unsure = p->begun_idle = false;
	p->sure_cnt = 0;
}

/* To the request that the parser chose; quiet ones before it were passed over. True: done, false:
 * it is the oldest. */
static bool take_chosen(struct pair_order *p, const struct l7_message *m)
{
	bool named = m->takes == L7_BY_NAME;
	struct waiting *w = p->reqs.oldest, *q;
	size_t behind;

	if (p->unsure && !p->sure_cnt && !named)
		return false;
	while (w && w->m.id != m->id)
		w = w->next;
	if (!w) {
		pair_hand_out(p->out, NULL, m, false, p->unsure ? p->why : L7_UNANSWERED);
		return true;
	}
	behind = younger(w);
	if (p->unsure && !p->sure_cnt && behind < p->reqs.tail)
		regain_order(p, w);
	while (!(p->unsure && !p->sure_cnt) && p->reqs.oldest != w && p->reqs.oldest->m.quiet) {
		q = waiting_take(&p->reqs, p->reqs.oldest);
		p->sure_cnt -= p->sure_cnt > 0;
		pair_hand_out(p->out, &q->m, NULL, false, L7_UNANSWERED);
		free(q);
	}
	if (p->reqs.oldest == w && (!p->unsure || p->sure_cnt))
		return false;
	p->sure_cnt -= behind >= p->reqs.cnt - p->sure_cnt;
	p->reqs.tail -= behind < p->reqs.tail;
	waiting_take(&p->reqs, w);
	pair_hand_out(p->out, &w->m, m, true, 0);
	free(w);
	return true;
}

void pair_order_response(struct pair_order *p, const struct l7_message *m)
{
	prove_burst(p);
	if (m->takes != L7_OLDEST && take_chosen(p, m)) {
		p->answered = true;
		p->hole_since = false;
		return;
	}
	p->answered = true;
	p->hole_since = false;
	if (p->unsure && !p->sure_cnt) {
		add(p, &p->resps, m);
		if (p->resps.cnt > WAITING_MAX)
			hand_out_alone(p, &p->reqs, &p->resps, p->why);
		let_go(p);
		return;
	}
	if (m->last_ns > p->latest_ns)
		p->latest_ns = m->last_ns;
	if (p->reqs.cnt) {
		take_pair(p, m);
		return;
	}
	pair_hand_out(p->out, NULL, m, false, L7_UNANSWERED);
	if (p->derived && !has_bursts(p))
		lose_order(p, L7_LOST);
}

void pair_order_hole(struct pair_order *p, bool requests, enum l7_why why)
{
	if (requests) {
		p->hole_since = true;
		p->reqs.tail = 0;
		if (!p->unsure) {
			p->sure_cnt = p->reqs.cnt;
			p->unsure = true;
		}
		p->why = why;
		p->begun_idle = false;
	} else {
		settle_old(p, false);
		p->may_overlap = false;
		/* Nobody waits: there was no answer to be missed. */
		if (!p->unsure && !p->reqs.cnt)
			return;
		lose_order(p, why);
	}
	let_go(p);
}

const struct l7_message *pair_order_pending(const struct pair_order *p)
{
	const struct waiting *w = p->reqs.oldest;

	/* While unsure the responses held have taken as many of the oldest, if the burst is whole.
	 */
	for (size_t i = 0; i < p->resps.cnt && w; i++)
		w = w->next;
	return w ? &w->m : NULL;
}

struct waiting *pair_order_take_oldest(struct pair_order *p)
{
	return p->reqs.oldest ? waiting_take(&p->reqs, p->reqs.oldest) : NULL;
}

void pair_order_fini(struct pair_order *p)
{
	settle_old(p, agree(&p->old_reqs, &p->old_resps));
	if (p->unsure && agree(&p->reqs, &p->resps) && has_bursts(p))
		hand_out_tail(p, &p->reqs, &p->resps, p->reqs.cnt, p->why);
	else
		hand_out_alone(p, &p->reqs, &p->resps, p->unsure ? p->why : L7_UNANSWERED);
}
