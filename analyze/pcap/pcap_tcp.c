/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tcp_held {
	struct tcp_held *next;
	uint32_t seq, len, kept;
	uint64_t ts_ns;
	char data[];
};

/* Limits of data held because of holes, per direction and for all. */
enum { HELD_MAX = 4 << 20, HELD_CNT_MAX = 4096, WINDOW_MAX = 1 << 16 };
#define POOL_MAX (64u << 20)

static size_t held_cost(const struct tcp_held *h)
{
	return sizeof(*h) + h->kept;
}

static struct tcp_held *pop(struct tcp_side *t, struct tcp_pool *pool)
{
	struct tcp_held *h = t->held;

	t->held = h->next;
	t->held_sz -= held_cost(h);
	t->held_cnt--;
	pool->held -= held_cost(h);
	return h;
}

void tcp_side__fini(struct tcp_side *t, struct tcp_pool *pool)
{
	while (t->held)
		free(pop(t, pool));
}

void tcp_side__begin(struct tcp_side *t, uint32_t next)
{
	t->begun = true;
	t->next = next;
	/* An earlier acknowledgement that is far away belongs to another connection. */
	if (t->acked - next + WINDOW_MAX > 2 * WINDOW_MAX)
		t->has_acked = false;
}

static void check_finished(struct tcp_side *t)
{
	/* Only without a hole in between; otherwise bytes before the FIN are still missing. */
	if (t->fin && (t->next == t->fin_seq || tcp_is_old(t->fin_seq, t->next)))
		t->finished = true;
}

/* Takes a segment at or before `next` and emits its new bytes. */
static int take(struct tcp_side *t, struct tcp_segment s, const struct tcp_sink *k)
{
	uint32_t over = t->next - s.seq;
	int err;

	if (over >= s.len) {
		/* A keep-alive probe sends the byte before the next one again. */
		t->retransmits += !(s.len == 1 && over == 1);
		return 0;
	}
	if (over) {
		size_t cut = over < s.data.len ? over : s.data.len;

		t->retransmits++;
		s.seq += over;
		s.len -= over;
		s.data.p += cut;
		s.data.len -= cut;
	}
	err = k->emit(k->ctx, t->pos, &s);
	t->pos += s.len;
	t->next += s.len;
	return err;
}

/* Emits held segments that are now contiguous. Their time is when the hole before them was
 * closed. */
static int drain(struct tcp_side *t, uint64_t ts_ns, const struct tcp_sink *k)
{
	int err = 0;

	while (t->held && !err && (t->held->seq == t->next || tcp_is_old(t->held->seq, t->next))) {
		struct tcp_held *h = pop(t, k->pool);
		struct tcp_segment s = {
			h->seq, h->len, {h->data, h->kept}, h->ts_ns > ts_ns ? h->ts_ns : ts_ns};

		err = take(t, s, k);
		free(h);
	}
	check_finished(t);
	return err;
}

/* Continues after the first hole. */
static int give_up(struct tcp_side *t, const struct tcp_sink *k)
{
	uint32_t missing = t->held->seq - t->next;

	t->holes++;
	t->missing += missing;
	t->timed_ns = 0;
	t->pos += missing;
	t->next += missing;
	return drain(t, 0, k);
}

int tcp_side__flush(struct tcp_side *t, const struct tcp_sink *k)
{
	int err = 0;

	while (t->held && !err)
		err = give_up(t, k);
	return err;
}

static int hold(struct tcp_side *t, const struct tcp_segment *s, const struct tcp_sink *k)
{
	struct tcp_held **at = &t->held, *h;
	uint32_t ahead = s->seq - t->next;

	while (*at && (*at)->seq - t->next < ahead)
		at = &(*at)->next;
	if (*at && (*at)->seq == s->seq && (*at)->len >= s->len) {
		t->retransmits++;
		return 0;
	}
	h = malloc(sizeof(*h) + s->data.len);
	if (!h)
		return -ENOMEM;
	*h = (struct tcp_held){*at, s->seq, s->len, s->data.len, s->ts_ns};
	if (s->data.len)
		memcpy(h->data, s->data.p, s->data.len);
	*at = h;
	t->held_sz += held_cost(h);
	t->held_cnt++;
	k->pool->held += held_cost(h);
	return 0;
}

static bool is_too_much(const struct tcp_side *t, const struct tcp_pool *pool)
{
	return t->held &&
	       (t->held_sz > HELD_MAX || t->held_cnt > HELD_CNT_MAX || pool->held > POOL_MAX);
}

/* Did the receiver acknowledge bytes after the first hole? Then only the capture is missing the
 * bytes of the hole. */
static bool is_received(const struct tcp_side *t)
{
	return t->held && t->has_acked && !tcp_is_old(t->acked, t->next) &&
	       t->acked - t->next >= t->held->seq - t->next;
}

static int settle(struct tcp_side *t, const struct tcp_sink *k)
{
	int err = 0;

	while (!err && (is_received(t) || is_too_much(t, k->pool)))
		err = give_up(t, k);
	/* The last bytes were received but not captured. */
	if (t->fin && !t->finished && !t->held && t->has_acked &&
	    !tcp_is_old(t->acked, t->fin_seq)) {
		t->holes++;
		t->missing += t->fin_seq - t->next;
		t->finished = true;
	}
	return err;
}

int tcp_side__segment(struct tcp_side *t, const struct tcp_segment *s, const struct tcp_sink *k)
{
	int err;

	if (!s->len)
		return 0;
	if (!t->begun)
		tcp_side__begin(t, s->seq);
	if (s->seq != t->next && !tcp_is_old(s->seq, t->next)) {
		err = hold(t, s, k);
	} else {
		uint64_t sent_twice = t->retransmits;

		err = take(t, *s, k);
		if (t->retransmits != sent_twice) {
			t->timed_ns = 0;
		} else if (!t->timed_ns) {
			t->timed_ns = s->ts_ns;
			t->timed_end = t->next;
		}
		if (!err)
			err = drain(t, s->ts_ns, k);
	}
	return err ? err : settle(t, k);
}

static void measure(struct tcp_side *t, uint32_t ack, uint64_t ts_ns)
{
	if (!t->timed_ns || tcp_is_old(ack, t->timed_end))
		return;
	if (ts_ns > t->timed_ns) {
		uint64_t us = (ts_ns - t->timed_ns + 999) / 1000;
		uint32_t rtt = us < 0x1fffffff ? us : 0x1fffffff;

		/* RFC 6298: smoothed with a weight of 1/8 for each new measurement. */
		t->srtt_us = t->srtt_us ? ((uint64_t)t->srtt_us * 7 + rtt + 4) / 8 : rtt;
	}
	t->timed_ns = 0;
}

int tcp_side__ack(struct tcp_side *t, uint32_t ack, uint64_t ts_ns, const struct tcp_sink *k)
{
	if (!t->has_acked || !tcp_is_old(ack, t->acked))
		t->acked = ack;
	t->has_acked = true;
	if (!t->begun)
		return 0;
	measure(t, ack, ts_ns);
	return settle(t, k);
}

void tcp_side__fin(struct tcp_side *t, uint32_t seq)
{
	if (!t->begun)
		tcp_side__begin(t, seq);
	if (t->fin)
		return;
	t->fin = true;
	t->fin_seq = seq;
	check_finished(t);
}

bool tcp_side__is_whole(const struct tcp_side *t)
{
	uint32_t end = t->fin ? t->fin_seq : t->has_acked ? t->acked : t->next;

	return t->begun && (end == t->next || tcp_is_old(end, t->next));
}
