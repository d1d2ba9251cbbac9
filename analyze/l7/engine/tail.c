/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message may extend beyond the bytes seen so far: a body of which only the beginning was
 * captured, or which is still being sent. It waits as the `tail` of its direction until its last
 * byte has passed. Its times are then right, and nothing after it is parsed earlier.
 */
#include <stdlib.h>

#include "format/text.h"

#include "analyze/l7/engine/conn.h"

void l7_partial(struct l7_parser *parser, struct l7_message *m)
{
	static const char request[] = "{\"request_bytes\":\"at least\"}";
	struct span more = span_of(m->type == L7_RESPONSE ? L7_NO_END : request);

	if (m->partial)
		return;
	m->partial = true;
	m->no_end = m->type == L7_RESPONSE;
	m->detail = m->detail.len <= 2 ? more
				       : l7_text(parser, "%.*s,%s", (int)m->detail.len - 1,
						 m->detail.p, more.p + 1);
}

/* The message ends at `end`, by its own length. Bytes that have not been seen are subtracted from
 * its size. */
static void leave_unseen(struct l7_conn *c, const struct direction *d, struct l7_message *m,
			 uint64_t end)
{
	uint64_t seen = stream_end(&d->stream);

	if (m->type == L7_SKIP || seen >= end)
		return;
	m->size -= end - seen < m->size ? end - seen : m->size;
	l7_partial(&c->parser, m);
}

/* The response comes before the end of its request: the request counts as far as it was seen. */
static void overtake(struct l7_conn *c, struct direction *other, const struct l7_message *resp)
{
	struct l7_message *q = other->tail ? &other->tail->m : NULL;

	if (!q || q->type != L7_REQUEST || pair_pending(&c->pair, resp->id) ||
	    (c->pair.by_id && q->id != resp->id))
		return;
	q->last_ns = resp->first_ns;
	leave_unseen(c, other, q, other->tail_end);
	c->stats.messages++;
	pair_add(&c->pair, q);
	q->type = L7_SKIP;
}

void tail_finish(struct l7_conn *c, struct direction *d, struct l7_message *m, uint64_t end)
{
	if (m->type == L7_RESPONSE && !m->interim)
		overtake(c, &c->dir[!dir_of(c, d)], m);
	leave_unseen(c, d, m, end);
	m->last_ns = stream_time(&d->stream, end - 1);
	if (!m->last_ns)
		m->last_ns = m->first_ns > c->now_ns ? m->first_ns : c->now_ns;
	c->stats.messages += m->type != L7_SKIP;
	pair_add(&c->pair, m);
}

void tail_hold(struct l7_conn *c, struct direction *d, struct l7_message *m, uint64_t end)
{
	d->tail = waiting_new(m);
	d->tail_end = end;
	if (!d->tail)
		tail_finish(c, d, m, end);
}

void tail_release(struct l7_conn *c, struct direction *d)
{
	struct waiting *w = d->tail;

	d->tail = NULL;
	tail_finish(c, d, &w->m, d->tail_end);
	free(w);
}
