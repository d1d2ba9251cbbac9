/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks logins of MySQL and PostgreSQL, and statements that contain a secret (redact_statement.c);
 * with --redact=sql, all literals and parameters, and the rows of COPY and LOAD DATA. Except for
 * these rows and the text of errors, which may repeat a statement, only the client sends secrets.
 * Its packets are tracked from the first bytes of the connection, across calls, which may cut them
 * anywhere. After missing bytes, or when seen from the middle on, tracking starts at a call that
 * consists of complete packets.
 */
#include <ctype.h>
#include <stdlib.h>

#include "format/redact/redact_frames.h"

enum {
	COM_QUERY = 3,
	COM_CHANGE_USER = 0x11,
	COM_REGISTER_SLAVE = 0x15,
	COM_STMT_PREPARE = 0x16,
	COM_STMT_EXECUTE = 0x17,
	COM_STMT_SEND_LONG_DATA = 0x18,
	COM_LAST = 0x1f,
	CLIENT_COMPRESS = 0x20,
	CLIENT_DATABASE = 0x08,	  /* CLIENT_CONNECT_WITH_DB */
	CLIENT_SECURE = 0x80,	  /* of the second byte: CLIENT_SECURE_CONNECTION */
	CLIENT_41 = 0x02,	  /* likewise: CLIENT_PROTOCOL_41 */
	AUTH_MAX = 250,		  /* longer ones may have a size of several bytes */
	CLIENT_ZSTD = 0x04,	  /* of the fourth byte, as all below */
	CLIENT_ATTRIBUTES = 0x08, /* CLIENT_QUERY_ATTRIBUTES */
	LOGIN_FIXED = 32,    /* capabilities 4, max packet 4, charset 1, 23 zeros; then user NUL */
	LOGIN_SNIFF = 36,    /* header and part of these, enough to recognise a login */
	HEAD_SZ = 4,	     /* minimum header size */
	LATE_MIN = 512,	     /* a call of this length may be the start of a statement */
	STARTUP_SNIFF = 8,   /* length 4, version 4 */
	ERR_HEAD = 9,	     /* 0xff, code 2, '#', state 5; then the text of an error */
	GREETING_SNIFF = 6,  /* length 3, sequence 0, protocol 10, first digit of the version */
	MYSQL_MAX = 0xffffff /* a packet of this size continues in the next one */
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
	s->fresh = true;
	s->name = 0;
	s->bind = BIND_FORMATS;
	s->int_sz = 0;
	s->number = s->values = 0;
}

/* Handles MySQL's command byte, which determines the rest of the packet. */
static void command(struct redact_packets *s, bool sql, uint8_t ch)
{
	s->command = ch;
	if (ch == COM_CHANGE_USER) {
		s->login = s->database = true;
		set_part(s, 0, 1, PART_AUTH_SIZE);
	} else if (ch == COM_REGISTER_SLAVE) {
		set_part(s, 4, 0, PART_MASK); /* id 4, then host, user, password */
	} else if (ch == COM_QUERY) {
		set_part(s, 0, 0, PART_ATTRIBUTES);
	} else if (ch == COM_STMT_PREPARE) {
		set_part(s, 0, 0, PART_TEXT);
	} else if ((sql || s->secret_names) && ch == COM_STMT_EXECUTE) {
		set_part(s, 9, 0, PART_MASK); /* statement 4, flags 1, iterations 4 */
	} else if ((sql || s->secret_names) && ch == COM_STMT_SEND_LONG_DATA) {
		set_part(s, 6, 0, PART_MASK); /* statement 4, parameter 2 */
	} else {
		set_part(s, 0, 0, PART_KEEP);
	}
}

static uint8_t text(struct redact_packets *s, bool sql, uint8_t ch)
{
	enum sql_dialect dialect = s->mysql ? DIALECT_MYSQL : DIALECT_POSTGRESQL;

	s->fresh = false;
	return sql ? redact_literal(&s->literal, dialect, ch)
		   : redact_secret_literal(&s->literal, dialect, ch);
}

