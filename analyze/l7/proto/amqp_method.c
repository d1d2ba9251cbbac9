/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/amqp_method.h"

enum { FRAME_END = 0xce, FRAME_MAX = 1 << 26, METHOD_MAX = 1 << 20, HEADER_MIN = 14, BASIC = 60 };

/*
 * Layout of the arguments, one character each:
 *   w n  2, 4 octets to skip   b  bits   d  delivery tag:8   c  reply code:2   i  class:2 method:2
 *   m    a number:4 to show    s S  short, long string or table to skip
 *   q x k g e v  short strings: queue, exchange, routing key, consumer tag, text, virtual host
 *
 * Anything may follow the last one listed.
 */
#define C AMQP_FROM_CLIENT
#define S AMQP_FROM_SERVER
#define B (AMQP_FROM_CLIENT | AMQP_FROM_SERVER)
static const struct amqp_method methods[] = {
	{10, 10, "connection.start", S, AMQP_ASKS, .args = "bb"},
	{10, 11, "connection.start-ok", C, AMQP_ANSWERS, .answers = 10, .args = "S"},
	{10, 20, "connection.secure", S, AMQP_ASKS, .args = "S"},
	{10, 21, "connection.secure-ok", C, AMQP_ANSWERS, .answers = 20, .args = "S"},
	{10, 30, "connection.tune", S, AMQP_ASKS, .args = "wmw"},
	{10, 31, "connection.tune-ok", C, AMQP_ANSWERS, .answers = 30, .args = "wmw"},
	{10, 40, "connection.open", C, AMQP_ASKS, .args = "v"},
	{10, 41, "connection.open-ok", S, AMQP_ANSWERS, .answers = 40, .args = "s"},
	{10, 50, "connection.close", B, AMQP_ASKS, .args = "cei"},
	{10, 51, "connection.close-ok", B, AMQP_ANSWERS, .answers = 50, .args = ""},
	{10, 60, "connection.blocked", S, AMQP_ONEWAY, .args = "e"},
	{10, 61, "connection.unblocked", S, AMQP_ONEWAY, .args = ""},
	{10, 70, "connection.update-secret", C, AMQP_ASKS, .args = "Se"},
	{10, 71, "connection.update-secret-ok", S, AMQP_ANSWERS, .answers = 70, .args = ""},
	{20, 10, "channel.open", C, AMQP_ASKS, .args = "s"},
	{20, 11, "channel.open-ok", S, AMQP_ANSWERS, .answers = 10, .args = "S"},
	{20, 20, "channel.flow", B, AMQP_ASKS, .args = "b"},
	{20, 21, "channel.flow-ok", B, AMQP_ANSWERS, .answers = 20, .args = "b"},
	{20, 40, "channel.close", B, AMQP_ASKS, .args = "cei"},
	{20, 41, "channel.close-ok", B, AMQP_ANSWERS, .answers = 40, .args = ""},
	{30, 10, "access.request", C, AMQP_ASKS, .args = "sb"}, /* clients older than 0-9-1 */
	{30, 11, "access.request-ok", S, AMQP_ANSWERS, .answers = 10, .args = "w"},
	{40, 10, "exchange.declare", C, AMQP_ASKS, .args = "wxsbS", .no_wait = 16},
	{40, 11, "exchange.declare-ok", S, AMQP_ANSWERS, .answers = 10, .args = ""},
	{40, 20, "exchange.delete", C, AMQP_ASKS, .args = "wxb", .no_wait = 2},
	{40, 21, "exchange.delete-ok", S, AMQP_ANSWERS, .answers = 20, .args = ""},
	{40, 30, "exchange.bind", C, AMQP_ASKS, .args = "wxskbS", .no_wait = 1},
	{40, 31, "exchange.bind-ok", S, AMQP_ANSWERS, .answers = 30, .args = ""},
	{40, 40, "exchange.unbind", C, AMQP_ASKS, .args = "wxskbS", .no_wait = 1},
	{40, 51, "exchange.unbind-ok", S, AMQP_ANSWERS, .answers = 40, .args = ""},
	{50, 10, "queue.declare", C, AMQP_ASKS, .args = "wqbS", .no_wait = 16},
	{50, 11, "queue.declare-ok", S, AMQP_ANSWERS, .answers = 10, .args = "qmm"},
	{50, 20, "queue.bind", C, AMQP_ASKS, .args = "wqxkbS", .no_wait = 1},
	{50, 21, "queue.bind-ok", S, AMQP_ANSWERS, .answers = 20, .args = ""},
	{50, 30, "queue.purge", C, AMQP_ASKS, .args = "wqb", .no_wait = 1},
	{50, 31, "queue.purge-ok", S, AMQP_ANSWERS, .answers = 30, .args = "m"},
	{50, 40, "queue.delete", C, AMQP_ASKS, .args = "wqb", .no_wait = 4},
	{50, 41, "queue.delete-ok", S, AMQP_ANSWERS, .answers = 40, .args = "m"},
	{50, 50, "queue.unbind", C, AMQP_ASKS, .args = "wqxkS"},
	{50, 51, "queue.unbind-ok", S, AMQP_ANSWERS, .answers = 50, .args = ""},
	{60, 10, "basic.qos", C, AMQP_ASKS, .args = "nwb"},
	{60, 11, "basic.qos-ok", S, AMQP_ANSWERS, .answers = 10, .args = ""},
	{60, 20, "basic.consume", C, AMQP_ASKS, .args = "wqgbS", .no_wait = 8},
	{60, 21, "basic.consume-ok", S, AMQP_ANSWERS, .answers = 20, .args = "g"},
	{60, 30, "basic.cancel", B, AMQP_ASKS, .args = "gb", .no_wait = 1},
	{60, 31, "basic.cancel-ok", B, AMQP_ANSWERS, .answers = 30, .args = "g"},
	{60, 40, "basic.publish", C, AMQP_ONEWAY, .content = true, .args = "wxkb"},
	{60, 50, "basic.return", S, AMQP_ONEWAY, .content = true, .args = "cexk"},
	{60, 60, "basic.deliver", S, AMQP_ONEWAY, .content = true, .args = "gdbxk"},
	{60, 70, "basic.get", C, AMQP_ASKS, .args = "wqb"},
	{60, 71, "basic.get-ok", S, AMQP_ANSWERS, .content = true, .answers = 70, .args = "dbxkm"},
	{60, 72, "basic.get-empty", S, AMQP_ANSWERS, .answers = 70, .args = "s"},
	{60, 80, "basic.ack", B, AMQP_ONEWAY, .args = "db"},
	{60, 90, "basic.reject", C, AMQP_ONEWAY, .args = "db"},
	{60, 100, "basic.recover-async", C, AMQP_ONEWAY, .args = "b"},
	{60, 110, "basic.recover", C, AMQP_ASKS, .args = "b"},
	{60, 111, "basic.recover-ok", S, AMQP_ANSWERS, .answers = 110, .args = ""},
	{60, 120, "basic.nack", B, AMQP_ONEWAY, .args = "db"},
	{85, 10, "confirm.select", C, AMQP_ASKS, .args = "b", .no_wait = 1},
	{85, 11, "confirm.select-ok", S, AMQP_ANSWERS, .answers = 10, .args = ""},
	{90, 10, "tx.select", C, AMQP_ASKS, .args = ""},
	{90, 11, "tx.select-ok", S, AMQP_ANSWERS, .answers = 10, .args = ""},
	{90, 20, "tx.commit", C, AMQP_ASKS, .args = ""},
	{90, 21, "tx.commit-ok", S, AMQP_ANSWERS, .answers = 20, .args = ""},
	{90, 30, "tx.rollback", C, AMQP_ASKS, .args = ""},
	{90, 31, "tx.rollback-ok", S, AMQP_ANSWERS, .answers = 30, .args = ""},
};
#undef C
#undef S
#undef B
enum { METHOD_CNT = sizeof(methods) / sizeof(methods[0]) };

