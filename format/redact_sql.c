/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins of MySQL and PostgreSQL; with --redact=sql, what statements carry: literals and
 * parameters. Only what the client sends has secrets. Its packets are followed from the
 * connection's first bytes on, through calls that cut them anywhere; where bytes were not seen, or
 * joined late, a call that is made of whole packets gives the step.
 */
#include <ctype.h>
#include <stdlib.h>

#include "redact_frames.h"

enum {
	COM_QUERY = 3,
	COM_CHANGE_USER = 0x11,
	COM_REGISTER_SLAVE = 0x15,
	COM_STMT_PREPARE = 0x16,
	COM_STMT_EXECUTE = 0x17,
	COM_STMT_SEND_LONG_DATA = 0x18,
	COM_LAST = 0x1f,
	CLIENT_COMPRESS = 0x20,
	LOGIN_FIXED = 32,    /* capabilities 4, max packet 4, charset 1, 23 zeros; then user NUL */
	LOGIN_SNIFF = 36,    /* of these and the packet's head, as much as tells a login */
	HEAD_SZ = 4,	     /* at least */
	STARTUP_SNIFF = 8,   /* length 4, version 4 */
	GREETING_SNIFF = 6,  /* length 3, sequence 0, protocol 10, first digit of the version */
	MYSQL_MAX = 0xffffff /* a packet of this size goes on in the next */
};

static uint32_t le24(const uint8_t *p)
{
	return le_get(p, 3);
}

static uint32_t be32(const uint8_t *p)
{
	return be_get(p, 4);
}

/* ---- what is in a packet ---- */

static void set_part(struct redact_packets *s, uint32_t fixed, uint8_t names, enum sql_part then)
{
	s->fixed = fixed;
	s->names = names;
	s->then = then;
	s->part = names ? PART_NAMES : then;
	s->frames.secret = fixed || s->part != PART_KEEP;
	s->literal = (struct redact_literal){0};
	s->bind = BIND_FORMATS;
	s->int_sz = 0;
	s->number = s->values = 0;
}

/* MySQL's command byte: what the rest of its packet is. */
static void command(struct redact_packets *s, bool sql, uint8_t ch)
{
	if (ch == COM_CHANGE_USER) {
		s->login = true;
		set_part(s, 0, 1, PART_MASK);
	} else if (ch == COM_REGISTER_SLAVE) {
		set_part(s, 4, 0, PART_MASK); /* id 4, then host, user, password */
	} else if (sql && (ch == COM_QUERY || ch == COM_STMT_PREPARE)) {
		set_part(s, 0, 0, PART_TEXT);
	} else if (sql && ch == COM_STMT_EXECUTE) {
		set_part(s, 9, 0, PART_MASK); /* statement 4, flags 1, iterations 4 */
	} else if (sql && ch == COM_STMT_SEND_LONG_DATA) {
		set_part(s, 6, 0, PART_MASK); /* statement 4, parameter 2 */
	} else {
		set_part(s, 0, 0, PART_KEEP);
	}
}

/* Bind, behind its two names: formats, then the values, each with its length; true: a value's. */
static bool bind_byte(struct redact_packets *s, uint8_t ch)
{
	if (s->bind == BIND_FORMAT || s->bind == BIND_VALUE) {
		bool secret = s->bind == BIND_VALUE;

		if (!--s->number)
			s->bind = secret ? BIND_SIZE : BIND_VALUES;
		return secret;
	}
	if (s->bind == BIND_SIZE && !s->values) {
		s->frames.secret = false;
		return false;
	}
	s->number = s->number << 8 | ch;
	if (++s->int_sz < (s->bind == BIND_SIZE ? 4 : 2))
		return false;
	s->int_sz = 0;
	if (s->bind == BIND_FORMATS) {
		s->number *= 2;
		s->bind = s->number ? BIND_FORMAT : BIND_VALUES;
	} else if (s->bind == BIND_VALUES) {
		s->values = s->number;
		s->number = 0;
		s->bind = BIND_SIZE;
	} else {
		s->values -= s->values > 0;
		if (s->number == UINT32_MAX) /* NULL has no bytes */
			s->number = 0;
		else if (s->number)
			s->bind = BIND_VALUE;
	}
	return false;
}

static uint8_t byte(void *own, const struct redact_call *c, uint8_t ch)
{
	struct redact_packets *s = own;

	if (s->fixed) {
		if (s->fixed-- == LOGIN_FIXED)
			s->compresses = ch & CLIENT_COMPRESS;
		return ch;
	}
	switch (s->part) {
	case PART_MASK:
		return '*';
	case PART_COMMAND:
		command(s, c->sql, ch);
		return ch;
	case PART_NAMES:
		if (!ch && !--s->names)
			s->part = s->then;
		return ch;
	case PART_TEXT:
		if (!s->mysql && !ch) { /* behind PostgreSQL's text are types only */
			s->frames.secret = false;
			return ch;
		}
		return redact_literal(&s->literal, s->mysql, ch);
	case PART_BIND:
		return bind_byte(s, ch) ? '*' : ch;
	case PART_KEEP:
		break;
	}
	return ch;
}