/*
 * Whether attributes precede a query's text: when the client announced them, or when the text
 * cannot start with this byte. They start with their number and the number of sets, which is 1.
 * When there are any, they are not parsed, so the start of the text is unknown.
 */
static bool has_attributes(const struct redact_packets *s, uint8_t ch)
{
	return s->number || s->attributes || (ch < ' ' && !isspace(ch));
}

static void attribute_byte(struct redact_packets *s, uint8_t ch)
{
	s->literal.lost |= !s->number && ch;
	if (s->number++ || ch)
		s->part = PART_TEXT;
}

/* Processes Bind after its two names: formats, then the values, each with its length. Returns true
 * for bytes of a value. */
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
		if (s->number == UINT32_MAX) /* NULL value: no bytes */
			s->number = 0;
		else if (s->number)
			s->bind = BIND_VALUE;
	}
	return false;
}

/* Processes a byte of the message's names; the last one is the statement's. When that statement
 * names a secret, its values are secret, too. */
static void name_byte(struct redact_packets *s, uint8_t ch)
{
	if (ch) {
		s->name = s->name * 31 + ch;
		return;
	}
	if (--s->names) {
		s->name = 0;
		return;
	}
	s->part = s->then;
	if (s->part == PART_BIND && !s->masks && !(s->secret_names >> s->name % 64 & 1))
		s->frames.secret = false;
}

/* Takes flags from a byte of the login's fixed part. */
static void login_flags(struct redact_packets *s, uint8_t ch)
{
	if (s->fixed == LOGIN_FIXED) {
		s->compresses = ch & CLIENT_COMPRESS;
		s->database = ch & CLIENT_DATABASE;
	} else if (s->fixed == LOGIN_FIXED - 1) {
		s->auth_sized = (ch & CLIENT_SECURE) && (ch & CLIENT_41);
	} else if (s->fixed == LOGIN_FIXED - 3) {
		s->compresses |= ch & CLIENT_ZSTD;
		s->attributes = ch & CLIENT_ATTRIBUTES;
	}
}

/* Masks the answer to the server's challenge, in a login between the names of user and database.
 * Where its size is not known for sure, all the rest is masked. */
static uint8_t auth_byte(struct redact_packets *s, uint8_t ch)
{
	bool size = s->part == PART_AUTH_SIZE;

	if (size && (!s->auth_sized || ch > AUTH_MAX || ch > s->behind)) {
		s->part = PART_MASK;
		return '*';
	}
	s->number = size ? ch : s->number - 1;
	s->part = s->number ? PART_AUTH : s->database ? PART_DATABASE : PART_MASK;
	return size ? ch : '*';
}

static uint8_t byte(struct redact_packets *s, const struct redact_call *c, uint8_t ch)
{
	if (s->fixed) {
		if (s->login)
			login_flags(s, ch);
		s->fixed--;
		return ch;
	}
	switch (s->part) {
	case PART_MASK:
		return '*';
	case PART_COMMAND:
		command(s, c->sql, ch);
		return ch;
	case PART_NAMES:
		name_byte(s, ch);
		return ch;
	case PART_ATTRIBUTES:
		attribute_byte(s, ch);
		return ch;
	case PART_AUTH_SIZE:
	case PART_AUTH:
		return auth_byte(s, ch);
	case PART_DATABASE:
		s->part = ch ? PART_DATABASE : PART_MASK;
		return ch;
	case PART_TEXT:
		if (!s->mysql && !ch) { /* in PostgreSQL only types follow the text */
			s->frames.secret = false;
			return ch;
		}
		return text(s, c->sql, ch);
	case PART_BIND:
		return bind_byte(s, ch) ? '*' : ch;
	case PART_KEEP:
		break;
	}
	return ch;
}

