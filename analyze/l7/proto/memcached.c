/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcached (github.com/memcached/memcached doc/protocol.txt): text and meta commands. The binary
 * protocol is in memcached_binary.c.
 *
 *   get KEY ...\r\n                            VALUE KEY FLAGS BYTES [CAS]\r\n DATA\r\n ... END\r\n
 *   set KEY FLAGS TIME BYTES [noreply]\r\n DATA\r\n        STORED\r\n
 *   mg KEY FLAG ...\r\n                        VA BYTES FLAG ...\r\n DATA\r\n  HD ...  EN\r\n
 *   ms KEY BYTES FLAG ...\r\n DATA\r\n         HD  NS  EX  NF
 *
 * Paired in order. noreply is one-way. A meta command with flag q is answered only if there is
 * something to report (memcached_pair.c); flag O is an id. A UDP datagram begins with request id,
 * sequence number, datagram count, 0 (16 bits each).
 */
#include <string.h>

#include "analyze/l7/proto/memcached_binary.h"
#include "analyze/l7/proto/memcached_line.h"
#include "analyze/l7/proto/memcached_text.h"

enum { UDP_HEAD = 8 };

/* ---- datagrams ---- */

static bool udp_head(const struct l7_view *v, uint16_t *id, uint16_t *number, uint16_t *count)
{
	struct l7_cursor c = l7_cursor(v);

	*id = l7_be(&c, 2);
	*number = l7_be(&c, 2);
	*count = l7_be(&c, 2);
	return !l7_be(&c, 2) && !c.cut && *number < *count && c.p < c.end;
}

/* Parses the part of a response in this datagram. `more`: it continues in other datagrams, which
 * are not parsed. A server may also send each value in a datagram of its own. */
static void udp_response(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			 uint32_t salt, bool more)
{
	struct memcached *mc = parser->state;
	struct l7_view rest = *v;
	int64_t n;

	if (*v->p == 0x81) {
		mc_binary(parser, v, m, salt);
		return;
	}
	if (mc->got_of != salt)
		mc->got = (struct mc_gather){0};
	mc->got_of = salt;
	rest.cut = false;
	while (m->type == L7_SKIP && rest.len) {
		n = mc_text_response(parser, &rest, m, salt);
		if (n <= 0)
			break;
		n = (uint64_t)n > rest.len ? (int64_t)rest.len : n;
		rest.p += n;
		rest.len -= n;
	}
	if (m->type == L7_SKIP && mc->got.active && (more || v->cut))
		mc_end_unseen(parser, v, m, 0, salt);
	if (m->type != L7_SKIP)
		m->size = 0;
	m->cut = false;
}

static int64_t datagram(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	uint16_t id, number, count;
	struct l7_view inner = *v;
	int64_t n;
	char text[6];
	uint32_t salt;

	if (!udp_head(v, &id, &number, &count))
		return L7_BAD;
	if (number)
		return v->known;
	memcpy(text, &id, 2);
	memcpy(text + 2, &v->peer, 4);
	salt = mc_hash((struct span){text, sizeof(text)}, 'U');
	inner.p += UDP_HEAD;
	inner.len -= UDP_HEAD;
	inner.known -= UDP_HEAD;
	inner.datagram = false;
	if (!v->requests) {
		udp_response(parser, &inner, m, salt, count > 1);
		return v->known;
	}
	n = *inner.p == 0x80 ? mc_binary(parser, &inner, m, salt)
			     : mc_text_request(parser, &inner, m, salt);
	m->cut = false;
	return n > 0 ? (int64_t)v->known : n;
}

static int64_t memcached_parse(struct l7_parser *parser, const struct l7_view *v,
			       struct l7_message *m)
{
	struct memcached *mc = parser->state;

	if (v->datagram)
		return datagram(parser, v, m);
	if (parser->after_hole && !v->requests && mc->got.active)
		mc_give_back(parser, !l7_requests_dir(parser));
	if (*v->p == 0x80 || *v->p == 0x81)
		return mc_binary(parser, v, m, 0);
	return v->requests ? mc_text_request(parser, v, m, 0) : mc_text_response(parser, v, m, 0);
}

static void memcached_finish(struct l7_parser *parser)
{
	struct memcached *mc = parser->state;

	if (mc->got.active)
		mc_give_back(parser, !l7_requests_dir(parser));
}

/* ---- bidding ---- */

