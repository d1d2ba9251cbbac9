/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MongoDB's wire protocol (github.com/mongodb/specifications source/message, source/compression;
 * mongodb.com/docs/manual/reference/mongodb-wire-protocol). Everything is little endian.
 *
 *   header    size:4  request id:4  response to:4  opcode:4
 *   MSG       flags:4  sections  [checksum:4]
 *             section: 0 document | 1 size:4 name NUL documents
 *   QUERY     flags:4  db.collection NUL  skip:4  return:4  document
 *   REPLY     flags:4  cursor:8  from:4  count:4  documents
 *   COMPRESSED  opcode:4  size:4  compressor:1  the rest of that message
 *
 * A command is a document whose first field is its name. Paired by request id. A request with
 * moreToCome, and the old writes, have no response. In a stream (exhaust) each response answers the
 * one before: the first belongs to the request, those that follow are messages of their own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bson.h"
#include "unpack.h"

enum opcode {
	OP_REPLY = 1,
	OP_UPDATE = 2001,
	OP_INSERT = 2002,
	OP_QUERY = 2004,
	OP_GET_MORE = 2005,
	OP_DELETE = 2006,
	OP_KILL_CURSORS = 2007,
	OP_COMPRESSED = 2012,
	OP_MSG = 2013,
};
enum { CHECKSUM = 1, MORE_TO_COME = 2, EXHAUST_ALLOWED = 1 << 16 };
enum { CURSOR_NOT_FOUND = 1, QUERY_FAILURE = 2 };
enum {
	HEADER_SZ = 16,
	MESSAGE_MAX = 48000000,
	NAME_MAX_LEN = 64,   /* of commands and databases */
	SPACE_MAX_LEN = 255, /* of db.collection */
	WAIT_MAX = 1 << 16,  /* bytes of a message that are looked into at most */
};

struct header {
	uint32_t size, id, response_to, op;
};

/* A connection. */
struct mongodb {
	uint8_t *plain;	  /* of the compressed message at hand, WAIT_MAX */
	bool streaming;	  /* the response that names stream_id belongs to a stream */
	bool stream_sure; /* moreToCome said so; else an open cursor */
	uint32_t stream_id;
	char method[NAME_MAX_LEN + 1], target[SPACE_MAX_LEN + 1];
};

/* What of a message is in view. */
struct message {
	struct header h;
	uint32_t op; /* of what was compressed */
	uint32_t flags, count;
	uint64_t cursor;
	struct span space;	/* db.collection of the old opcodes */
	struct span sequence;	/* name of the first section of documents */
	const char *compressor; /* NULL: not compressed */
	bool opaque;		/* compressed, and not to be opened */
	bool found, short_end;	/* the document; it is not whole */
	struct bson doc;
};

/* ---- what may stand where ---- */

static bool is_request_op(uint32_t op)
{
	return op == OP_MSG || (op >= OP_UPDATE && op <= OP_KILL_CURSORS && op != 2003);
}

static bool header_at(const uint8_t *p, size_t len, struct header *h)
{
	struct l7_cursor c = l7_cursor_at(p, len);

	h->size = l7_le(&c, 4);
	h->id = l7_le(&c, 4);
	h->response_to = l7_le(&c, 4);
	h->op = l7_le(&c, 4);
	return !c.cut && h->size >= HEADER_SZ + 9 && h->size <= MESSAGE_MAX &&
	       (is_request_op(h->op) || h->op == OP_REPLY || h->op == OP_COMPRESSED);
}

static bool is_name(struct span s, size_t max)
{
	if (!s.len || s.len > max)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
			return false;
	return true;
}

/* Names of documents' sequences, by which their command is known. */
static struct span command_of(struct span sequence)
{
	static const char *const of[][2] = {{"documents", "insert"},
					    {"updates", "update"},
					    {"deletes", "delete"},
					    {"ops", "bulkWrite"},
					    {"nsInfo", "bulkWrite"}};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (l7_is(sequence, of[i][0]))
			return (struct span){of[i][1], strlen(of[i][1])};
	return (struct span){"", 0};
}

/* ---- bodies: false when it is none ---- */

static bool read_doc(struct message *m, struct l7_cursor *c)
{
	struct bson_field first;
	struct bson b;

	if (c->cut || c->p == c->end)
		return true;
	bson_begin(&m->doc, c->p, l7_left(c));
	b = m->doc;
	if (b.bad || b.size > (m->compressor ? MESSAGE_MAX : m->h.size))
		return false;
	m->found = !b.c.cut;
	if (bson_next(&b, &first))
		return is_name(first.name, SPACE_MAX_LEN);
	return !b.bad;
}