/* Processes bytes of a packet. A complete statement is checked once for names of secrets, which
 * hardly any has. */
static void body(void *own, struct redact_call *c, size_t at, size_t n)
{
	struct redact_packets *s = own;
	size_t end = at + n;
	bool whole = at + s->frames.left <= c->len;

	for (size_t i = at; i < end && s->frames.secret; i++) {
		if (s->part == PART_ATTRIBUTES && !has_attributes(s, c->p[i]))
			s->part = PART_TEXT;
		if (s->part == PART_TEXT && s->fresh && whole && !c->sql && !s->goes_on &&
		    !redact_names_secret(c->p + i, end - i)) {
			s->frames.secret = false;
			break;
		}
		if (s->part == PART_AUTH_SIZE)
			s->behind = at + s->frames.left - i - 1;
		redact_put(c, i, byte(s, c, c->p[i]));
	}
}

/* Stores the name of a prepared statement that names a secret; for MySQL it applies to all
 * statements, because the server assigns their ids. */
static void packet_end(void *own)
{
	struct redact_packets *s = own;
	uint64_t name = 1ULL << s->name % 64;
	bool bound = s->mysql ? s->command == COM_STMT_EXECUTE : s->frames.head[0] == 'B';

	s->echoes |= s->literal.named || (bound && s->secret_names & name);
	if (s->mysql && s->command == COM_STMT_PREPARE && s->literal.named)
		s->secret_names = UINT64_MAX;
	else if (!s->mysql && s->frames.head[0] == 'P' && s->literal.named)
		s->secret_names |= name;
	else if (!s->mysql && s->frames.head[0] == 'P' && !s->name)
		s->secret_names &= ~name;
}

/* ---- packets ---- */

/* MySQL: length 3 (little endian), sequence 1. */
static int mysql_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct redact_packets *s = own;
	uint32_t sz = le24(f->head);
	bool first = s->startup, more = s->goes_on;

	s->goes_on = sz == MYSQL_MAX;
	s->startup = false;
	if (more) { /* independent of the previous part */
		f->left = sz;
		return 0;
	}
	redact_frame(f, sz, true);
	s->command = 0;
	if (first) {
		s->login = true;
		s->tls = sz == LOGIN_FIXED;
		set_part(s, LOGIN_FIXED, 1, PART_AUTH_SIZE);
	} else if (f->head[3] && s->login) {
		set_part(s, 0, 0, PART_MASK); /* responses to the server's challenges */
	} else if (f->head[3]) {	      /* content of a loaded file */
		set_part(s, 0, 0, c->sql ? PART_MASK : PART_KEEP);
	} else {
		s->login = false;
		/* Compressed packets have a different header: not tracked any more. */
		s->sealed = s->compresses;
		set_part(s, 0, 0, PART_COMMAND);
	}
	return s->sealed ? FRAME_BAD : 0;
}

/* PostgreSQL: type 1, length including itself 4 (big endian); the first message has no type. */
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
	s->masks = c->sql;
	if (type == 'p' || (c->sql && type == 'd'))
		set_part(s, 0, 0, PART_MASK);
	else if (type == 'Q')
		set_part(s, 0, 0, PART_TEXT);
	else if (type == 'P')
		set_part(s, 0, 1, PART_TEXT);
	else if (type == 'B' && (c->sql || s->secret_names))
		set_part(s, 0, 2, PART_BIND);
	else if (type == 'F' && c->sql) /* id of a function, then as above */
		set_part(s, 4, 0, PART_BIND);
	else
		set_part(s, 0, 0, PART_KEEP);
	return 0;
}

/* Whether a client's call starts with packets. */
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

	if (c->sql || s->login || !s->late) {
		redact_mask(c, from, to, '*');
		return;
	}
	s->literal.lost = true;
	for (size_t i = from; i < to; i++)
		redact_put(c, i, text(s, false, c->p[i]));
}

