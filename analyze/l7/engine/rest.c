/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compact form of an idle connection. Hundreds of thousands of connections may be open and
 * silent, and most of their words are zero or small numbers. Of each 8-byte word only the
 * significant bytes are stored.
 *
 *   sizes   of all words, two in a byte     | bytes
 *   0 0 3 1 0 6 ...                         | 41 20 0f  07  a0 5c 33 12 7f 00 ...
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/conn.h"

enum { MARKS = 2, STATE_MAX = 8192 };

/* What is packed: the connection, its marks (allocated separately otherwise), and the parser's
 * state. */
struct unpacked {
	struct l7_conn c;
	struct mark marks[2][MARKS];
	uint64_t state[STATE_MAX / 8];
};

struct l7_rest {
	uint16_t sz, cnt; /* size in bytes; number of words */
	uint8_t bytes[];
};

/* ---- words ---- */

static unsigned significant(uint64_t v)
{
	return v ? 8 - __builtin_clzll(v) / 8 : 0;
}

static struct l7_rest *pack(const uint64_t *words, size_t cnt)
{
	size_t sizes = (cnt + 1) / 2, sz = sizeof(struct l7_rest) + sizes;
	struct l7_rest *r;
	uint8_t *to;

	for (size_t i = 0; i < cnt; i++)
		sz += significant(words[i]);
	r = calloc(1, sz);
	if (!r)
		return NULL;
	r->sz = sz;
	r->cnt = cnt;
	to = r->bytes + sizes;
	for (size_t i = 0; i < cnt; i++) {
		unsigned n = significant(words[i]);

		r->bytes[i / 2] |= n << 4 * (i % 2);
		memcpy(to, &words[i], n); /* little-endian, like all hosts that obana supports */
		to += n;
	}
	return r;
}

static void unpack(const struct l7_rest *r, uint64_t *words)
{
	const uint8_t *from = r->bytes + (r->cnt + 1) / 2;

	for (size_t i = 0; i < r->cnt; i++) {
		unsigned n = r->bytes[i / 2] >> 4 * (i % 2) & 15;

		words[i] = 0;
		memcpy(&words[i], from, n);
		from += n;
	}
}

/* ---- the connection ---- */

static size_t state_sz(const struct l7_conn *c)
{
	const struct l7_protocol *p = c->protocol;

	return p && !p->state_stays && p->state_sz <= STATE_MAX ? p->state_sz : 0;
}

/* At most a few thousand words, so sizes fit in 16 bits. */
static size_t words_of(const struct l7_conn *c)
{
	return offsetof(struct unpacked, state) / 8 + (state_sz(c) + 7) / 8;
}

static bool may_rest(const struct l7_conn *c)
{
	for (int d = 0; d < 2; d++)
		if (c->dir[d].stream.cnt || c->dir[d].stream.mark_cnt > MARKS || c->dir[d].tail)
			return false;
	return c->arena != &c->own_arena && !c->finished;
}

struct l7_rest *l7_conn__rest(struct l7_conn *c)
{
	struct unpacked u;
	struct l7_rest *r;

	if (!may_rest(c))
		return NULL;
	memset(&u, 0, offsetof(struct unpacked, state) + (state_sz(c) + 7) / 8 * 8);
	memcpy(&u.c, c, sizeof(u.c));
	for (int d = 0; d < 2; d++) {
		struct stream *s = &u.c.dir[d].stream;

		if (s->mark_cnt)
			memcpy(u.marks[d], s->marks + s->mark_first,
			       s->mark_cnt * sizeof(*s->marks));
		s->segs = NULL;
		s->marks = NULL;
		s->cap = s->first = s->mark_cap = s->mark_first = 0;
	}
	/* clear pointers into the connection itself */
	u.c.parser.engine = NULL;
	u.c.parser.opts = NULL;
	u.c.pair.out.ctx = NULL;
	if (c->protocol && state_sz(c)) {
		memcpy(u.state, c->parser.state, state_sz(c));
		u.c.parser.state = NULL;
	}
	r = pack((const uint64_t *)&u, words_of(c));
	if (!r)
		return NULL;
	for (int d = 0; d < 2; d++) {
		free(c->dir[d].stream.segs);
		free(c->dir[d].stream.marks);
	}
	if (state_sz(c))
		free(c->parser.state);
	free(c);
	return r;
}

/* Moves marks and state into separate allocations again. */
static bool take_apart(struct l7_conn *c, const struct unpacked *u)
{
	for (int d = 0; d < 2; d++) {
		struct stream *s = &c->dir[d].stream;

		if (!s->mark_cnt)
			continue;
		s->marks = malloc(sizeof(u->marks[d]));
		if (!s->marks)
			return false;
		memcpy(s->marks, u->marks[d], sizeof(u->marks[d]));
		s->mark_cap = MARKS;
	}
	if (!state_sz(c))
		return true;
	c->parser.state = malloc(state_sz(c));
	if (c->parser.state)
		memcpy(c->parser.state, u->state, state_sz(c));
	return c->parser.state;
}

struct l7_conn *l7_rest__wake(struct l7_rest *r)
{
	struct l7_conn *c = malloc(sizeof(*c));
	struct unpacked u;

	if (!c)
		return NULL;
	unpack(r, (uint64_t *)&u);
	*c = u.c;
	if (!take_apart(c, &u)) {
		free(c->dir[0].stream.marks);
		free(c->dir[1].stream.marks);
		free(c);
		return NULL;
	}
	if (c->protocol) {
		c->parser.engine = c;
		c->parser.opts = &c->opts;
		pair_moved(&c->pair, c);
	}
	free(r);
	return c;
}

size_t l7_rest__held(const struct l7_rest *r)
{
	return r->sz;
}