static bool read_sections(struct message *m, struct l7_cursor *c)
{
	m->flags = l7_le(c, 4);
	if (m->flags & 0xffff & ~(CHECKSUM | MORE_TO_COME))
		return false;
	while (!c->cut && c->p < c->end) {
		unsigned kind = l7_be(c, 1);
		struct l7_cursor inner;
		uint64_t size;

		if (!kind)
			return read_doc(m, c);
		if (kind != 1)
			return false;
		size = l7_le(c, 4);
		inner = *c;
		if (!c->cut && (size < 5 || size > m->h.size) && !m->compressor)
			return false;
		m->sequence = l7_cstring(&inner);
		if (!inner.cut && !is_name(m->sequence, NAME_MAX_LEN))
			return false;
		l7_take(c, size < 4 ? 0 : size - 4);
	}
	return true;
}

static bool read_space(struct message *m, struct l7_cursor *c)
{
	m->space = l7_cstring(c);
	return c->cut ||
	       (is_name(m->space, SPACE_MAX_LEN) && memchr(m->space.p, '.', m->space.len));
}

static bool read_old(struct message *m, struct l7_cursor *c)
{
	m->flags = l7_le(c, 4);
	if (m->op == OP_KILL_CURSORS)
		return c->cut || !m->flags;
	if (m->op == OP_INSERT || m->op == OP_QUERY ? m->flags >> 8 : m->flags)
		return c->cut;
	if (!read_space(m, c))
		return false;
	if (m->op != OP_QUERY)
		return true;
	l7_take(c, 8);
	return read_doc(m, c);
}

static bool read_reply(struct message *m, struct l7_cursor *c)
{
	m->flags = l7_le(c, 4);
	m->cursor = l7_le(c, 8);
	l7_take(c, 4);
	m->count = l7_le(c, 4);
	if (m->flags >> 4 || m->count > MESSAGE_MAX / BSON_EMPTY)
		return false;
	return !m->count || read_doc(m, c);
}

static bool read_body(struct message *m, struct l7_cursor c)
{
	if (m->op == OP_MSG)
		return read_sections(m, &c);
	return m->op == OP_REPLY ? read_reply(m, &c) : read_old(m, &c);
}

/* `plain`: WAIT_MAX bytes for what comes out; NULL: not opened. */
static bool read_compressed(struct message *m, struct l7_cursor c, uint8_t *plain)
{
	static const char *const names[] = {"noop", "snappy", "zlib", "zstd"};
	static const enum unpack how[] = {0, UNPACK_SNAPPY, UNPACK_ZLIB, UNPACK_ZSTD};
	uint64_t size;
	unsigned id;

	m->op = l7_le(&c, 4);
	size = l7_le(&c, 4);
	id = l7_be(&c, 1);
	m->opaque = true;
	m->compressor = "";
	if (c.cut)
		return true;
	if ((m->op != OP_REPLY && !is_request_op(m->op)) || size > MESSAGE_MAX ||
	    id >= sizeof(names) / sizeof(names[0]))
		return false;
	m->compressor = names[id];
	if (id) {
		struct span packed = {(const char *)c.p, l7_left(&c)};

		if (!plain)
			return true;
		c = l7_cursor_at(plain,
				 unpack(how[id], packed, plain, size < WAIT_MAX ? size : WAIT_MAX));
	}
	if (c.p == c.end)
		return true;
	m->opaque = false;
	/* What was opened is wrong: then it was not what it seemed to be. */
	if (!read_body(m, c))
		m->opaque = true;
	m->short_end = l7_left(&c) < size;
	return true;
}

/* False: no message begins here. */
static bool read_message(struct message *m, const struct l7_view *v, uint8_t *plain)
{
	struct l7_cursor c = l7_cursor(v);

	*m = (struct message){.space = {"", 0}, .sequence = {"", 0}};
	if (!header_at(v->p, v->len, &m->h))
		return false;
	if (m->h.size < v->len)
		c.end = v->p + m->h.size;
	l7_take(&c, HEADER_SZ);
	m->op = m->h.op;
	m->short_end = m->h.size > v->len;
	return m->op == OP_COMPRESSED ? read_compressed(m, c, plain) : read_body(m, c);
}

/* ---- requests ---- */

struct command {
	struct span name, db, collection;
};

