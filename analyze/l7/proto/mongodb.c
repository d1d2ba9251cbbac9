/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MongoDB's wire protocol (github.com/mongodb/specifications source/message, source/compression;
 * mongodb.com/docs/manual/reference/mongodb-wire-protocol). All numbers are little-endian.
 *
 *   header    size:4  request id:4  response to:4  opcode:4
 *   MSG       flags:4  sections  [checksum:4]
 *             section: 0 document | 1 size:4 name NUL documents
 *   QUERY     flags:4  db.collection NUL  skip:4  return:4  document
 *   REPLY     flags:4  cursor:8  from:4  count:4  documents
 *   COMMAND   db NUL  command NUL  document  document (3.2)    COMMANDREPLY  document  document
 *   COMPRESSED  opcode:4  size:4  compressor:1  the rest of that message
 *
 * A command is a document whose first field is its name. Paired by request id. Requests with
 * moreToCome, and the old write opcodes, have no response. In an exhaust stream each response
 * answers the previous one: the first belongs to the request, the others are one-way messages.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/proto/mongodb_message.h"

/* State of a connection. */
struct mongodb {
	uint8_t *plain;	  /* current message after decompression, MONGODB_LOOK bytes */
	bool streaming;	  /* a response to stream_id belongs to an exhaust stream */
	bool stream_sure; /* known by moreToCome; otherwise assumed because a cursor is open */
	uint32_t stream_id;
	char method[MONGODB_NAME + 1], target[MONGODB_SPACE + 1];
};

/* Updates the state of exhaust streams, and sets the type of a response. */
static void follow_stream(struct l7_parser *parser, const struct mongodb_message *a,
			  struct l7_message *m)
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
		struct span method = q ? mongodb_bounded(q->method, MONGODB_NAME)
				       : (struct span){"", 0},
			    target = q ? mongodb_bounded(q->target, MONGODB_SPACE)
				       : (struct span){"", 0};

		memcpy(s->method, method.p, method.len);
		memcpy(s->target, target.p, target.len);
		s->method[method.len] = s->target[target.len] = 0;
	} else {
		return; /* an old reply in the middle of a stream */
	}
	s->streaming = more;
	s->stream_sure = a->op == OP_MSG;
	s->stream_id = a->h.id;
}

static bool describe_response(struct l7_parser *parser, const struct mongodb_message *a,
			      struct l7_message *m)
{
	bool enough = !a->opaque && mongodb_outcome(parser, a, m);

	if (a->compressor && !m->detail.len)
		m->detail = l7_text(parser, "{\"compressor\":\"%s\"}", a->compressor);
	return enough;
}

static int64_t mongodb_parse(struct l7_parser *parser, const struct l7_view *v,
			     struct l7_message *m)
{
	struct mongodb *s = parser->state;
	struct mongodb_message msg;
	bool wait;

	if (v->len < MONGODB_HEADER_SZ)
		return L7_PARTIAL;
	if (!s->plain)
		s->plain = malloc(MONGODB_LOOK);
	if (!mongodb_message_read(&msg, v, s->plain) || mongodb_is_response(&msg.h) == v->requests)
		return L7_BAD;
	wait = !v->cut && !v->last && v->len < msg.h.size && v->len < MONGODB_LOOK;
	m->id = v->requests ? msg.h.id : msg.h.response_to;
	if (v->requests) {
		if (!mongodb_request(parser, &msg, m) && wait)
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
	struct mongodb_message msg;

	for (size_t i = from; i + MONGODB_HEADER_SZ < v->len; i++) {
		struct l7_view at = {.p = v->p + i, .len = v->len - i};

		/* The upper half of all opcodes except REPLY is the same. */
		if (((at.p[13] == 7 && !at.p[14]) || at.p[12] == OP_REPLY) && !at.p[15] &&
		    mongodb_message_read(&msg, &at, NULL))
			return i;
	}
	return v->len;
}

enum looks { NOTHING, REQUEST, RESPONSE };

static enum looks looks_like(const struct l7_view *v)
{
	struct mongodb_message msg;

	if (v->len < MONGODB_HEADER_SZ || !mongodb_message_read(&msg, v, NULL))
		return NOTHING;
	/* REPLY is a small number, so it is weak evidence on its own. */
	if (msg.op == OP_REPLY && !msg.compressor && !msg.found)
		return NOTHING;
	return mongodb_is_response(&msg.h) ? RESPONSE : REQUEST;
}

/* Is it only the header of a reply, as clients read it? */
static bool may_be_reply(const struct l7_view *v)
{
	struct mongodb_header h;

	return v->len >= MONGODB_HEADER_SZ && v->len < MONGODB_HEADER_SZ + 20 + BSON_EMPTY &&
	       mongodb_header_at(v->p, v->len, &h) && h.op == OP_REPLY;
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
	/* One side may begin in the middle of a document. */
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
