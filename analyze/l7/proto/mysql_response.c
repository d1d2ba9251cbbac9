/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "analyze/l7/proto/mysql.h"
#include "analyze/l7/proto/mysql_packet.h"

static void finish_response(struct mysql *s, struct l7_parser *parser, struct l7_message *m)
{
	struct response *r = &s->resp;
	char numbers[96] = "";
	int n = 0;

	if (r->lost)
		n = snprintf(numbers, sizeof(numbers), "\"cut\":true");
	else if (r->has_rows)
		n = snprintf(numbers, sizeof(numbers), "\"rows\":%llu",
			     (unsigned long long)r->rows);
	else if (r->has_affected && r->affected)
		n = snprintf(numbers, sizeof(numbers), "\"affected\":%llu",
			     (unsigned long long)r->affected);
	m->type = L7_RESPONSE;
	m->id = r->id;
	m->first_ns = r->first_ns ? r->first_ns : r->last_ns;
	m->last_ns = r->last_ns;
	m->size = r->size;
	m->dir = r->dir;
	m->is_error = r->is_error;
	m->status = l7_text(parser, "%.*s", (int)r->status_sz, r->status);
	if (r->text_sz)
		m->detail = l7_text(parser, "{\"error\":\"%s\"%s%s}",
				    l7_json(parser, (struct span){r->text, r->text_sz}, 200).p,
				    n ? "," : "", numbers);
	else if (n)
		m->detail = l7_text(parser, "{%s}", numbers);
	*r = (struct response){0};
}

/* Delivers the response whose end was not captured. */
void mysql_deliver_lost(struct mysql *s, struct l7_parser *parser)
{
	struct l7_message m = {0};

	if (!s->resp.active)
		return;
	s->resp.lost = true;
	if (order_front(&s->order))
		order_pop(&s->order);
	finish_response(s, parser, &m);
	l7_deliver(parser, &m);
}

static void set_status(struct response *r, const char *fmt, const char *state, unsigned code)
{
	int n = snprintf(r->status, sizeof(r->status), fmt, state, code);

	r->status_sz = n < (int)sizeof(r->status) ? n : (int)sizeof(r->status) - 1;
}

/* ff, code:2, ['#', SQLSTATE:5,] text */
static void on_error(struct response *r, struct l7_cursor c)
{
	unsigned code = l7_be(&c, 1) ? l7_le(&c, 2) : 0;
	char state[6] = "HY000";
	size_t left;

	if (!c.cut && c.end - c.p >= 6 && *c.p == '#') {
		memcpy(state, c.p + 1, 5);
		c.p += 6;
	}
	for (size_t i = 0; i < 5; i++)
		if (state[i] < '0' || state[i] > 'Z')
			state[i] = '?';
	set_status(r, "%s/%u", state, code);
	r->is_error = true;
	left = c.end - c.p;
	r->text_sz = left < sizeof(r->text) ? left : sizeof(r->text);
	memcpy(r->text, c.p, r->text_sz);
}

/* 00 or fe, affected, insert id, status:2, warnings:2. Returns the status flags. */
static unsigned on_ok(struct response *r, struct l7_cursor c)
{
	uint64_t affected;
	unsigned flags;

	l7_be(&c, 1);
	affected = mysql_lenenc(&c);
	mysql_lenenc(&c);
	flags = l7_le(&c, 2);
	if (!c.cut && !r->has_rows) {
		r->affected += affected;
		r->has_affected = true;
	}
	return c.cut ? 0 : flags;
}

/* Is it the OK packet that ends rows when EOF is deprecated? Its first byte is that of EOF. A row
 * that begins with that byte is longer than any packet. */
static bool is_end(const struct mysql_packet *k)
{
	return k->len >= 7 && k->len < MYSQL_MAX_PACKET && *k->p == 0xfe;
}

/* Ends a result. True: it was the last. */
static bool end_of_result(struct response *r, unsigned flags)
{
	r->at = RESULT_FIRST;
	r->set_rows = 0;
	r->between = false;
	return !(flags & MYSQL_MORE_RESULTS);
}

static bool on_prepared(struct mysql *s, struct l7_parser *parser, struct l7_cursor c)
{
	const struct l7_message *req = l7_pending(parser, s->resp.id);
	struct response *r = &s->resp;
	unsigned params;

	l7_be(&c, 1);
	struct span key = l7_bytes(&c, 4);

	r->columns = l7_le(&c, 2);
	params = l7_le(&c, 2);
	if (c.cut)
		return true;
	if (req)
		names_put(&s->statements, key, (struct span){s->last_method, s->last_method_sz},
			  req->target);
	r->columns += params;
	r->at = RESULT_PREPARED;
	return !r->columns;
}

/* The login is complete: the negotiated capabilities apply from now on. */
static void on_login_end(struct mysql *s, struct l7_message *m)
{
	uint32_t both = s->caps & s->server_caps;

	s->logs_in = false;
	if (!s->resp.is_error && both & (MYSQL_COMPRESS | MYSQL_ZSTD))
		m->opaque_after = true;
}