/* ---- packets ---- */

/* MySQL: length 3 (little endian), sequence 1. */
static int mysql_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct redact_packets *s = own;
	uint32_t sz = le24(f->head);
	bool first = s->startup, more = s->goes_on;

	(void)c;
	s->goes_on = sz == MYSQL_MAX;
	s->startup = false;
	if (more) { /* whatever the part before was */
		f->left = sz;
		return 0;
	}
	redact_frame(f, sz, true);
	if (first) {
		s->login = true;
		s->tls = sz == LOGIN_FIXED;
		set_part(s, LOGIN_FIXED, 1, PART_MASK);
	} else if (f->head[3] && s->login) {
		set_part(s, 0, 0, PART_MASK); /* answers to the server's challenges */
	} else if (f->head[3]) {
		set_part(s, 0, 0, PART_KEEP); /* a file that is loaded */
	} else {
		s->login = false;
		/* Compressed packets have another head: never in step again. */
		s->sealed = s->compresses;
		set_part(s, 0, 0, PART_COMMAND);
	}
	return s->sealed ? FRAME_BAD : 0;
}

/* PostgreSQL: type 1, length with itself 4 (big endian); the first message has no type. */
static int postgresql_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct redact_packets *s = own;
	uint8_t type = s->startup ? 0 : f->head[0];
	uint32_t sz;

	if (type && f->head_sz == HEAD_SZ)
		return 1;
	sz = be32(f->head + !s->startup);
	if (sz < 4 || (!s->startup && !isalpha(type)))
		return FRAME_BAD;
	s->startup = false;
	redact_frame(f, sz - 4, true);
	if (type == 'p')
		set_part(s, 0, 0, PART_MASK);
	else if (c->sql && type == 'Q')
		set_part(s, 0, 0, PART_TEXT);
	else if (c->sql && type == 'P')
		set_part(s, 0, 1, PART_TEXT);
	else if (c->sql && type == 'B')
		set_part(s, 0, 2, PART_BIND);
	else
		set_part(s, 0, 0, PART_KEEP);
	return 0;
}

/* Any packets, as they may stand at the beginning of a client's call. */
static bool starts(void *own, const struct redact_call *c)
{
	struct redact_packets *s = own;
	const uint8_t *p = c->p;

	s->goes_on = false;
	if (s->sealed || c->kept < 5)
		return false;
	if (s->mysql)
		return !p[3] && p[4] <= COM_LAST && le24(p) + 4 <= c->len;
	return *p && strchr("QPBDECSHXFdcfp", *p) && be32(p + 1) >= 4 &&
	       (uint64_t)be32(p + 1) + 1 <= c->len;
}

static void lost(void *own, struct redact_call *c, size_t from, size_t to)
{
	struct redact_packets *s = own;

	if (c->sql || s->login)
		redact_mask(c, from, to, '*');
}

static const struct redact_framing mysql = {
	.head_sz = HEAD_SZ,
	.head = mysql_head,
	.starts = starts,
	.byte = byte,
	.lost = lost,
};

static const struct redact_framing postgresql = {
	.head_sz = HEAD_SZ,
	.head = postgresql_head,
	.starts = starts,
	.byte = byte,
	.lost = lost,
};

/* ---- which connections ---- */

/* Is what begins a direction, as far as it is here, a MySQL server's greeting? */
static bool is_greeting(const uint8_t *p, size_t sz)
{
	static const uint8_t want[] = {0, 0, 0, 0, 10};

	if (sz > 1 && memcmp(p + 1, want + 1, (sz < 5 ? sz : 5) - 1))
		return false;
	return p[0] >= 30 && (sz < GREETING_SNIFF || isdigit(p[5]));
}

/* A client's HandshakeResponse41 or SSLRequest. */
static bool is_login(const uint8_t *p, size_t sz)
{
	static const uint8_t zeros[LOGIN_SNIFF];

	if (sz > 2 && (p[2] || le24(p) < LOGIN_FIXED))
		return false;
	if (sz > 3 && p[3] != 1)
		return false;
	return sz <= 13 || !memcmp(p + 13, zeros, (sz < 32 ? sz : 32) - 13);
}

/* StartupMessage, version 3; SSLRequest, GSSENCRequest. */
static bool is_startup(const uint8_t *p, size_t sz)
{
	static const uint8_t version[] = {0, 3, 0}, request[] = {4, 0xd2, 0x16};
	size_t n = sz > 4 ? (sz < 7 ? sz : 7) - 4 : 0;

	if (p[0] || (sz > 1 && p[1]) || (sz > 3 && be32(p) < STARTUP_SNIFF))
		return false;
	return !memcmp(p + 4, version, n) || !memcmp(p + 4, request, n);
}