/* 3: only memcached; 2: a valid memcached command or response; 1: a line that other protocols have,
 * too; 0: neither. */
static int request_at(const uint8_t *p, size_t len)
{
	size_t n = mc_line_size(p, len);
	const struct mc_command *c;
	struct mc_words w;

	if (len && *p == 0x80)
		return mc_binary_at(p, len, true) ? 3 : 0;
	if (!mc_split(p, n ? n : len, &w) || !w.cnt || !(c = mc_command(w.v[0])))
		return 0;
	if (!n || n < 2 || p[n - 2] != '\r')
		return (c->form == MC_READ || c->form == MC_READ_1) && w.cnt > 1 ? 1 : 0;
	if (!mc_is_command(c, &w))
		return 0;
	return c->form == MC_STORE || c->form == MC_CAS || c->form == MC_META_STORE ||
			       c->form == MC_READ_1
		       ? 3
	       : c->form == MC_META || c->form == MC_READ ? 2
							  : 1;
}

static int response_at(const uint8_t *p, size_t len)
{
	static const char *const own[] = {"STORED",    "NOT_STORED", "EXISTS",
					  "NOT_FOUND", "DELETED",    "TOUCHED"};
	size_t n = mc_line_size(p, len);
	struct mc_words w;
	uint64_t bytes;

	if (len && *p == 0x81)
		return mc_binary_at(p, len, false) ? 3 : 0;
	if (!n || n < 3 || p[n - 2] != '\r' || !mc_split(p, n, &w) || !w.cnt)
		return 0;
	if (mc_is_value(&w, &bytes))
		return 3;
	if (l7_is(w.v[0], "STAT"))
		return w.cnt > 2 ? 2 : 0;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (w.cnt == 1 && l7_is(w.v[0], own[i]))
			return 2;
	if (!mc_is_plain(&w) && !mc_is_row(&w))
		return 0;
	return l7_is(w.v[0], "VA") || l7_is(w.v[0], "CLIENT_ERROR") ||
			       l7_is(w.v[0], "SERVER_ERROR") || l7_is(w.v[0], "HD")
		       ? 2
		       : 1;
}

static void look(const struct l7_view *v, int *requests, int *responses)
{
	const uint8_t *p = v->p;
	size_t len = v->len;
	uint16_t id, number, count;

	*requests = *responses = 0;
	if (v->datagram) {
		if (!udp_head(v, &id, &number, &count))
			return;
		p += UDP_HEAD;
		len -= UDP_HEAD;
	}
	*requests = request_at(p, len);
	*responses = response_at(p, len);
	/* Other protocols with such lines do not have this header. */
	if (v->datagram) {
		*requests += *requests == 1;
		*responses += *responses == 1;
	}
}

/* Confidence for both directions combined. */
static int both(int q, int a, bool q_empty, bool a_empty)
{
	if (q && a)
		return q + a > 3 ? 97 : q + a > 2 ? 80 : 55;
	if (q < 2 && a < 2)
		return 0;
	/* The other side may be in the middle of a value. */
	if (q ? a_empty : q_empty)
		return (q | a) == 3 ? 80 : 55;
	return (q | a) == 3 ? 70 : 0;
}

static int memcached_bid(const struct l7_view *sent, const struct l7_view *received,
			 int *requests_sent)
{
	int sq, sa, rq, ra, client, server;

	look(sent, &sq, &sa);
	look(received, &rq, &ra);
	client = both(sq, ra, !sent->len, !received->len);
	server = both(rq, sa, !received->len, !sent->len);
	if (client || server)
		*requests_sent = client >= server;
	return client > server ? client : server;
}

/* Finds a line that only memcached has. */
static size_t memcached_resync(const struct l7_view *v, size_t from)
{
	for (size_t i = from ? from - 1 : 0; i < v->len;) {
		const uint8_t *nl = memchr(v->p + i, '\n', v->len - i);

		if (!nl)
			break;
		i = nl - v->p + 1;
		if (v->requests ? request_at(v->p + i, v->len - i) > 1
				: response_at(v->p + i, v->len - i) > 1)
			return i;
	}
	return v->len;
}

const struct l7_protocol l7_memcached = {
	.name = "memcached",
	.bid = memcached_bid,
	.parse = memcached_parse,
	.resync = memcached_resync,
	.finish = memcached_finish,
	.state_sz = sizeof(struct memcached),
	.datagrams = true,
	.ports = {11211, 11212},
};
