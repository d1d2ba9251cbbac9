/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/proto/mongodb_message.h"
#include "analyze/l7/proto/unpack.h"

enum { MESSAGE_MAX = 48000000 };

/* ---- opcodes by direction ---- */

static bool is_request_op(uint32_t op)
{
	return op == OP_MSG || op == OP_COMMAND ||
	       (op >= OP_UPDATE && op <= OP_KILL_CURSORS && op != 2003);
}

static bool is_response_op(uint32_t op)
{
	return op == OP_REPLY || op == OP_COMMANDREPLY;
}

bool mongodb_header_at(const uint8_t *p, size_t len, struct mongodb_header *h)
{
	struct l7_cursor c = l7_cursor_at(p, len);

	h->size = l7_le(&c, 4);
	h->id = l7_le(&c, 4);
	h->response_to = l7_le(&c, 4);
	h->op = l7_le(&c, 4);
	return !c.cut && h->size >= MONGODB_HEADER_SZ + 9 && h->size <= MESSAGE_MAX &&
	       (is_request_op(h->op) || is_response_op(h->op) || h->op == OP_COMPRESSED);
}

bool mongodb_is_response(const struct mongodb_header *h)
{
	return is_response_op(h->op) ||
	       (h->response_to && (h->op == OP_MSG || h->op == OP_COMPRESSED));
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

/* ---- bodies; false: malformed ---- */

static bool read_doc(struct mongodb_message *m, struct l7_cursor *c)
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
		return is_name(first.name, MONGODB_SPACE);
	return !b.bad;
}

static bool read_sections(struct mongodb_message *m, struct l7_cursor *c)
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
		if (!inner.cut && !is_name(m->sequence, MONGODB_NAME))
			return false;
		l7_take(c, size < 4 ? 0 : size - 4);
	}
	return true;
}

static bool read_space(struct mongodb_message *m, struct l7_cursor *c)
{
	m->space = l7_cstring(c);
	return c->cut ||
	       (is_name(m->space, MONGODB_SPACE) && memchr(m->space.p, '.', m->space.len));
}

static bool read_old(struct mongodb_message *m, struct l7_cursor *c)
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

static bool read_reply(struct mongodb_message *m, struct l7_cursor *c)
{
	m->flags = l7_le(c, 4);
	m->cursor = l7_le(c, 8);
	l7_take(c, 4);
	m->count = l7_le(c, 4);
	if (m->flags >> 4 || m->count > MESSAGE_MAX / BSON_EMPTY)
		return false;
	return !m->count || read_doc(m, c);
}

static bool is_same(struct span a, struct span b)
{
	return a.len == b.len && !memcmp(a.p, b.p, a.len);
}

/* Selects one of two documents, whose order differs between servers and documentation: the
 * arguments, which begin with the command's name, or the result, but not "$" fields about it. */
static bool read_docs(struct mongodb_message *m, struct l7_cursor *c)
{
	struct bson_field first;
	struct bson b;

	for (int i = 0; i < 2; i++) {
		if (!read_doc(m, c))
			return false;
		if (!m->found)
			return true;
		b = m->doc;
		if (bson_next(&b, &first) &&
		    (m->command.len ? is_same(first.name, m->command) : *first.name.p != '$'))
			return true;
		l7_take(c, m->doc.size);
	}
	return true;
}

static bool read_command_op(struct mongodb_message *m, struct l7_cursor *c)
{
	if (m->op == OP_COMMAND) {
		m->space = l7_cstring(c);
		m->command = l7_cstring(c);
		if (!c->cut &&
		    (!is_name(m->space, MONGODB_NAME) || !is_name(m->command, MONGODB_NAME)))
			return false;
	}
	return read_docs(m, c);
}

static bool read_body(struct mongodb_message *m, struct l7_cursor c)
{
	if (m->op == OP_MSG)
		return read_sections(m, &c);
	if (m->op == OP_COMMAND || m->op == OP_COMMANDREPLY)
		return read_command_op(m, &c);
	return m->op == OP_REPLY ? read_reply(m, &c) : read_old(m, &c);
}

/* `plain`: output buffer of MONGODB_LOOK bytes; NULL: do not decompress. */
static bool read_compressed(struct mongodb_message *m, struct l7_cursor c, uint8_t *plain)
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
	if ((!is_response_op(m->op) && !is_request_op(m->op)) || size > MESSAGE_MAX ||
	    id >= sizeof(names) / sizeof(names[0]))
		return false;
	m->compressor = names[id];
	if (id) {
		struct span packed = {(const char *)c.p, l7_left(&c)};

		if (!plain)
			return true;
		c = l7_cursor_at(plain, unpack(how[id], packed, plain,
					       size < MONGODB_LOOK ? size : MONGODB_LOOK));
	}
	if (c.p == c.end)
		return true;
	m->opaque = false;
	/* The decompressed data is invalid, so it was not what it seemed to be. */
	if (!read_body(m, c))
		m->opaque = true;
	m->short_end = l7_left(&c) < size;
	return true;
}

bool mongodb_message_read(struct mongodb_message *m, const struct l7_view *v, uint8_t *plain)
{
	struct l7_cursor c = l7_cursor(v);

	*m = (struct mongodb_message){.space = {"", 0}, .command = {"", 0}, .sequence = {"", 0}};
	if (!mongodb_header_at(v->p, v->len, &m->h))
		return false;
	if (m->h.size < v->len)
		c.end = v->p + m->h.size;
	l7_take(&c, MONGODB_HEADER_SZ);
	m->op = m->h.op;
	m->short_end = m->h.size > v->len;
	return m->op == OP_COMPRESSED ? read_compressed(m, c, plain) : read_body(m, c);
}