static bool on_first(struct mysql *s, struct l7_parser *parser, const struct mysql_packet *k,
		     struct l7_message *m)
{
	struct response *r = &s->resp;
	struct l7_cursor c = {k->p, k->p + k->have, false};
	bool login = r->cmd == MYSQL_LOGIN || r->cmd == COM_CHANGE_USER;

	if (!r->status_sz)
		set_status(r, "%s", "OK", 0);
	if (*k->p == 0xff && k->have >= 3 && k->p[1] == 0xff && k->p[2] == 0xff)
		return false; /* a progress report of MariaDB */
	s->infile = false;
	if (*k->p == 0xff) {
		on_error(r, c);
		if (login)
			on_login_end(s, m);
		return true;
	}
	if (login && *k->p) {
		/* Authentication continues: the client answers, and so on. */
		return false;
	}
	if (r->cmd == COM_STATISTICS)
		return true;
	if (r->cmd == COM_STMT_PREPARE && !*k->p)
		return on_prepared(s, parser, c);
	if (is_end(k))
		return end_of_result(r, on_ok(r, c));
	if (r->cmd == COM_STMT_FETCH && *k->p != 0xff) {
		r->at = RESULT_ROWS;
		r->has_rows = true;
		return mysql_is_eof(k) ? end_of_result(r, mysql_eof_flags(k))
				       : (r->rows++, r->set_rows++, false);
	}
	if (r->cmd == COM_FIELD_LIST) {
		r->at = RESULT_COLUMNS;
		r->columns = UINT64_MAX;
		return mysql_is_eof(k);
	}
	if (mysql_is_eof(k))
		return end_of_result(r, mysql_eof_flags(k));
	if (!*k->p) {
		unsigned flags = on_ok(r, c);

		if (login)
			on_login_end(s, m);
		return end_of_result(r, flags);
	}
	if (*k->p == 0xfb) { /* requests a file; the response comes after it */
		s->infile = true;
		r->first_ns = 0;
		return false;
	}
	r->columns = mysql_lenenc(&c);
	/* MariaDB's cached metadata, MySQL's optional metadata: a byte says that no columns
	 * follow. */
	if (k->len == 2 && *k->p < 0xfb && !k->p[1])
		r->columns = 0;
	r->at = r->columns ? RESULT_COLUMNS : RESULT_ROWS;
	r->has_rows = true;
	return false;
}

/* Parses one packet of the response. True: it is the last. */
static bool on_packet(struct mysql *s, struct l7_parser *parser, const struct mysql_packet *k,
		      struct l7_message *m)
{
	struct response *r = &s->resp;
	struct l7_cursor c = {k->p, k->p + k->have, false};
	bool fragment = r->fragment;

	r->fragment = k->len == MYSQL_MAX_PACKET;
	if (fragment || !k->have)
		return false;
	if (r->at == RESULT_FIRST)
		return on_first(s, parser, k, m);
	if (*k->p == 0xff && k->len > 2 && k->len < MYSQL_MAX_PACKET && r->at == RESULT_ROWS) {
		on_error(r, c);
		return true;
	}
	switch (r->at) {
	case RESULT_COLUMNS:
		if (mysql_is_eof(k) || is_end(k))
			return true; /* response to COM_FIELD_LIST */
		if (!--r->columns)
			r->at = RESULT_ROWS;
		return false;
	case RESULT_PREPARED:
		if (!mysql_is_eof(k))
			r->columns--;
		/* An EOF after the last column is skipped as a packet of its own. */
		return !r->columns;
	default:
		break;
	}
	if (mysql_is_eof(k)) {
		unsigned flags = mysql_eof_flags(k);

		/* The EOF between columns and rows; with a cursor no rows follow. */
		if (!r->set_rows && !r->between && !(flags & MYSQL_CURSOR_EXISTS) &&
		    r->cmd != COM_STMT_FETCH) {
			r->between = true;
			return false;
		}
		return end_of_result(r, flags);
	}
	if (is_end(k))
		return end_of_result(r, on_ok(r, c));
	r->rows++;
	r->set_rows++;
	return false;
}

/* A packet with sequence 1 begins the response to the oldest waiting request. */
static bool begin_response(struct mysql *s, struct l7_parser *parser, const struct l7_view *v,
			   const struct mysql_packet *k)
{
	struct order_item *req;

	/* Complete responses may have been lost. Of two requests only the newest is still waiting;
	 * a single one may have been answered in the hole. */
	if (parser->after_hole && k->seq == 1)
		order_give_up(&s->order, parser, s->order.cnt > 1 && !s->order.pipelines ? 1 : 0);
	req = order_front(&s->order);
	if (k->seq != 1 && !(req && req->kind == MYSQL_LOGIN))
		return false;
	s->resp = (struct response){.active = true,
				    .id = req ? req->id : 0,
				    .cmd = req ? req->kind : COM_QUERY,
				    .first_ns = v->ts_ns,
				    .seq = k->seq - 1,
				    .dir = v->requests ? L7_SENT : L7_RECEIVED};
	return true;
}

