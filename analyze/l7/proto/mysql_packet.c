/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/mysql_packet.h"
#include "analyze/l7/proto/sqltext.h"

enum { ATTRIBUTES_MAX = 65535, REFUSAL_MAX = 512 };

enum mysql_at mysql_packet_at(const struct l7_view *v, uint64_t off, struct mysql_packet *k)
{
	const uint8_t *p = v->p + off;
	uint64_t left = v->len - off;
	size_t want;

	if (left < 4)
		return MYSQL_SHORT;
	k->len = p[0] | p[1] << 8 | (uint32_t)p[2] << 16;
	k->seq = p[3];
	k->p = p + 4;
	k->have = left - 4 < k->len ? left - 4 : k->len;
	want = k->have && *k->p == 0xff ? MYSQL_LOOK_ERROR : MYSQL_LOOK;
	if (v->cut || v->last)
		want = 1;
	return k->have < (k->len < want ? k->len : want) ? MYSQL_SHORT : MYSQL_PACKET;
}

bool mysql_is_eof(const struct mysql_packet *k)
{
	return k->len == 5 && k->have && *k->p == 0xfe;
}

unsigned mysql_eof_flags(const struct mysql_packet *k)
{
	return k->have >= 5 ? k->p[3] | k->p[4] << 8 : 0;
}

uint64_t mysql_lenenc(struct l7_cursor *c)
{
	uint64_t first = l7_be(c, 1);

	switch (first) {
	case 0xfc:
		return l7_le(c, 2);
	case 0xfd:
		return l7_le(c, 3);
	case 0xfe:
		return l7_le(c, 8);
	default:
		return first < 0xfb ? first : 0;
	}
}

struct span mysql_string(struct l7_cursor *c)
{
	size_t left = c->end - c->p;
	const uint8_t *zero = c->cut ? NULL : memchr(c->p, 0, left);
	struct span s = {(const char *)c->p, zero ? (size_t)(zero - c->p) : left};

	c->p += s.len + (zero != NULL);
	return s;
}

/* Size of a value in the binary protocol. */
static uint64_t value_size(struct l7_cursor *c, unsigned type)
{
	static const uint8_t fixed[] = {
		[1] = 1, [2] = 2, [3] = 4, [4] = 4, [5] = 8, [6] = 0, [8] = 8, [9] = 4, [13] = 2};

	switch (type) {
	case 7: /* date and time: variable length */
	case 10:
	case 11:
	case 12:
		return l7_be(c, 1);
	case 6:
		return 0;
	default:
		return type < sizeof(fixed) && fixed[type] ? fixed[type] : mysql_lenenc(c);
	}
}

/*
 * CLIENT_QUERY_ATTRIBUTES, used by MySQL 8 clients: the number of attributes, the number of sets
 * (always 1). If there are attributes: a NULL bitmap, 1, type:2 and name of each, their values. The
 * second byte of SQL text is never 1, so this can be recognized without having seen the login.
 */
static bool pass_attributes(struct l7_cursor *c)
{
	uint64_t cnt = mysql_lenenc(c);
	const uint8_t *nulls, *types;
	struct l7_cursor names;

	if (l7_be(c, 1) != 1 || cnt > ATTRIBUTES_MAX)
		return false;
	nulls = cnt ? l7_take(c, (cnt + 7) / 8) : c->p;
	if (cnt && l7_be(c, 1) != 1)
		return c->cut;
	types = c->p;
	for (uint64_t i = 0; i < cnt && !c->cut; i++) {
		l7_take(c, 2);
		l7_take(c, mysql_lenenc(c));
	}
	names = l7_cursor_at(types, c->end - types);
	for (uint64_t i = 0; i < cnt && !c->cut; i++) {
		unsigned type = l7_le(&names, 2) & 0xff;

		l7_take(&names, mysql_lenenc(&names));
		if (!(nulls[i / 8] >> i % 8 & 1))
			l7_take(c, value_size(c, type));
	}
	return true;
}

struct span mysql_query_text(const struct mysql_packet *k)
{
	struct l7_cursor c = l7_cursor_at(k->p + 1, k->have ? k->have - 1 : 0), text = c;

	if (k->have < 3 || !pass_attributes(&text))
		text = c;
	return text.cut ? (struct span){"", 0}
			: (struct span){(const char *)text.p, l7_left(&text)};
}

bool mysql_is_refusal(const struct mysql_packet *k)
{
	unsigned code = k->have < 12 ? 0 : k->p[1] | k->p[2] << 8;

	if (k->seq || k->len > REFUSAL_MAX || k->have < k->len || code < 1000 || code >= 5000 ||
	    *k->p != 0xff)
		return false;
	for (size_t i = 3; i < k->len; i++)
		if (k->p[i] < ' ' || k->p[i] == 0x7f)
			return false;
	return true;
}

/* ---- bidding ---- */

static bool greeting(const struct l7_view *v, const struct mysql_packet *k)
{
	const uint8_t *zero;

	if (k->seq || k->have < 20 || *k->p != 10 || 4 + (uint64_t)k->len != v->known)
		return false;
	zero = memchr(k->p + 1, 0, k->have - 1 < 128 ? k->have - 1 : 128);
	if (!zero || zero - k->p < 4 || zero + 13 >= k->p + k->have || zero[13])
		return false;
	for (const uint8_t *p = k->p + 1; p < zero; p++)
		if (*p < 0x20 || *p > 0x7e)
			return false;
	return k->p[1] >= '0' && k->p[1] <= '9';
}