const struct amqp_method *amqp_method_find(unsigned class_id, unsigned id)
{
	for (size_t i = 0; i < METHOD_CNT; i++)
		if (methods[i].class_id == class_id && methods[i].id == id)
			return &methods[i];
	return NULL;
}

size_t amqp_method_index(const struct amqp_method *m)
{
	return m - methods;
}

const struct amqp_method *amqp_method_by_index(size_t i)
{
	return i < METHOD_CNT ? &methods[i] : NULL;
}

static void one_arg(struct l7_cursor *c, char what, struct amqp_args *a, unsigned *numbers)
{
	struct span none, *to = what == 'q'   ? &a->queue
				: what == 'x' ? &a->exchange
				: what == 'k' ? &a->key
				: what == 'g' ? &a->tag
				: what == 'e' ? &a->text
				: what == 'v' ? &a->vhost
					      : &none;

	switch (what) {
	case 'w':
		l7_take(c, 2);
		break;
	case 'n':
		l7_take(c, 4);
		break;
	case 'b':
		a->bits = l7_be(c, 1);
		break;
	case 'd':
		a->delivery = l7_be(c, 8);
		break;
	case 'c':
		a->code = l7_be(c, 2);
		break;
	case 'i':
		a->class_id = l7_be(c, 2);
		a->method_id = l7_be(c, 2);
		break;
	case 'm':
		a->number[(*numbers)++ & 1] = l7_be(c, 4);
		break;
	case 'S':
		l7_take(c, l7_be(c, 4));
		break;
	default:
		*to = l7_counted(c, 1);
		break;
	}
}

struct amqp_args amqp_method_args(const struct amqp_frame *f)
{
	static const struct span none = {"", 0};
	struct amqp_args a = {none, none, none, none, none, none, .cut = false};
	struct l7_cursor c = l7_cursor_at(f->p, f->have);
	unsigned numbers = 0;

	l7_take(&c, 4);
	for (const char *what = f->method->args; *what && !c.cut; what++)
		one_arg(&c, *what, &a, &numbers);
	a.cut = c.cut && f->have < f->size;
	a.bad = c.cut && f->have == f->size;
	return a;
}