/* Their first value is a name, but no collection's. */
static bool names_other(struct span command)
{
	static const char *const names[] = {"createUser",
					    "updateUser",
					    "dropUser",
					    "usersInfo",
					    "grantRolesToUser",
					    "revokeRolesFromUser",
					    "createRole",
					    "updateRole",
					    "dropRole",
					    "rolesInfo",
					    "grantRolesToRole",
					    "revokeRolesFromRole",
					    "getParameter",
					    "grantPrivilegesToRole",
					    "revokePrivilegesFromRole",
					    "getLog",
					    "configureFailPoint",
					    "setFeatureCompatibilityVersion",
					    "enableSharding",
					    "addShard",
					    "removeShard",
					    NULL};

	for (size_t i = 0; names[i]; i++)
		if (l7_is(command, names[i]))
			return true;
	return false;
}

/* True when all that is wanted was found. */
static bool read_command(struct bson b, struct command *cmd)
{
	struct bson_field f;
	struct bson inner;

	if (!bson_next(&b, &f))
		return b.ended;
	/* Wrapped, as readers of secondaries did. */
	if (f.type == BSON_DOCUMENT && (l7_is(f.name, "$query") || l7_is(f.name, "query"))) {
		bson_inner(&f, &inner);
		return read_command(inner, cmd);
	}
	cmd->name = f.name;
	if (!names_other(f.name))
		cmd->collection = bson_text(&f);
	if (f.type == BSON_DOCUMENT && l7_is(f.name, "explain")) {
		struct command explained = {.name = {"", 0}};

		bson_inner(&f, &inner);
		read_command(inner, &explained);
		cmd->collection = explained.collection;
	}
	while (bson_next(&b, &f)) {
		if (l7_is(f.name, "$db"))
			cmd->db = bson_text(&f);
		else if (l7_is(f.name, "collection") && l7_is(cmd->name, "getMore"))
			cmd->collection = bson_text(&f);
		if (cmd->db.len)
			return true;
	}
	return b.ended;
}

static struct span bounded(struct span s, size_t max)
{
	return s.p ? (struct span){s.p, s.len < max ? s.len : max} : (struct span){"", 0};
}

/* db.collection, of which either may be unknown. */
static struct span space_of(struct l7_parser *parser, const struct command *cmd)
{
	struct span db = bounded(cmd->db, NAME_MAX_LEN),
		    coll = bounded(cmd->collection, SPACE_MAX_LEN - NAME_MAX_LEN - 1);

	/* Commands of the admin database name whole spaces. */
	if (!db.len || !coll.len || (l7_is(db, "admin") && memchr(coll.p, '.', coll.len)))
		return coll.len ? coll : db;
	return l7_text(parser, "%.*s.%.*s", (int)db.len, db.p, (int)coll.len, coll.p);
}

static const char *old_name(uint32_t op)
{
	switch (op) {
	case OP_UPDATE:
		return "update";
	case OP_INSERT:
		return "insert";
	case OP_GET_MORE:
		return "getMore";
	case OP_DELETE:
		return "delete";
	case OP_KILL_CURSORS:
		return "killCursors";
	default:
		return "find";
	}
}

static bool is_command_space(struct span space)
{
	return space.len > 5 && !memcmp(space.p + space.len - 5, ".$cmd", 5);
}

/* False: more of it should come first. */
static bool describe_request(struct l7_parser *parser, const struct message *q,
			     struct l7_message *m)
{
	struct command cmd = {.name = {"", 0}, .db = {"", 0}, .collection = {"", 0}};
	bool enough = true,
	     command = q->op == OP_MSG || (q->op == OP_QUERY && is_command_space(q->space));

	if (q->opaque) {
		m->method = (struct span){"compressed", 10};
	} else if (command) {
		enough = q->found && read_command(q->doc, &cmd);
		if (q->op == OP_QUERY) {
			cmd.db = (struct span){q->space.p, q->space.len - 5};
			enough |= cmd.name.len != 0;
		}
		if (!cmd.name.len)
			cmd.name = command_of(q->sequence);
		m->method = bounded(cmd.name, NAME_MAX_LEN);
		m->target = space_of(parser, &cmd);
	} else {
		const char *name = old_name(q->op);

		m->method = (struct span){name, strlen(name)};
		m->target = bounded(q->space, SPACE_MAX_LEN);
		enough = q->space.len || q->op == OP_KILL_CURSORS;
	}
	m->type = q->op == OP_QUERY || q->op == OP_GET_MORE ? L7_REQUEST : L7_ONEWAY;
	if (q->op == OP_MSG)
		m->type = q->flags & MORE_TO_COME ? L7_ONEWAY : L7_REQUEST;
	if (q->compressor)
		m->detail = l7_text(parser, "{\"compressor\":\"%s\"}", q->compressor);
	else if (q->op == OP_MSG && q->flags & EXHAUST_ALLOWED)
		m->detail = (struct span){"{\"exhaust\":true}", 16};
	return enough && !q->opaque && (m->method.len || !q->short_end);
}

