/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs in order, and handles the order when bytes are missed.
 *
 *   requests   1 2 3 4 . . 7 8           9 ...      . missed
 *   responses            1 2 . . 5 6 7 8     9 ...
 *              |-------- a burst ------| the next
 *
 * Missed requests do not affect the requests waiting before them, whose responses come first.
 * Missed responses may belong to any waiting request. In both cases later messages are held until
 * their burst ends. Most clients send the next request only after all responses have come, so a
 * request after responses begins a new burst with nothing outstanding. Then the last responses
 * belong to the last requests, as many as came after the holes of both directions. When the next
 * response comes without a hole before it, no response was lost after them; until then the burst
 * is held.
 *
 * A client that sends requests while responses are outstanding (it overlaps) has no bursts. A
 * client not yet seen to wait for all responses is treated in the same way. If the missed bytes and
 * the kinds of responses leave only one possible number of outstanding requests (pair_possible.h),
 * that number tells which requests the next response and the held responses belong to. So does the
 * number that a client keeps outstanding (pair_window.h), if it is possible. Otherwise the order is
 * known again only when idle moments show, at which all is answered (pair_idle.h). So it is when
 * capture begins after the connection was opened. An order derived from a burst or a window is
 * dropped if it turns out to be impossible.
 *
 * Requests may be quiet: answered only if there is something to report. Then the parser chooses the
 * request that a response takes, and counts prove nothing. A response that names its request proves
 * the order if that request came after the hole.
 */
#include <stdlib.h>

#include "analyze/l7/engine/pair_known.h"

/* Limits of messages held for a turn, or until one possible number is left: HELD_WINDOWS windows
 * and HELD_MIN messages; and until an idle moment is confirmed, unlikely or likely. */
enum { HELD_WINDOWS = 8, HELD_MIN = 256, HELD_IDLE = 512, HELD_LIKELY = 4096 };

static bool only_quiet(const struct waiting_list *reqs)
{
	for (const struct waiting *w = reqs->oldest; w; w = w->next)
		if (!w->m.quiet)
			return false;
	return true;
}

/* Missed requests do not count, because they may have been sent since. */
static bool seen_to_wait(const struct waiting_list *reqs)
{
	for (const struct waiting *w = reqs->oldest; w; w = w->next)
		if (!w->m.quiet && !w->missed)
			return true;
	return false;
}

/* For a client that overlaps: few enough messages are held to be settled at a turn. */
static bool awaits_turn(const struct pair_order *p)
{
	return (pair_window_hopeful(&p->window) || p->possible.uncommon) &&
	       p->reqs.cnt + p->resps.cnt <= HELD_WINDOWS * p->window.size + HELD_MIN;
}

/* The order may stay unknown for hours. */
static bool holds(const struct pair_order *p)
{
	return p->unsure && (pair_known_bursts(p) || p->idle.begun || awaits_turn(p));
}

static void bound_idle(struct pair_order *p)
{
	size_t most = p->idle.score || !p->idle.uneven ? HELD_LIKELY : HELD_IDLE,
	       cnt = p->reqs.cnt + p->resps.cnt;
	struct waiting_list q = {0}, a = {0};

	if (!p->idle.begun || pair_known_bursts(p) || cnt <= most)
		return;
	cnt = (p->reqs.cnt < p->resps.cnt ? p->reqs.cnt : p->resps.cnt) / 2;
	waiting_move(&q, &p->reqs, cnt);
	waiting_move(&a, &p->resps, cnt);
	waiting_hand_out(p->out, &q, &a, p->why);
}

static void settle_old(struct pair_order *p, bool proven)
{
	waiting_hand_out_tail(p->out, &p->old_reqs, &p->old_resps,
			      proven ? waiting_tails(&p->old_reqs, &p->old_resps) : 0, p->old_why);
}

static void let_go(struct pair_order *p)
{
	if (p->unsure)
		bound_idle(p);
	if (!p->unsure || holds(p) || p->sure_cnt)
		return;
	waiting_hand_out(p->out, &p->reqs, &p->resps, p->why);
}