enum amqp_at amqp_frame_at(const struct l7_view *v, size_t off, struct amqp_frame *f)
{
	size_t left = v->len - off;
	struct l7_cursor c = l7_cursor_at(v->p + off, left);

	*f = (struct amqp_frame){.type = l7_be(&c, 1)};
	f->channel = l7_be(&c, 2);
	f->size = l7_be(&c, 4);
	if (left && !(f->type >= AMQP_METHOD && f->type <= AMQP_BODY) && f->type != AMQP_HEARTBEAT)
		return AMQP_NOT;
	if (c.cut)
		return AMQP_SHORT;
	f->p = c.p;
	f->have = left - AMQP_FRAME_HEAD < f->size ? left - AMQP_FRAME_HEAD : f->size;
	if (left - AMQP_FRAME_HEAD > f->size && f->p[f->size] != FRAME_END)
		return AMQP_NOT;
	if (f->size > (f->type == AMQP_BODY ? FRAME_MAX : METHOD_MAX) ||
	    (f->type == AMQP_HEARTBEAT && (f->size || f->channel)) ||
	    (f->type == AMQP_HEADER && f->size < HEADER_MIN) ||
	    (f->type == AMQP_METHOD && f->size < 4))
		return AMQP_NOT;
	if (f->type == AMQP_HEADER && f->have >= 4)
		return l7_be(&c, 4) == (uint32_t)BASIC << 16 ? AMQP_FRAME : AMQP_NOT;
	if (f->type == AMQP_METHOD && f->have >= 4) {
		unsigned class_id = l7_be(&c, 2);

		f->method = amqp_method_find(class_id, l7_be(&c, 2));
		/* Connection methods use channel 0, all others do not. */
		if (!f->method || (class_id == 10) != !f->channel)
			return AMQP_NOT;
		return AMQP_FRAME;
	}
	return f->type == AMQP_HEADER || f->type == AMQP_METHOD ? AMQP_SHORT : AMQP_FRAME;
}

bool amqp_is_greeting(const uint8_t *p, size_t len)
{
	return len && !memcmp(p, "AMQP\0\0\x09\x01", len < 8 ? len : 8);
}

/* ---- where frames begin, and whose they are ---- */

/* Weight of a frame as evidence: 0 none, 1 like a body frame, 2 certain. */
static int weight(const struct l7_view *v, size_t off, struct amqp_frame *f)
{
	bool whole;

	if (amqp_frame_at(v, off, f) != AMQP_FRAME)
		return 0;
	whole = v->len - off >= AMQP_FRAME_EXTRA + (uint64_t)f->size;
	if (f->type == AMQP_METHOD)
		return amqp_method_args(f).bad ? 0 : 2;
	if (f->type == AMQP_HEADER)
		return 2;
	return !whole ? 0 : f->type == AMQP_HEARTBEAT ? 2 : 1;
}

size_t amqp_resync(const struct l7_view *v, size_t from)
{
	struct amqp_frame f, next;

	for (size_t i = from; i < v->len; i++) {
		int w = weight(v, i, &f);
		size_t end = i + AMQP_FRAME_EXTRA + (size_t)f.size;

		if (w == 2 || (w == 1 && (end == v->len || weight(v, end, &next))))
			return i;
	}
	return v->len;
}

/* Evidence from the frames at the beginning; *from: who may send them. */
static int chain(const struct l7_view *v, unsigned *from)
{
	int points = 0;
	size_t off = 0;

	*from = AMQP_FROM_CLIENT | AMQP_FROM_SERVER;
	while (off < v->len && points < 8) {
		struct amqp_frame f;
		int w = weight(v, off, &f);

		if (!w)
			return points > 1 ? points : 0;
		if (f.method)
			*from &= f.method->from;
		if (!*from)
			return 0;
		points += w;
		off += AMQP_FRAME_EXTRA + (size_t)f.size;
	}
	return points;
}

int amqp_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	unsigned s_from, r_from;
	int s = chain(sent, &s_from), r = chain(received, &r_from);

	if (sent->len >= AMQP_GREETING_SZ && amqp_is_greeting(sent->p, AMQP_GREETING_SZ))
		return *requests_sent = 1, 100;
	if (received->len >= AMQP_GREETING_SZ && amqp_is_greeting(received->p, AMQP_GREETING_SZ))
		return *requests_sent = 0, 100;
	if (s + r < 2 ||
	    (s && r && s_from == r_from && s_from != (AMQP_FROM_CLIENT | AMQP_FROM_SERVER)))
		return 0;
	if ((s && s_from == AMQP_FROM_CLIENT) || (r && r_from == AMQP_FROM_SERVER))
		*requests_sent = 1;
	else if ((s && s_from == AMQP_FROM_SERVER) || (r && r_from == AMQP_FROM_CLIENT))
		*requests_sent = 0;
	/* One side may begin in the middle of a body. */
	return (sent->len && !s) || (received->len && !r) ? 80 : s + r > 2 ? 97 : 92;
}