static const struct redact_framing mysql = {
	.head_sz = HEAD_SZ,
	.head = mysql_head,
	.starts = starts,
	.body = body,
	.end = packet_end,
	.lost = lost,
};

static const struct redact_framing postgresql = {
	.head_sz = HEAD_SZ,
	.head = postgresql_head,
	.starts = starts,
	.body = body,
	.end = packet_end,
	.lost = lost,
};

/* ---- answers: errors, and COPY rows of PostgreSQL ---- */

static int answer_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct redact_packets *s = own;
	uint8_t type = f->head[0];

	if (!isalnum(type) || be32(f->head + 1) < 4)
		return FRAME_BAD;
	if (c->sql && (type == 'd' || type == 'H' || type == 'W'))
		s->copies = true;
	else if (type == 'C' || type == 'Z')
		s->copies = false;
	s->command = 0;
	return redact_frame(f, be32(f->head + 1) - 4, type == 'E' || (c->sql && type == 'd'));
}

/* Masks rows, and all fields of an error but its severity and code. Each field is its kind and
 * then a NUL-terminated string. */
static uint8_t answer_byte(void *own, const struct redact_call *c, uint8_t ch)
{
	struct redact_packets *s = own;

	(void)c;
	if (s->frames.head[0] == 'd')
		return '*';
	if (!s->command || !ch) {
		s->command = ch;
		return ch;
	}
	return strchr("SVC", s->command) ? ch : '*';
}

static bool answer_starts(void *own, const struct redact_call *c)
{
	(void)own;
	if (c->pos <= 1 && c->kept && (*c->p == 'R' || *c->p == 'E')) /* pos 1: TLS was refused */
		return true;
	return c->kept >= 5 && *c->p && strchr("RSKZTDCENAGHWdcI123nst", *c->p) &&
	       be32(c->p + 1) >= 4 && (uint64_t)be32(c->p + 1) + 1 <= c->len;
}

static void answer_lost(void *own, struct redact_call *c, size_t from, size_t to)
{
	struct redact_packets *s = own;

	if (s->copies)
		redact_mask(c, from, to, '*');
}

static const struct redact_framing postgresql_answers = {
	.head_sz = 5,
	.head = answer_head,
	.starts = answer_starts,
	.byte = answer_byte,
	.lost = answer_lost,
};

static int reply_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct redact_packets *s = own;

	(void)c;
	s->number = 0;
	return redact_frame(f, le24(f->head), true);
}

/* Masks the text of ERR_Packet. */
static uint8_t reply_byte(void *own, const struct redact_call *c, uint8_t ch)
{
	struct redact_packets *s = own;

	(void)c;
	if (!s->number)
		s->frames.secret = ch == 0xff;
	return s->number++ < ERR_HEAD ? ch : '*';
}

static bool reply_starts(void *own, const struct redact_call *c)
{
	(void)own;
	return c->kept >= HEAD_SZ && c->p[3] == 1 && le24(c->p) + HEAD_SZ <= c->len;
}

static const struct redact_framing mysql_answers = {
	.head_sz = HEAD_SZ,
	.head = reply_head,
	.starts = reply_starts,
	.byte = reply_byte,
};

/* `first`: the call starts with a message, because the client has sent something before it. */
static void follow_answers(struct redact_side *side, struct redact_call *c, bool mysql, bool first)
{
	struct redact_packets *s = side->packets;

	if (!s)
		s = side->packets = calloc(1, sizeof(*s));
	if (!s) {
		redact_mask(c, 0, c->kept, '*');
		return;
	}
	if (first && (!s->frames.in_step || s->frames.next != c->pos))
		redact_frames_begin(&s->frames, c->pos);
	redact_frames(&s->frames, mysql ? &mysql_answers : &postgresql_answers, s, c, 0);
}

/* ---- which connections ---- */

