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
 * known again only when the requests and responses between two long silences agree in number
 * (pair_silence.h). An order derived from a burst or a window is dropped if it turns out to be
 * impossible.
 *
 * Requests may be quiet: answered only if there is something to report. Then the parser chooses the
 * request that a response takes, and counts prove nothing. A response that names its request proves
 * the order if that request came after the hole.
 */
#include <stdlib.h>

#include "analyze/l7/engine/pair_known.h"
#include "analyze/l7/engine/pair_silence.h"

/* Limit of messages held for a turn, or until one possible number is left: HELD_WINDOWS windows and
 * HELD_MIN messages. */
enum { HELD_WINDOWS = 8, HELD_MIN = 256 };

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

/* Otherwise messages are held only after a silence, because the order may stay unknown for
 * hours. */
static bool holds(const struct pair_order *p)
{
	return p->unsure && (pair_known_bursts(p) || p->begun_idle || awaits_turn(p));
}

static void let_go(struct pair_order *p)
{
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
	pair_silence_settle_old(p, false);
	p->old_reqs = p->reqs;
	p->old_resps = p->resps;
	p->old_why = p->why;
	p->reqs = p->resps = (struct waiting_list){0};
	p->sure_cnt = 0;
	/* The first requests of the new burst were missed, so its end must tell. */
	p->unsure = p->hole_since;
	p->derived = true;
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

	if (m->last_ns > p->latest_ns)
		p->latest_ns = m->last_ns;
	if (w)
		waiting_push(l, w);
	if (w && p->unsure && is_doubtful(p, m))
		l->tail = 0;
	if (!w)
		pair_known_lose(p, L7_LOST);
}

void pair_order_request(struct pair_order *p, const struct l7_message *m)
{
	p->window.none |= m->quiet;
	if (!p->hole_since) {
		p->early = 0;
		p->tracked &= !p->unasked;
		p->unasked = false;
	}
	see(p, m);
	if (p->late && p->asks_singly && !p->heard)
		waiting_hand_out(p->out, &p->reqs, &p->resps, L7_LOST);
	pair_known_turn(p);
	if (p->tracked)
		pair_possible_settle(&p->possible);
	pair_known_find(p, true);
	pair_window_request(&p->window, pair_known_outstanding(p));
	pair_possible_learn(&p->possible, m);
	if (p->tracked)
		pair_possible_request(&p->possible);
	if (p->answered && p->unsure && !pair_known_bursts(p))
		pair_silence_turn(p, m);
	else if (p->answered)
		end_burst(p);
	p->late &= p->unsure || !p->answered || p->reqs.cnt || !pair_silence_before(p, m);
	p->answered = p->hole_since = false;
	if (p->reqs.cnt >= WAITING_MAX) {
		struct waiting *w = waiting_take(&p->reqs, p->reqs.oldest);

		p->sure_cnt -= p->sure_cnt > 0;
		pair_hand_out(p->out, &w->m, NULL, false, p->unsure ? p->why : L7_UNANSWERED);
		free(w);
	}
	add(p, &p->reqs, m);
	p->level++;
	let_go(p);
}

static void take_pair(struct pair_order *p, const struct l7_message *m)
{
	struct waiting *w;

	/* The order was assumed to be known, but was not. */
	if ((p->derived || p->late) && !pair_possible_fits(&p->reqs.oldest->m, m)) {
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
	p->calm |= !p->unsure && !p->derived && only_quiet(&p->reqs);
	if (!p->derived && !p->late && m->last_ns > w->m.first_ns &&
	    m->last_ns - w->m.first_ns > p->longest_ns)
		p->longest_ns = m->last_ns - w->m.first_ns;
	pair_hand_out(p->out, &w->m, m, true, 0);
	free(w);
}

/* All responses of the previous burst had come; otherwise the client overlaps. */
static void prove_burst(struct pair_order *p)
{
	if (!p->begun_idle)
		pair_silence_settle_old(p, true);
	if (!p->may_overlap)
		return;
	p->may_overlap = false;
	if (!p->overlaps && (p->derived || p->late))
		pair_known_retract(p);
	p->late = false;
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
	pair_silence_doubt(p);
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
	p->heard = true;
	p->window.none |= m->takes != L7_OLDEST;
	see(p, m);
	if (pair_known_contradicted(p)) {
		pair_silence_settle_old(p, false);
		p->calm = p->may_overlap = false;
		pair_known_retract(p);
	}
	prove_burst(p);
	pair_silence_response(p, m);
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
		if (p->resps.cnt > p->reqs.cnt)
			pair_silence_doubt(p);
		if (p->resps.cnt > WAITING_MAX)
			waiting_hand_out(p->out, &p->reqs, &p->resps, p->why);
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
	p->early++;
	if (p->derived && !pair_known_bursts(p))
		pair_known_lose(p, L7_LOST);
}

void pair_order_hole(struct pair_order *p, bool requests, enum l7_why why)
{
	pair_window_hole(&p->window);
	pair_missed_hole(&p->missed, requests);
	p->level = 0;
	p->floor = INT64_MAX;
	if (requests) {
		p->hole_since = true;
		p->reqs.tail = 0;
		if (!p->unsure) {
			p->sure_cnt = p->reqs.cnt;
			pair_known_end(p);
		}
		p->why = why;
		pair_silence_doubt(p);
	} else {
		pair_silence_settle_old(p, false);
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
	pair_silence_settle_old(p, waiting_agree(&p->old_reqs, &p->old_resps));
	if (p->unsure && waiting_agree(&p->reqs, &p->resps) &&
	    (pair_known_bursts(p) || p->begun_idle))
		waiting_hand_out_tail(p->out, &p->reqs, &p->resps, p->reqs.cnt, p->why);
	else
		waiting_hand_out(p->out, &p->reqs, &p->resps, p->unsure ? p->why : L7_UNANSWERED);
}
