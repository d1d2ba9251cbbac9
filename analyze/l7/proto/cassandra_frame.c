/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <string.h>

#include "analyze/l7/proto/cassandra_frame.h"

enum {
	BODY_MAX = 1 << 28, /* native_protocol_v5.spec, 2.3 */
	SEGMENT_MAX = (1 << 17) - 1,
	ID_MAX = 64,
	EMPTY_MAX = 8,
	MD5_SZ = 16 /* size of a prepared id */
};

const char *cql_opcode_name(unsigned opcode)
{
	static const char *const names[] = {
		"ERROR",	 "STARTUP",	 "READY", "AUTHENTICATE", NULL,
		"OPTIONS",	 "SUPPORTED",	 "QUERY", "RESULT",	  "PREPARE",
		"EXECUTE",	 "REGISTER",	 "EVENT", "BATCH",	  "AUTH_CHALLENGE",
		"AUTH_RESPONSE", "AUTH_SUCCESS",
	};

	return opcode < sizeof(names) / sizeof(names[0]) ? names[opcode] : NULL;
}

const char *cql_error_name(uint32_t code)
{
	static const struct {
		uint32_t code;
		const char *name;
	} errors[] = {
		{0x0000, "SERVER_ERROR"},      {0x000a, "PROTOCOL_ERROR"},
		{0x0100, "BAD_CREDENTIALS"},   {0x1000, "UNAVAILABLE"},
		{0x1001, "OVERLOADED"},	       {0x1002, "IS_BOOTSTRAPPING"},
		{0x1003, "TRUNCATE_ERROR"},    {0x1100, "WRITE_TIMEOUT"},
		{0x1200, "READ_TIMEOUT"},      {0x1300, "READ_FAILURE"},
		{0x1400, "FUNCTION_FAILURE"},  {0x1500, "WRITE_FAILURE"},
		{0x1600, "CDC_WRITE_FAILURE"}, {0x1700, "CAS_WRITE_UNKNOWN"},
		{0x2000, "SYNTAX_ERROR"},      {0x2100, "UNAUTHORIZED"},
		{0x2200, "INVALID"},	       {0x2300, "CONFIG_ERROR"},
		{0x2400, "ALREADY_EXISTS"},    {0x2500, "UNPREPARED"},
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == code)
			return errors[i].name;
	return NULL;
}

/* ---- envelopes ---- */

static bool is_request_opcode(unsigned o)
{
	return o == CQL_STARTUP || o == CQL_OPTIONS || o == CQL_QUERY || o == CQL_PREPARE ||
	       o == CQL_EXECUTE || o == CQL_REGISTER || o == CQL_BATCH || o == CQL_AUTH_RESPONSE;
}

/* version:1 (high bit: response)  flags:1  stream:2  opcode:1  length:4 (big endian)  body */
enum cql_at cql_envelope_at(const uint8_t *p, size_t have, struct cql_envelope *e)
{
	struct l7_cursor c = l7_cursor_at(p, have);
	uint8_t version = l7_be(&c, 1);

	*e = (struct cql_envelope){.version = version & 0x7f, .response = version >> 7};
	e->flags = l7_be(&c, 1);
	e->stream = l7_be(&c, 2);
	e->opcode = l7_be(&c, 1);
	e->len = l7_be(&c, 4);
	if (have && (e->version < 3 || e->version > 5))
		return CQL_NOT;
	if (c.cut)
		return CQL_SHORT;
	if (e->flags & 0xe0 || e->len > BODY_MAX || !cql_opcode_name(e->opcode) ||
	    is_request_opcode(e->opcode) == e->response)
		return CQL_NOT;
	if (e->stream >> 15 && (e->opcode != CQL_EVENT && e->opcode != CQL_ERROR))
		return CQL_NOT;
	/* These have empty bodies, which take a few bytes if compressed. */
	if ((e->opcode == CQL_OPTIONS || e->opcode == CQL_READY) &&
	    e->len > (e->flags & CQL_COMPRESSED ? EMPTY_MAX : 0) && !(e->flags & ~CQL_COMPRESSED))
		return CQL_NOT;
	e->p = c.p;
	e->have = have - CQL_HEAD < e->len ? have - CQL_HEAD : e->len;
	return CQL_IS;
}

/* ---- segments ---- */

/* native_protocol_v5.spec, 2.2: CRC-24 of the first bytes of a header. */
static uint32_t crc24(const uint8_t *p, unsigned n)
{
	uint32_t crc = 0x875060;

	for (unsigned i = 0; i < n; i++) {
		crc ^= (uint32_t)p[i] << 16;
		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 23 & 1 ? 0x1974f0b : 0);
	}
	return crc & 0xffffff;
}

/* Little endian: length:17  whole:1  0:6  CRC:24, or length:17  raw:17  whole:1  0:5  CRC:24 */
enum cql_at cql_segment_at(const uint8_t *p, size_t have, struct cql_segment *s)
{
	for (unsigned n = 3; n <= 5; n += 2) {
		struct l7_cursor c = l7_cursor_at(p, have);
		uint64_t bits = l7_le(&c, n);
		uint32_t crc = l7_le(&c, 3);

		if (c.cut)
			return CQL_SHORT;
		/* Check the bits that are always 0 first; the CRC takes longer. */
		if (bits >> (n == 5 ? 35 : 18) || crc != crc24(p, n))
			continue;
		s->head = n + 3;
		s->len = bits & SEGMENT_MAX;
		s->raw = n == 5 ? bits >> 17 & SEGMENT_MAX : 0;
		s->whole = bits >> (n == 5 ? 34 : 17) & 1;
		return CQL_IS;
	}
	return CQL_NOT;
}

