/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "analyze/l7/proto/mysql.h"
#include "analyze/l7/proto/mysql_packet.h"
#include "analyze/l7/proto/sqltext.h"

static void remember_digest(struct mysql *s, const struct l7_message *m, struct span keyword)
{
	s->last_digest_sz = m->target.len < DIGEST_MAX ? m->target.len : DIGEST_MAX;
	memcpy(s->last_digest, m->target.p, s->last_digest_sz);
	s->last_method_sz = keyword.len;
	memcpy(s->last_method, keyword.p, keyword.len);
}

static void name_sql(struct mysql *s, struct l7_parser *parser, struct l7_message *m,
		     const struct mysql_packet *k, unsigned cmd)
{
	struct span sql = cmd == COM_QUERY ? mysql_query_text(k)
					   : (struct span){(const char *)k->p + 1, k->have - 1};
	struct span keyword = sql_keyword(sql, SQL_MYSQL, s->method, sizeof(s->method));

	m->target = sql_digest(sql, SQL_MYSQL, k->have < k->len, s->target, DIGEST_MAX);
	if (sql.len)
		m->detail = l7_text(parser, "{\"sql\":\"%s\"}", l7_json(parser, sql, SQL_SHOWN).p);
	if (cmd == COM_STMT_PREPARE) {
		remember_digest(s, m, keyword);
		m->method = (struct span){"PREPARE", 7};
	} else {
		m->method = keyword.len ? keyword : (struct span){"QUERY", 5};
	}
}

static void name_statement(struct mysql *s, struct l7_message *m, const struct mysql_packet *k,
			   unsigned cmd)
{
	struct l7_cursor c = {k->p + 1, k->p + k->have, false};
	struct span key = l7_bytes(&c, 4);
	const struct name *name = c.cut ? NULL : names_get(&s->statements, key);

	if (name) {
		size_t n = name->target.len < DIGEST_MAX ? name->target.len : DIGEST_MAX;

		memcpy(s->target, name->target.p, n);
		m->target = (struct span){s->target, n};
	} else if (!c.cut && !memcmp(key.p, "\xff\xff\xff\xff", 4)) {
		/* MariaDB: the last statement prepared. */
		m->target = (struct span){s->last_digest, s->last_digest_sz};
	} else if (!c.cut) {
		const uint8_t *b = (const uint8_t *)key.p;
		int n = snprintf(s->target, sizeof(s->target), "stmt:%u" NAMES_UNSEEN,
				 b[0] | b[1] << 8 | b[2] << 16 | (unsigned)b[3] << 24);

		m->target = (struct span){s->target, n};
	}
	if (cmd == COM_STMT_CLOSE && name)
		names_remove(&s->statements, key);
}

static const struct command {
	const char *name;
	bool oneway;
} commands[] = {
	[0x00] = {"SLEEP", false},
	[COM_QUIT] = {"QUIT", true},
	[COM_INIT_DB] = {"INIT_DB", false},
	[COM_QUERY] = {"QUERY", false},
	[COM_FIELD_LIST] = {"FIELD_LIST", false},
	[0x05] = {"CREATE_DB", false},
	[0x06] = {"DROP_DB", false},
	[0x07] = {"REFRESH", false},
	[0x08] = {"SHUTDOWN", false},
	[COM_STATISTICS] = {"STATISTICS", false},
	[0x0a] = {"PROCESS_INFO", false},
	[0x0b] = {"CONNECT", false},
	[0x0c] = {"PROCESS_KILL", false},
	[0x0d] = {"DEBUG", false},
	[COM_PING] = {"PING", false},
	[0x0f] = {"TIME", false},
	[0x10] = {"DELAYED_INSERT", false},
	[COM_CHANGE_USER] = {"CHANGE_USER", false},
	[COM_BINLOG_DUMP] = {"BINLOG_DUMP", true},
	[0x13] = {"TABLE_DUMP", false},
	[0x14] = {"CONNECT_OUT", false},
	[0x15] = {"REGISTER_SLAVE", false},
	[COM_STMT_PREPARE] = {"PREPARE", false},
	[COM_STMT_EXECUTE] = {"EXECUTE", false},
	[COM_STMT_SEND_LONG_DATA] = {"SEND_LONG_DATA", true},
	[COM_STMT_CLOSE] = {"CLOSE", true},
	[COM_STMT_RESET] = {"STMT_RESET", false},
	[0x1b] = {"SET_OPTION", false},
	[COM_STMT_FETCH] = {"FETCH", false},
	[0x1d] = {"DAEMON", false},
	[COM_BINLOG_DUMP_GTID] = {"BINLOG_DUMP_GTID", true},
	[COM_RESET_CONNECTION] = {"RESET_CONNECTION", false},
};

static int64_t command(struct mysql *s, struct l7_parser *parser, const struct mysql_packet *k,
		       struct l7_message *m)
{
	unsigned cmd = *k->p;
	bool bulk = cmd == COM_STMT_BULK_EXECUTE;