static bool login(const struct mysql_packet *k)
{
	static const uint8_t zeros[19];

	return k->seq == 1 && k->len >= 32 && k->have >= 32 && k->p[1] & MYSQL_PROTOCOL_41 >> 8 &&
	       !memcmp(k->p + 9, zeros, sizeof(zeros)) &&
	       (k->len == 32 || k->have < 33 || k->p[32]);
}

/* 0: not a command; else the confidence. */
static int command(const struct l7_view *v, const struct mysql_packet *k)
{
	if (k->seq || !k->len || !k->have || 4 + (uint64_t)k->len > v->known)
		return 0;
	switch (*k->p) {
	case COM_QUERY:
	case COM_STMT_PREPARE:
		return sql_begins(mysql_query_text(k), SQL_MYSQL) ? 85 : 0;
	case COM_STMT_EXECUTE:
		/* id:4, flags:1, iterations:4, always 1 */
		return k->have >= 10 && k->p[5] <= 15 && !memcmp(k->p + 6, "\1\0\0", 4) ? 80 : 0;
	case COM_STMT_SEND_LONG_DATA:
		return k->len >= 7 && 4 + (uint64_t)k->len == v->known ? 30 : 0;
	case COM_STMT_CLOSE:
	case COM_STMT_RESET:
		return k->len == 5 ? 40 : 0;
	case COM_STMT_FETCH:
		return k->len == 9 ? 40 : 0;
	case COM_INIT_DB:
		return k->have > 1 && k->have == k->len && !memchr(k->p + 1, 0, k->have - 1) ? 30
											     : 0;
	case COM_PING:
	case COM_QUIT:
	case COM_STATISTICS:
	case COM_RESET_CONNECTION:
		return k->len == 1 && v->known == 5 ? 40 : 0;
	default:
		return 0;
	}
}

/* Number of consecutive packets up to the end of the call, numbered from 1 on; 0: not such
 * packets. */
static unsigned numbered(const struct l7_view *v)
{
	struct mysql_packet k;
	uint64_t off = 0;
	unsigned cnt = 0;

	while (off < v->len) {
		if (v->len - off < 4)
			return v->cut ? cnt : 0;
		k.len = v->p[off] | v->p[off + 1] << 8 | (uint32_t)v->p[off + 2] << 16;
		if (v->p[off + 3] != (uint8_t)(cnt + 1))
			return 0;
		cnt++;
		off += 4 + (uint64_t)k.len;
	}
	return off == v->known || (v->cut && off < v->known) ? cnt : 0;
}

/* 0: not the first packet of a response; else the confidence. */
static int answer(const struct l7_view *v, const struct mysql_packet *k)
{
	struct mysql_packet next;

	if (k->seq != 1 || !k->have || 4 + (uint64_t)k->len > v->known)
		return 0;
	if (numbered(v) > 2)
		return 85;
	if (!*k->p)
		return k->len < 7 || k->len >= 1024 ? 0 : numbered(v) ? 60 : 40;
	if (*k->p == 0xff)
		return k->have >= 9 && k->p[3] == '#' && k->p[4] >= '0' ? 80 : 0;
	if (mysql_is_eof(k))
		return 50;
	if (k->len > 9)
		return 0;
	/* A column count, then the first column: "def" as its catalog. */
	if (4 + (uint64_t)k->len + 8 <= v->len &&
	    mysql_packet_at(v, 4 + k->len, &next) == MYSQL_PACKET)
		return next.seq == 2 && next.have >= 4 && !memcmp(next.p, "\3def", 4) ? 90 : 0;
	return v->known == 4 + (uint64_t)k->len || v->cut ? 40 : 0;
}

/* Confidence that v carries requests (+) or responses (-); 0: neither. */
static int looks_like(const struct l7_view *v)
{
	struct l7_view whole = *v;
	struct mysql_packet k;

	whole.last = true; /* judge what is there now */
	if (mysql_packet_at(&whole, 0, &k) != MYSQL_PACKET)
		return 0;
	if (greeting(v, &k))
		return -100;
	if (mysql_is_refusal(&k) && 4 + (uint64_t)k.len == v->known)
		return -90;
	if (login(&k))
		return 95;
	return command(v, &k) ? command(v, &k) : -answer(v, &k);
}

int mysql_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	int s = looks_like(sent), r = looks_like(received), best;

	if (!s && !r)
		return 0;
	if ((s > 0 && r > 0) || (s < 0 && r < 0))
		return 0;
	*requests_sent = s > 0 || r < 0;
	best = s > 0 ? s : r > 0 ? r : 0;
	/* Rows in the middle of a response prove nothing: then the request decides. */
	if (s && r) {
		int answers = s < 0 ? -s : -r;

		return answers > best	? (best < 60 && answers < 80 ? 70 : 95)
		       : best + 10 > 95 ? 95
					: best + 10;
	}
	if (sent->len && received->len)
		return best >= 80 ? 75 : 0;
	return best ? best : s < 0 ? -s : -r;
}