/* ---- bidding ---- */

static bool is_words(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isprint(p[i]) && !isspace(p[i]) && p[i] < 0x80)
			return false;
	return true;
}

/* Does the body match its opcode? 0 no, 1 possibly, 2 certainly. */
static int body_fits(const struct cql_envelope *e)
{
	struct l7_cursor c = l7_cursor_at(e->p, e->have);
	uint32_t n;

	if (e->flags & CQL_COMPRESSED || (e->flags && e->opcode != CQL_QUERY))
		return 1;
	switch (e->opcode) {
	case CQL_QUERY:
	case CQL_PREPARE:
		n = l7_be(&c, 4);
		if (e->flags & CQL_PAYLOAD)
			return 1;
		if (c.cut)
			return 1;
		if (!n || n > e->len - 4)
			return 0;
		return is_words(c.p, n < l7_left(&c) ? n : l7_left(&c)) ? 2 : 0;
	case CQL_EXECUTE:
		n = l7_be(&c, 2);
		return c.cut ? 1 : n && n <= ID_MAX && n + 5 <= e->len ? 1 + (n == MD5_SZ) : 0;
	case CQL_BATCH:
		n = l7_be(&c, 1);
		return c.cut ? 1 : n <= 2 && e->len > 5;
	case CQL_STARTUP:
	case CQL_REGISTER:
	case CQL_SUPPORTED:
		l7_take(&c, 2);
		n = l7_be(&c, 2);
		if (c.cut)
			return 1;
		return n && n < 64 && n + 4 <= e->len && c.p < c.end && isupper(*c.p) ? 2 : 0;
	case CQL_EVENT:
		n = l7_be(&c, 2);
		return c.cut ? 1
		       : n > 8 && n < 32 && n <= e->len && e->stream == 0xffff && c.p < c.end &&
				       isupper(*c.p)
			       ? 2
			       : 0;
	case CQL_AUTHENTICATE:
		n = l7_be(&c, 2);
		return c.cut ? 1 : n + 2 == e->len && is_words(c.p, l7_left(&c)) ? 2 : 0;
	case CQL_AUTH_RESPONSE:
	case CQL_AUTH_CHALLENGE:
	case CQL_AUTH_SUCCESS:
		n = l7_be(&c, 4);
		return c.cut ? 1 : n == UINT32_MAX ? e->len == 4 : n + 4 == e->len;
	case CQL_ERROR:
		n = l7_be(&c, 4);
		return c.cut ? 1 : cql_error_name(n) && e->len >= 6 ? 1 + (n > 0xff) : 0;
	case CQL_RESULT:
		n = l7_be(&c, 4);
		return c.cut ? 1 : n == 1 ? e->len == 4 : n && n <= 5 && e->len > 4;
	default:
		return 1;
	}
}

/* Evidence from the envelopes at the front; *from: 1 client, 2 server, 3 unknown. Segments leave no
 * doubt. */
static int chain(const struct l7_view *v, unsigned *from)
{
	struct cql_segment s = {0};
	struct cql_envelope e;
	uint64_t off = 0;
	int points = 0;

	*from = 3;
	while (off < v->len && points < 8) {
		int fits = 0;

		if (cql_segment_at(v->p + off, v->len - off, &s) == CQL_IS) {
			points += 4;
			if (!s.raw &&
			    cql_envelope_at(v->p + off + s.head, v->len - off - s.head, &e) ==
				    CQL_IS &&
			    body_fits(&e))
				*from &= e.response ? 2 : 1;
			off += s.head + (uint64_t)s.len + CQL_CRC_SZ;
			continue;
		}
		if (cql_envelope_at(v->p + off, v->len - off, &e) == CQL_IS)
			fits = body_fits(&e);
		if (!fits)
			return points > 2 ? points : 0;
		*from &= e.response ? 2 : 1;
		if (!*from)
			return 0;
		points += fits;
		off += CQL_HEAD + (uint64_t)e.len;
	}
	return points;
}

size_t cql_resync(const struct l7_view *v, size_t from)
{
	for (size_t i = from; i + CQL_HEAD < v->len; i++) {
		struct l7_view rest = {.p = v->p + i, .len = v->len - i, .known = v->known - i};
		struct cql_envelope e;
		struct cql_segment s;
		unsigned whose;

		if (cql_segment_at(rest.p, rest.len, &s) == CQL_IS)
			return i;
		if (cql_envelope_at(rest.p, rest.len, &e) == CQL_IS && e.response != v->requests &&
		    body_fits(&e) == 2 && chain(&rest, &whose) >= 2)
			return i;
	}
	return v->len;
}

int cql_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	unsigned s_from, r_from;
	int s = chain(sent, &s_from), r = chain(received, &r_from);
	bool both = s && r;

	if (s + r < 3 || (both && s_from != 3 && s_from == r_from))
		return 0;
	if ((s && s_from == 1) || (r && r_from == 2))
		*requests_sent = 1;
	else if ((s && s_from == 2) || (r && r_from == 1))
		*requests_sent = 0;
	if (both)
		return s + r >= 4 ? 97 : 85;
	/* The other side may begin in the middle of an envelope. */
	return s + r >= 4 ? 92 : sent->len && received->len ? 70 : 85;
}