	if (cmd >= sizeof(commands) / sizeof(commands[0]) && !bulk)
		return L7_BAD;
	m->method = bulk ? (struct span){"EXECUTE", 7}
			 : (struct span){commands[cmd].name, strlen(commands[cmd].name)};
	m->type = !bulk && commands[cmd].oneway ? L7_ONEWAY : L7_REQUEST;
	if (cmd == COM_QUERY || cmd == COM_STMT_PREPARE)
		name_sql(s, parser, m, k, cmd);
	else if (cmd == COM_INIT_DB)
		m->target = (struct span){(const char *)k->p + 1, k->have - 1};
	else if (cmd == COM_CHANGE_USER)
		m->target = (struct span){(const char *)k->p + 1,
					  strnlen((const char *)k->p + 1, k->have - 1)};
	else if (bulk || (cmd >= COM_STMT_EXECUTE && cmd <= COM_STMT_RESET) ||
		 cmd == COM_STMT_FETCH)
		name_statement(s, m, k, cmd);
	if (m->type == L7_REQUEST)
		m->id = order_push(&s->order, bulk ? COM_STMT_EXECUTE : cmd);
	/* The event stream to a replica never ends. */
	m->opaque_after = cmd == COM_BINLOG_DUMP || cmd == COM_BINLOG_DUMP_GTID;
	s->synced = true;
	return 4 + k->len;
}

/* caps:4, max packet:4, charset:1, 19 zeros, MariaDB's caps:4, user 0, auth, [database 0] */
static int64_t login(struct mysql *s, struct l7_parser *parser, const struct mysql_packet *k,
		     struct l7_message *m)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};
	struct span user, db = {"", 0};

	s->caps = l7_le(&c, 4);
	if (s->caps & MYSQL_SSL && k->len == 32) {
		m->opaque_after = true;
		return 4 + k->len;
	}
	l7_take(&c, 28);
	user = mysql_string(&c);
	l7_take(&c, s->caps & MYSQL_AUTH_LENENC		? mysql_lenenc(&c)
		    : s->caps & MYSQL_SECURE_CONNECTION ? l7_be(&c, 1)
							: mysql_string(&c).len * 0);
	if (s->caps & MYSQL_CONNECT_WITH_DB)
		db = mysql_string(&c);
	m->type = L7_REQUEST;
	m->method = (struct span){"LOGIN", 5};
	m->target = user;
	if (db.len)
		m->detail = l7_text(parser, "{\"database\":\"%s\"}", l7_json(parser, db, 128).p);
	m->id = order_push(&s->order, MYSQL_LOGIN);
	s->greeted = false;
	s->logs_in = s->synced = true;
	return 4 + k->len;
}

static bool is_login(const struct mysql_packet *k)
{
	static const uint8_t zeros[19];

	return k->seq == 1 && k->len >= 32 && k->have >= 32 && k->p[1] & MYSQL_PROTOCOL_41 >> 8 &&
	       !memcmp(k->p + 9, zeros, sizeof(zeros));
}

/* Parses packets other than the first of a command. */
static int64_t continuation(struct mysql *s, const struct mysql_packet *k, struct l7_message *m)
{
	if (s->fragment) {
		s->fragment = k->len == MYSQL_MAX_PACKET;
		s->held.size += 4 + k->len;
		if (!s->fragment) {
			/* Its strings are in the state, except for the SQL text, which is gone. */
			*m = s->held;
			m->detail = (struct span){"", 0};
		}
	}
	return 4 + k->len;
}

int64_t mysql_request(struct mysql *s, struct l7_parser *parser, const struct l7_view *v,
		      struct l7_message *m)
{
	struct mysql_packet k;
	enum mysql_at at = mysql_packet_at(v, 0, &k);
	bool in_step = s->synced && !parser->after_hole;
	int64_t n;

	/* The packets of a file are not followed, because usually only the first bytes of calls are
	 * captured. The server's response ends the file. */
	if (s->infile && !parser->after_hole &&
	    (at == MYSQL_SHORT || k.seq || 4 + k.len != v->known)) {
		const struct order_item *req = order_front(&s->order);

		if (req)
			l7_grow(parser, req->id, v, v->known);
		return v->known;
	}
	if (at == MYSQL_SHORT)
		return v->cut && v->len >= 4 ? (int64_t)v->known : L7_PARTIAL;
	if (k.have < k.len && k.have < SQL_KEPT && !v->cut && !v->last)
		return L7_PARTIAL;
	if (is_login(&k) && (s->greeted || !s->synced))
		return login(s, parser, &k, m);
	if (k.seq)
		return in_step || 4 + k.len == v->known ? continuation(s, &k, m) : L7_BAD;
	if (!k.len ||
	    (!in_step && 4 + k.len < v->known && v->p[4 + (k.len < v->len - 4 ? k.len : 0)] > 0xfa))
		return L7_BAD;
	s->fragment = s->infile = s->logs_in = false;
	if (s->resp.active && s->resp.lost) {
		mysql_deliver_lost(s, parser);
		if (!s->order.pipelines)
			order_give_up(&s->order, parser, 0);
	}
	n = command(s, parser, &k, m);
	if (n > 0 && k.len == MYSQL_MAX_PACKET) {
		s->fragment = true;
		s->held = *m;
		s->held.first_ns = v->ts_ns;
		s->held.size = n;
		m->type = L7_SKIP;
	}
	return n;
}