/* A request after responses: the previous burst is complete, if the client waits for all
 * responses. */
static void end_burst(struct pair_order *p)
{
	if (p->unsure ? p->sure_cnt : seen_to_wait(&p->reqs)) {
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
	/* The first requests of the new burst were missed, so its end must tell. */
	p->unsure = p->hole_since;
	p->derived = true;
	p->by_idle = false;
}

/* Updates the estimate of missed messages before m. */
static void see(struct pair_order *p, const struct l7_message *m)
{
	bool requests = m->type == L7_REQUEST;
	struct pair_range range;

	if (pair_missed_see(&p->missed, m, &range) && p->tracked && p->possible.hole[requests])
		pair_possible_missed(&p->possible, requests, &range);
}

/* May m be a part of a message that began before bytes were missed? */
static bool is_doubtful(struct pair_order *p, const struct l7_message *m)
{
	uint64_t *doubtful_ns = &p->doubtful_ns[m->type == L7_REQUEST];

	if (m->missed >= L7_MISSED_UNKNOWN)
		*doubtful_ns = m->first_ns;
	return m->first_ns == *doubtful_ns;
}

static void add(struct pair_order *p, struct waiting_list *l, const struct l7_message *m)
{
	struct waiting *w = waiting_new(m);

	if (w)
		waiting_push(l, w);
	if (w && p->unsure && is_doubtful(p, m))
		l->tail = 0;
	if (!w)
		pair_known_lose(p, L7_LOST);
}

/* A response waits to be read, but no request is known to be outstanding. */
static bool is_behind(const struct pair_order *p, const struct l7_message *m)
{
	return m->unread == L7_UNREAD_SOME && !p->idle.pushes && p->derived && !p->unsure &&
	       !p->reqs.cnt;
}

void pair_order_request(struct pair_order *p, const struct l7_message *m)
{
	bool lowest;

	if (is_behind(p, m)) {
		p->calm = p->may_overlap = false;
		p->overlaps = true;
		pair_known_retract(p);
	}
	lowest = pair_idle_request(&p->idle, m);
	p->window.none |= m->quiet;
	if (!p->hole_since) {
		p->early = 0;
		p->tracked &= !p->unasked;
		p->unasked = false;
	}
	see(p, m);
	if (p->late && p->asks_singly && !p->heard)
		waiting_hand_out(p->out, &p->reqs, &p->resps, L7_LATE);
	pair_known_turn(p);
	if (p->tracked)
		pair_possible_settle(&p->possible);
	pair_known_find(p, true);
	pair_window_request(&p->window, pair_known_outstanding(p));
	pair_possible_learn(&p->possible, m);
	if (p->tracked)
		pair_possible_request(&p->possible);
	if (p->unsure && !pair_known_bursts(p)) {
		if (lowest)
			pair_known_idle(p);
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
	struct waiting *w;

	/* The order was assumed to be known, but was not. */
	if (p->derived && !pair_possible_fits(&p->reqs.oldest->m, m)) {
		pair_known_retract(p);
		add(p, &p->resps, m);
		return;
	}
	w = waiting_take(&p->reqs, p->reqs.oldest);
	p->sure_cnt -= p->sure_cnt > 0;
	if (w->missed) {
		pair_hand_out(p->out, NULL, m, false, p->why);
		free(w);
		return;
	}
	p->calm |= !p->unsure && (!p->derived || p->by_idle) && only_quiet(&p->reqs);
	pair_hand_out(p->out, &w->m, m, true, 0);
	free(w);
}

/* All responses of the previous burst had come; otherwise the client overlaps. */
static void prove_burst(struct pair_order *p)
{
	settle_old(p, true);
	if (!p->may_overlap)
		return;
	p->may_overlap = false;
	if (!p->overlaps && p->derived && !p->by_idle)
		pair_known_retract(p);
	p->overlaps = true;
}

/* Number of requests after w. */
static size_t younger(const struct waiting *w)
{
	size_t n = 0;

	while ((w = w->next))
		n++;
	return n;
}

/* A response named a request after the hole: the requests before it have been answered. */
static void regain_order(struct pair_order *p, const struct waiting *named)
{
	struct waiting_list before = {0};

	while (p->reqs.oldest != named)
		waiting_push(&before, waiting_take(&p->reqs, p->reqs.oldest));
	p->idle.begun = false;
	waiting_hand_out(p->out, &before, &p->resps, p->why);
	p->unsure = false;
	p->sure_cnt = 0;
}

/* Pairs m with the request that the parser chose and skips quiet requests before it. True: done.
 * False: the chosen request is the oldest. */
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
	/* A response that was being read when capture began may not have been seen. */
	if (p->late && !p->heard && p->tracked)
		pair_possible_reset(&p->possible);
	p->heard = true;
	p->window.none |= m->takes != L7_OLDEST;
	see(p, m);
	if (pair_known_contradicted(p)) {
		settle_old(p, false);
		p->calm = p->may_overlap = false;
		pair_known_retract(p);
	}
	prove_burst(p);
	pair_idle_response(&p->idle, m);
	pair_known_answered(p);
	pair_known_find(p, false);
	pair_window_response(&p->window, pair_known_outstanding(p));
	if (m->takes != L7_OLDEST && take_chosen(p, m)) {
		p->answered = true;
		p->hole_since = false;
		return;
	}
	p->answered = true;
	p->hole_since = false;
	if (p->tracked)
		pair_possible_response(&p->possible, m, &p->reqs, is_doubtful(p, m));
	if (p->unsure && !p->sure_cnt) {
		add(p, &p->resps, m);
		if (p->resps.cnt > WAITING_MAX)
			waiting_hand_out(p->out, &p->reqs, &p->resps, p->why);
		let_go(p);
		return;
	}
	if (p->reqs.cnt) {
		take_pair(p, m);
		return;
	}
	pair_hand_out(p->out, NULL, m, false, L7_UNANSWERED);
	p->early++;
	if (p->derived && !pair_known_bursts(p))
		pair_known_lose(p, L7_LOST);
}

void pair_order_hole(struct pair_order *p, bool requests, enum l7_why why)
{
	pair_window_hole(&p->window);
	pair_missed_hole(&p->missed, requests);
	pair_idle_hole(&p->idle);
	if (requests) {
		p->hole_since = true;
		p->reqs.tail = 0;
		if (!p->unsure) {
			p->sure_cnt = p->reqs.cnt;
			pair_known_end(p);
		}
		p->why = why;
	} else {
		settle_old(p, false);
		p->may_overlap = false;
		/* No request is waiting: no response can be missing, unless its request was missed,
		 * too. */
		if (!p->unsure && !p->reqs.cnt && !p->overlaps) {
			pair_known_doubt(p);
			return;
		}
		pair_known_lose(p, why);
	}
	pair_possible_hole(&p->possible, requests);
	let_go(p);
}

const struct l7_message *pair_order_pending(struct pair_order *p)
{
	/* While unsure, the held responses took as many of the oldest requests, if the burst is
	 * complete. */
	const struct waiting *w = waiting_nth(&p->reqs, p->resps.cnt);

	return w && !w->missed ? &w->m : NULL;
}

struct waiting *pair_order_take_oldest(struct pair_order *p)
{
	struct waiting *w = p->reqs.oldest;

	return w && !w->missed ? waiting_take(&p->reqs, w) : NULL;
}

void pair_order_fini(struct pair_order *p)
{
	settle_old(p, waiting_agree(&p->old_reqs, &p->old_resps));
	if (p->unsure && waiting_agree(&p->reqs, &p->resps) && pair_known_bursts(p))
		waiting_hand_out_tail(p->out, &p->reqs, &p->resps, p->reqs.cnt, p->why);
	else if (!pair_known_at_end(p))
		waiting_hand_out(p->out, &p->reqs, &p->resps, p->unsure ? p->why : L7_UNANSWERED);
	waiting_hand_out(p->out, &p->reqs, &p->resps, L7_UNANSWERED);
}