/* ---- responses ---- */

struct outcome {
	bool ok_seen, ok, failed, cursor;
	int64_t code;
	struct span code_name, text;
};

/* A write's error, or the concern's: the command itself went well. */
static void read_error(struct bson b, struct outcome *o)
{
	struct bson_field f;
	double v;

	o->failed = true;
	while (bson_next(&b, &f)) {
		if (l7_is(f.name, "code") && bson_number(&f, &v) && v >= INT32_MIN &&
		    v <= INT32_MAX)
			o->code = v;
		else if (l7_is(f.name, "codeName"))
			o->code_name = bson_text(&f);
		else if (l7_is(f.name, "errmsg"))
			o->text = bson_text(&f);
	}
}

static void read_field(const struct bson_field *f, struct outcome *o)
{
	struct bson inner;
	struct bson_field first;
	double v;

	if (l7_is(f->name, "ok") && bson_number(f, &v)) {
		o->ok_seen = true;
		o->ok = v == 1;
	} else if (l7_is(f->name, "cursor")) {
		o->cursor = true;
	} else if (l7_is(f->name, "code") && bson_number(f, &v) && v >= INT32_MIN &&
		   v <= INT32_MAX) {
		o->code = v;
	} else if (l7_is(f->name, "codeName")) {
		o->code_name = bson_text(f);
	} else if (l7_is(f->name, "errmsg") || l7_is(f->name, "$err")) {
		o->text = bson_text(f);
	} else if (l7_is(f->name, "writeErrors") && f->type == BSON_ARRAY) {
		bson_inner(f, &inner);
		if (!bson_next(&inner, &first) || first.type != BSON_DOCUMENT)
			return;
		bson_inner(&first, &inner);
		read_error(inner, o);
	} else if (l7_is(f->name, "writeConcernError") && f->type == BSON_DOCUMENT && !o->failed) {
		bson_inner(f, &inner);
		read_error(inner, o);
	}
}

/* Codes of write errors, which come without a name. */
static const char *name_of_code(int64_t code)
{
	switch (code) {
	case 11000:
		return "DuplicateKey";
	case 121:
		return "DocumentValidationFailure";
	case 112:
		return "WriteConflict";
	case 43:
		return "CursorNotFound";
	default:
		return NULL;
	}
}

/* False: more of it should come first. */
static bool describe_outcome(struct l7_parser *parser, const struct message *a,
			     struct l7_message *m)
{
	struct outcome o = {.code_name = {"", 0}, .text = {"", 0}};
	struct bson b = a->doc;
	struct bson_field f;
	const char *name;

	while (a->found && bson_next(&b, &f))
		read_field(&f, &o);
	if (a->op == OP_REPLY && a->flags & (CURSOR_NOT_FOUND | QUERY_FAILURE)) {
		o.failed = true;
		if (a->flags & CURSOR_NOT_FOUND)
			o.code_name = (struct span){"CursorNotFound", 14};
	} else if (a->op == OP_REPLY && !o.ok_seen && !o.text.len) {
		o.ok = o.ok_seen = true; /* documents, no command's result */
	}
	m->is_error = o.failed || (o.ok_seen && !o.ok);
	name = name_of_code(o.code);
	/* Results come before "ok", but for errors: then it is first. */
	if (!m->is_error && (o.ok_seen || o.cursor))
		m->status = (struct span){"OK", 2};
	else if (m->is_error && o.code_name.len)
		m->status = bounded(o.code_name, NAME_MAX_LEN);
	else if (m->is_error && name)
		m->status = (struct span){name, strlen(name)};
	else if (m->is_error)
		m->status = o.code ? l7_text(parser, "%" PRId64, o.code) : (struct span){"ERR", 3};
	if (m->is_error && o.text.len)
		m->detail = l7_text(parser, "{\"code\":%" PRId64 ",\"error\":\"%s\"}", o.code,
				    l7_json(parser, o.text, 200).p);
	return b.ended || !a->short_end;
}