/* Whether the available first bytes of a direction are a MySQL server's greeting. */
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
	if (sz > 3 && p[3] != 1 && p[3] != 2) /* 2: after a request for TLS */
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
	if (!memcmp(p + 4, request, n))
		return true;
	/* Kafka's Metadata request is identical up to the first parameter's name. */
	return !memcmp(p + 4, version, n) && (sz <= STARTUP_SNIFF || isalpha(p[STARTUP_SNIFF]));
}

/* The client is known: processes the bytes collected from it. */
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
	*p = (struct redact_packets){.mysql = kind == SQL_MYSQL, .startup = !late, .late = late};
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

/* Recognises the protocol by the first bytes of a direction, collected until there are enough. */
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
		if (p[5] != 3) { /* requests encryption: startup may follow */
			s = redact_first(c);
			if (s) {
				s->sniff_pos += STARTUP_SNIFF;
				s->sniff_sz = 0;
			}
			return false;
		}
		if (n > STARTUP_SNIFF) {
			begin(c, SQL_POSTGRESQL, c->dir, false);
			return true;
		}
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

/* Whether the bytes may start a statement's text or precede it. */
static bool is_text(const uint8_t *p, size_t sz)
{
	if (sz > 2 && !p[0] && p[1] == 1)
		return is_text(p + 2, sz - 2);
	for (size_t i = 0; i < sz && i < 6; i++)
		if (p[i] < ' ' && !isspace(p[i]))
			return false;
	return sz;
}

/* Whether the call starts with a relevant client packet; an incomplete one is recognised by its
 * text. */
static enum sql_kind late(const struct redact_call *c)
{
	const uint8_t *p = c->p;
	uint64_t end;
	bool matters, texts;

	if (c->kept < 6)
		return SQL_NOT;
	texts = p[4] == COM_QUERY || p[4] == COM_STMT_PREPARE;
	end = le24(p) + 4;
	if (!p[3] && (end == c->len || (end > c->len && texts && c->len > LATE_MIN))) {
		if (p[4] == COM_CHANGE_USER ||
		    (c->sql && (p[4] == COM_STMT_EXECUTE || p[4] == COM_STMT_SEND_LONG_DATA)))
			return SQL_MYSQL;
		if (texts && (c->sql || redact_names_secret(p + 5, c->kept - 5)) &&
		    is_text(p + 5, c->kept - 5))
			return SQL_MYSQL;
	}
	end = (uint64_t)be32(p + 1) + 1;
	if (*p == 'p' && end == c->len)
		return SQL_POSTGRESQL;
	if ((*p != 'Q' && *p != 'P' && *p != 'B') || end < 5)
		return SQL_NOT;
	if (end > c->len && (*p != 'Q' || c->len <= LATE_MIN || !is_text(p + 5, c->kept - 5)))
		return SQL_NOT;
	if (end < c->len && (end >= c->kept || !isalpha(p[end])))
		return SQL_NOT;
	matters = c->sql || (*p != 'B' && redact_names_secret(p + 5, c->kept - 5));
	return matters ? SQL_POSTGRESQL : SQL_NOT;
}

static void follow(struct redact_conn *conn, struct redact_side *side, struct redact_call *c)
{
	struct redact_packets *s = side->packets;

	if (!s) { /* out of memory: mask everything */
		redact_mask(c, 0, c->kept, '*');
		return;
	}
	if (s->answered)
		s->answered = s->echoes = false;
	redact_frames(&s->frames, s->mysql ? &mysql : &postgresql, s, c, 0);
	if (s->tls && !s->frames.left)
		conn->sql = SQL_NOT;
}

static void answer(struct redact_conn *conn, struct redact_call *c)
{
	struct redact_packets *client = conn->side[conn->client].packets;
	bool first = client && !client->answered;

	if (client)
		client->answered = true;
	if (c->sql || !client || client->echoes)
		follow_answers(&conn->side[c->dir], c, conn->sql == SQL_MYSQL, first);
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
	else if (conn->sql)
		answer(conn, c);
	return conn->sql && conn->sql_sure;
}
