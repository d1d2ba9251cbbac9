/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/postgresql_message.h"
#include "analyze/l7/proto/sqltext.h"

enum { LOOK = 2048, SMALL_MAX = 1 << 16 };
#define LEN_MAX (1u << 30)

/* Message types with bounds of their length; texts and rows have none. */
static const struct shape {
	char type;
	uint32_t min, max;
	bool look; /* the parser reads its body */
} frontend[] =
	{
		{'Q', 5, LEN_MAX, true},    {'P', 8, LEN_MAX, true},   {'B', 12, LEN_MAX, true},
		{'E', 9, SMALL_MAX, true},  {'D', 6, SMALL_MAX, true}, {'C', 6, SMALL_MAX, true},
		{'S', 4, 4, false},	    {'H', 4, 4, false},	       {'X', 4, 4, false},
		{'p', 5, SMALL_MAX, false}, {'d', 4, LEN_MAX, false},  {'c', 4, 4, false},
		{'f', 5, SMALL_MAX, false}, {'F', 14, LEN_MAX, false},
},
  backend[] = {
	  {'R', 8, SMALL_MAX, false}, {'K', 8, 264, false},	  {'S', 6, SMALL_MAX, false},
	  {'Z', 5, 5, true},	      {'T', 6, 1 << 24, false},	  {'D', 6, LEN_MAX, false},
	  {'C', 6, 256, true},	      {'E', 6, SMALL_MAX, true},  {'N', 6, SMALL_MAX, false},
	  {'A', 10, SMALL_MAX, true}, {'I', 4, 4, false},	  {'n', 4, 4, false},
	  {'s', 4, 4, false},	      {'t', 6, 1 << 20, false},	  {'1', 4, 4, false},
	  {'2', 4, 4, false},	      {'3', 4, 4, false},	  {'d', 4, LEN_MAX, false},
	  {'c', 4, 4, false},	      {'G', 7, SMALL_MAX, false}, {'H', 7, SMALL_MAX, false},
	  {'W', 7, SMALL_MAX, false}, {'V', 8, LEN_MAX, false},	  {'v', 8, SMALL_MAX, false},
};

static const struct shape *shape_of(enum pg_side side, char type)
{
	const struct shape *s = side == PG_FRONTEND ? frontend : backend;
	size_t cnt =
		side == PG_FRONTEND ? sizeof(frontend) / sizeof(*s) : sizeof(backend) / sizeof(*s);

	for (size_t i = 0; i < cnt; i++)
		if (s[i].type == type)
			return &s[i];
	return NULL;
}

enum pg_at pg_message_at(const struct l7_view *v, uint64_t off, enum pg_side side,
			 struct pg_message *k)
{
	const uint8_t *p = v->p + off;
	uint64_t left = v->len - off;
	const struct shape *shape;
	uint32_t body;

	if (!left)
		return PG_SHORT;
	k->type = *p;
	shape = shape_of(side, k->type);
	if (!shape)
		return PG_NOT;
	if (left < 5)
		return PG_SHORT;
	k->len = (uint32_t)p[1] << 24 | p[2] << 16 | p[3] << 8 | p[4];
	if (k->len < shape->min || k->len > shape->max)
		return PG_NOT;
	body = k->len - 4;
	k->p = p + 5;
	k->have = left - 5 < body ? left - 5 : body;
	if (shape->look && k->have < (body < LOOK ? body : LOOK) && !v->cut && !v->last)
		return PG_SHORT;
	return PG_MESSAGE;
}

bool pg_is_startup(const struct l7_view *v)
{
	struct l7_cursor c = l7_cursor(v);
	uint32_t len = l7_be(&c, 4), code = l7_be(&c, 4);

	if (c.cut || len < 8 || len > 10000)
		return false;
	if (code == PG_VERSION_3) /* the name of the first parameter follows */
		return v->known >= len && v->len > 8 && v->p[8] >= 'a' && v->p[8] <= 'z';
	return ((code == PG_SSL || code == PG_GSS) && len == 8) || (code == PG_CANCEL && len == 16);
}

bool pg_is_ready(const uint8_t *p)
{
	return !memcmp(p, "Z\0\0\0\5", 5) && (p[5] == 'I' || p[5] == 'T' || p[5] == 'E');
}

struct span pg_string(struct l7_cursor *c)
{
	size_t left = c->end - c->p;
	const uint8_t *zero = c->cut || !left ? NULL : memchr(c->p, 0, left);
	struct span s = {(const char *)c->p, zero ? (size_t)(zero - c->p) : left};

	c->p += s.len + (zero != NULL);
	return s;
}

/* ---- bidding ---- */

/* Does the body match its type? */
static int body_fits(enum pg_side side, const struct pg_message *k)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};
	struct span s;

	if (side == PG_FRONTEND && (k->type == 'Q' || k->type == 'P')) {
		if (k->type == 'P')
			pg_string(&c);
		s = pg_string(&c);
		return sql_begins(s, SQL_POSTGRESQL) ? 2 : s.len < 2 ? 1 : 0;
	}
	if (side == PG_BACKEND && k->type == 'Z')
		return k->have && strchr("ITE", *k->p) && *k->p ? 2 : 0;
	if (side == PG_BACKEND && k->type == 'C')
		return k->have && *k->p >= 'A' && *k->p <= 'Z' ? 2 : 0;
	if (side == PG_BACKEND && (k->type == 'E' || k->type == 'N'))
		return k->have && *k->p == 'S' ? 2 : 0;
	if (side == PG_BACKEND && k->type == 'R')
		return k->have >= 4 && !memcmp(k->p, "\0\0\0", 3) && k->p[3] <= 12 ? 2 : 0;
	return 1;
}

/* Evidence from the chain of messages at the beginning; 0: not messages. */
static int chain(const struct l7_view *v, enum pg_side side)
{
	struct l7_view whole = *v;
	uint64_t off = 0;
	int points = 0;

	whole.last = true;
	while (off < v->len && points < 8) {
		struct pg_message k;
		enum pg_at at = pg_message_at(&whole, off, side, &k);
		int fits;

		if (at == PG_SHORT)
			return points;
		fits = at == PG_MESSAGE ? body_fits(side, &k) : 0;
		if (!fits)
			return 0;
		off += 1 + (uint64_t)k.len;
		points += fits;
	}
	/* The chain ends with its call, or contains better evidence than a length. */
	return off == v->known || points > 2 || v->cut ? points : points / 2;
}

int pg_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	int sf = chain(sent, PG_FRONTEND), sb = chain(sent, PG_BACKEND),
	    rf = chain(received, PG_FRONTEND), rb = chain(received, PG_BACKEND);
	int out = sf + rb, in = sb + rf, best;
	bool both = sent->len && received->len;

	if (pg_is_startup(sent) || pg_is_startup(received)) {
		*requests_sent = pg_is_startup(sent);
		return 100;
	}
	if (both && !(sf && rb))
		out = sf >= 2 && !rb ? 2 : 0;
	if (both && !(rf && sb))
		in = rf >= 2 && !sb ? 2 : 0;
	best = out > in ? out : in;
	if (out == in || best < 1)
		return 0;
	*requests_sent = out > in;
	if (both && ((out > in ? sf && rb : rf && sb)))
		return best >= 4 ? 95 : best >= 3 ? 85 : 45;
	return best >= 4 ? 85 : best >= 2 ? 60 : 20;
}