/* The streams' state; the response's type. */
static void follow_stream(struct l7_parser *parser, const struct message *a, struct l7_message *m)
{
	struct mongodb *s = parser->state;
	const struct l7_message *q = l7_pending(parser, a->h.response_to);
	bool more = a->op == OP_MSG ? a->flags & MORE_TO_COME : a->op == OP_REPLY && a->cursor;

	m->type = L7_RESPONSE;
	if (s->streaming && s->stream_id == a->h.response_to && (s->stream_sure || !q)) {
		m->type = L7_ONEWAY;
		m->method = (struct span){s->method, strlen(s->method)};
		m->target = (struct span){s->target, strlen(s->target)};
		q = NULL;
	} else if (more) {
		struct span method = q ? bounded(q->method, NAME_MAX_LEN) : (struct span){"", 0},
			    target = q ? bounded(q->target, SPACE_MAX_LEN) : (struct span){"", 0};

		memcpy(s->method, method.p, method.len);
		memcpy(s->target, target.p, target.len);
		s->method[method.len] = s->target[target.len] = 0;
	} else {
		return; /* an old reply between a stream's */
	}
	s->streaming = more;
	s->stream_sure = a->op == OP_MSG;
	s->stream_id = a->h.id;
}

static bool describe_response(struct l7_parser *parser, const struct message *a,
			      struct l7_message *m)
{
	bool enough = !a->opaque && describe_outcome(parser, a, m);

	if (a->compressor && !m->detail.len)
		m->detail = l7_text(parser, "{\"compressor\":\"%s\"}", a->compressor);
	return enough;
}

/* ---- the protocol ---- */

static bool is_response(const struct header *h)
{
	return h->op == OP_REPLY || (h->response_to && (h->op == OP_MSG || h->op == OP_COMPRESSED));
}

static int64_t mongodb_parse(struct l7_parser *parser, const struct l7_view *v,
			     struct l7_message *m)
{
	struct mongodb *s = parser->state;
	struct message msg;
	bool wait;

	if (v->len < HEADER_SZ)
		return L7_PARTIAL;
	if (!s->plain)
		s->plain = malloc(WAIT_MAX);
	if (!read_message(&msg, v, s->plain) || is_response(&msg.h) == v->requests)
		return L7_BAD;
	wait = !v->cut && !v->last && v->len < msg.h.size && v->len < WAIT_MAX;
	m->id = v->requests ? msg.h.id : msg.h.response_to;
	if (v->requests) {
		if (!describe_request(parser, &msg, m) && wait)
			return L7_PARTIAL;
		return msg.h.size;
	}
	if (!describe_response(parser, &msg, m) && wait)
		return L7_PARTIAL;
	follow_stream(parser, &msg, m);
	return msg.h.size;
}

static size_t mongodb_resync(const struct l7_view *v, size_t from)
{
	struct message msg;

	for (size_t i = from; i + HEADER_SZ < v->len; i++) {
		struct l7_view at = {.p = v->p + i, .len = v->len - i};

		/* The upper half of every opcode, but the reply's, is the same. */
		if (((at.p[13] == 7 && !at.p[14]) || at.p[12] == OP_REPLY) && !at.p[15] &&
		    read_message(&msg, &at, NULL))
			return i;
	}
	return v->len;
}

enum looks { NOTHING, REQUEST, RESPONSE };

static enum looks looks_like(const struct l7_view *v)
{
	struct message msg;

	if (v->len < HEADER_SZ || !read_message(&msg, v, NULL))
		return NOTHING;
	/* A number as small as that of replies says nothing without the rest. */
	if (msg.op == OP_REPLY && !msg.compressor && !msg.found)
		return NOTHING;
	return is_response(&msg.h) ? RESPONSE : REQUEST;
}

/* A reply's header alone, as clients read it. */
static bool may_be_reply(const struct l7_view *v)
{
	struct header h;

	return v->len >= HEADER_SZ && v->len < HEADER_SZ + 20 + BSON_EMPTY &&
	       header_at(v->p, v->len, &h) && h.op == OP_REPLY;
}

static int mongodb_bid(const struct l7_view *sent, const struct l7_view *received,
		       int *requests_sent)
{
	enum looks s = looks_like(sent), r = looks_like(received);

	if ((!s && !r) || s == r)
		return 0;
	if (s == REQUEST || r == RESPONSE)
		*requests_sent = 1;
	else
		*requests_sent = 0;
	/* One side may stand in the middle of a document. */
	if ((sent->len && !s && !may_be_reply(sent)) ||
	    (received->len && !r && !may_be_reply(received)))
		return 80;
	return 98;
}

static void mongodb_fini(void *state)
{
	struct mongodb *s = state;

	free(s->plain);
}

const struct l7_protocol l7_mongodb = {
	.name = "mongodb",
	.bid = mongodb_bid,
	.parse = mongodb_parse,
	.resync = mongodb_resync,
	.state_sz = sizeof(struct mongodb),
	.fini = mongodb_fini,
	.pair_by_id = true,
	.ports = {27017, 27018, 27019},
};