/* The client is told: what was collected of it is followed. */
static void begin(struct redact_call *c, enum sql_kind kind, unsigned client, bool late)
{
	struct redact_conn *conn;
	struct redact_side *s;
	struct redact_call early = {.sql = c->sql};
	struct redact_packets *p;

	if (!redact_side(c))
		return;
	conn = *c->conn;
	s = &conn->side[client];
	conn->sql = kind;
	conn->sql_sure = !late;
	conn->client = client;
	if (!s->packets)
		s->packets = malloc(sizeof(*s->packets));
	if (!s->packets)
		return;
	p = s->packets;
	*p = (struct redact_packets){.mysql = kind == SQL_MYSQL, .startup = !late};
	redact_frames_begin(&p->frames, late ? c->pos : s->next);
	if (!s->first) {
		p->frames.in_step = late || !s->next;
		return;
	}
	p->frames.in_step = late || s->next == s->first->sniff_pos + s->first->sniff_sz;
	early.p = early.out = s->first->sniff;
	early.kept = s->first->sniff_sz;
	redact_frames_part(&p->frames, p->mysql ? &mysql : &postgresql, p, &early, 0,
			   s->first->sniff_sz);
	s->first->sniff_sz = 0;
}

/* Told by the first bytes of a direction, collected while they are too few. */
static bool sniff(struct redact_call *c)
{
	struct redact_first *s = *c->conn ? (*c->conn)->side[c->dir].first : NULL;
	size_t had = s ? s->sniff_sz : 0, n;
	uint8_t p[LOGIN_SNIFF];
	bool may_be;

	if (c->pos != (s ? s->sniff_pos : 0) + had || !c->kept)
		return false;
	n = c->kept < sizeof(p) - had ? c->kept : sizeof(p) - had;
	if (had)
		memcpy(p, s->sniff, had);
	memcpy(p + had, c->p, n);
	n += had;
	if (n >= STARTUP_SNIFF && is_startup(p, n)) {
		if (p[5] != 3) { /* encryption is asked for, and may be refused: once more */
			s = redact_first(c);
			if (s) {
				s->sniff_pos += STARTUP_SNIFF;
				s->sniff_sz = 0;
			}
			return false;
		}
		begin(c, SQL_POSTGRESQL, c->dir, false);
		return true;
	}
	if (n >= GREETING_SNIFF && is_greeting(p, n)) {
		begin(c, SQL_MYSQL, !c->dir, false);
		return true;
	}
	if (n == LOGIN_SNIFF && is_login(p, n)) {
		begin(c, SQL_MYSQL, c->dir, false);
		return true;
	}
	may_be = is_startup(p, n) || is_greeting(p, n) || is_login(p, n);
	s = may_be ? redact_first(c) : s;
	if (s) {
		s->sniff_sz = may_be && c->kept == c->len ? n : 0;
		memcpy(s->sniff, p, n);
	}
	return false;
}

/* Whole packets of a client that matter, from a call's beginning on. */
static enum sql_kind late(const struct redact_call *c)
{
	const uint8_t *p = c->p;
	uint64_t end;

	if (c->kept < 5)
		return SQL_NOT;
	if (le24(p) + 4 == c->len && !p[3] &&
	    (p[4] == COM_CHANGE_USER ||
	     (c->sql && c->kept > 5 &&
	      (p[4] == COM_STMT_EXECUTE || p[4] == COM_STMT_SEND_LONG_DATA ||
	       ((p[4] == COM_QUERY || p[4] == COM_STMT_PREPARE) && p[5] >= ' ')))))
		return SQL_MYSQL;
	end = (uint64_t)be32(p + 1) + 1;
	if (*p == 'p' && end == c->len)
		return SQL_POSTGRESQL;
	if (!c->sql || !*p || !strchr("QPB", *p) || end < 5 || end > c->len)
		return SQL_NOT;
	return end == c->len || (end < c->kept && isalpha(p[end])) ? SQL_POSTGRESQL : SQL_NOT;
}

static void follow(struct redact_conn *conn, struct redact_side *side, struct redact_call *c)
{
	struct redact_packets *s = side->packets;

	if (!s) { /* out of memory: never unmasked */
		redact_mask(c, 0, c->kept, '*');
		return;
	}
	redact_frames(&s->frames, s->mysql ? &mysql : &postgresql, s, c, 0);
	if (s->tls && !s->frames.left)
		conn->sql = SQL_NOT;
}

bool redact_sql(struct redact_call *c)
{
	struct redact_conn *conn = *c->conn;
	enum sql_kind kind;

	if (!(conn && conn->sql) && !sniff(c)) {
		kind = late(c);
		if (!kind)
			return false;
		begin(c, kind, c->dir, true);
		if (*c->conn)
			(*c->conn)->side[c->dir].next = c->pos;
	}
	conn = *c->conn;
	if (!conn)
		return false;
	if (conn->client == c->dir)
		follow(conn, &conn->side[c->dir], c);
	return conn->sql && conn->sql_sure;
}