/* The server's first packet: 0a, version, 0, thread:4, salt:8, 0, caps:2, charset:1, status:2,
 * caps:2. */
static bool on_greeting(struct mysql *s, const struct mysql_packet *k)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};
	const uint8_t *end = k->have ? memchr(k->p, 0, k->have) : NULL;

	if (k->seq || !end || *k->p != 10)
		return false;
	l7_take(&c, end + 1 - k->p + 4 + 8 + 1);
	s->server_caps = l7_le(&c, 2);
	l7_take(&c, 3);
	s->server_caps |= (uint32_t)l7_le(&c, 2) << 16;
	s->greeted = true;
	return true;
}

/* An ERR instead of the greeting: too many connections, or a host that is not allowed. */
static void on_refusal(struct l7_parser *parser, const struct mysql_packet *k, struct l7_message *m)
{
	struct response r = {0};

	on_error(&r, l7_cursor_at(k->p, k->have));
	m->type = L7_ONEWAY;
	m->method = (struct span){"CONNECT", 7};
	m->is_error = true;
	m->status = l7_text(parser, "%.*s", (int)r.status_sz, r.status);
	m->detail = l7_text(parser, "{\"error\":\"%s\"}",
			    l7_json(parser, (struct span){r.text, r.text_sz}, 200).p);
}

/* The whole view belongs to a response whose end will not be seen. */
static int64_t pass_lost(struct mysql *s, const struct l7_view *v)
{
	s->resp.lost = true;
	s->resp.size += v->known;
	s->resp.first_ns = s->resp.first_ns ? s->resp.first_ns : v->ts_ns;
	s->resp.last_ns = v->ts_ns;
	return v->known;
}

/* Not the beginning of a response: the EOF after the response to a prepare, or the middle of a
 * response whose beginning was lost. */
static int64_t stray(struct mysql *s, const struct l7_view *v, const struct mysql_packet *k,
		     uint64_t off)
{
	struct order_item *req = order_front(&s->order);

	if (mysql_is_eof(k) && off + 4 + k->len <= v->known)
		return off + 4 + k->len;
	if (!req)
		return v->known;
	s->resp = (struct response){.active = true,
				    .id = req->id,
				    .first_ns = v->ts_ns,
				    .dir = v->requests ? L7_SENT : L7_RECEIVED};
	set_status(&s->resp, "%s", "OK", 0);
	return pass_lost(s, v);
}

int64_t mysql_response(struct mysql *s, struct l7_parser *parser, const struct l7_view *v,
		       struct l7_message *m)
{
	uint64_t off = 0;

	if (s->resp.active && parser->after_hole) {
		/* The next response, or a part of this one? */
		struct mysql_packet k;

		if (s->order.cnt > 1 && mysql_packet_at(v, 0, &k) == MYSQL_PACKET && k.seq == 1)
			mysql_deliver_lost(s, parser);
		else
			return pass_lost(s, v);
	} else if (s->resp.active && s->resp.lost) {
		return pass_lost(s, v);
	}
	while (off < v->len) {
		struct response *r = &s->resp;
		struct mysql_packet k;
		enum mysql_at at = mysql_packet_at(v, off, &k);

		if (at == MYSQL_SHORT && !v->cut && !v->last)
			break;
		if (at == MYSQL_SHORT)
			return r->active ? pass_lost(s, v) : (int64_t)v->known;
		if (!r->active && on_greeting(s, &k))
			return off + 4 + k.len;
		if (!r->active && !s->synced && !off && mysql_is_refusal(&k)) {
			on_refusal(parser, &k, m);
			return 4 + k.len;
		}
		if (!r->active && !begin_response(s, parser, v, &k))
			return stray(s, v, &k, off);
		parser->after_hole = false;
		if ((uint8_t)(r->seq + 1) != k.seq && r->cmd != MYSQL_LOGIN &&
		    r->cmd != COM_CHANGE_USER && r->at != RESULT_FIRST)
			return pass_lost(s, v);
		r->seq = k.seq;
		r->first_ns = r->first_ns ? r->first_ns : v->ts_ns;
		off += 4 + k.len;
		if (on_packet(s, parser, &k, m)) {
			r->size += off;
			finish_response(s, parser, m);
			s->order.pipelines |= s->order.cnt > 1;
			if (s->order.cnt)
				order_pop(&s->order);
			return off;
		}
		if (v->cut && off >= v->len && off < v->known)
			return pass_lost(s, v);
	}
	if (off) {
		s->resp.size += off;
		s->resp.last_ns = v->ts_ns;
	}
	return off;
}
