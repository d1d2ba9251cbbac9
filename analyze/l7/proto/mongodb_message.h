/* SPDX-License-Identifier: BSD-2-Clause */
/* MongoDB messages: what is in view, and its content. */
#ifndef ANALYZE_L7_MONGODB_MESSAGE_H
#define ANALYZE_L7_MONGODB_MESSAGE_H

#include "analyze/l7/proto/bson.h"

enum opcode {
	OP_REPLY = 1,
	OP_UPDATE = 2001,
	OP_INSERT = 2002,
	OP_QUERY = 2004,
	OP_GET_MORE = 2005,
	OP_DELETE = 2006,
	OP_KILL_CURSORS = 2007,
	OP_COMMAND = 2010, /* versions 3.2 to 4.0, mostly between servers */
	OP_COMMANDREPLY = 2011,
	OP_COMPRESSED = 2012,
	OP_MSG = 2013,
};
enum { CHECKSUM = 1, MORE_TO_COME = 2, EXHAUST_ALLOWED = 1 << 16 };
enum { CURSOR_NOT_FOUND = 1, QUERY_FAILURE = 2 };
enum {
	MONGODB_HEADER_SZ = 16,
	MONGODB_NAME = 64,	/* of commands and databases */
	MONGODB_SPACE = 255,	/* of db.collection */
	MONGODB_LOOK = 1 << 16, /* limit of bytes parsed per message */
};

struct mongodb_header {
	uint32_t size, id, response_to, op;
};

/* The part of a message that is in view. */
struct mongodb_message {
	struct mongodb_header h;
	uint32_t op; /* after decompression */
	uint32_t flags, count;
	uint64_t cursor;
	struct span space;	/* db.collection of the old opcodes, db of OP_COMMAND */
	struct span command;	/* of OP_COMMAND */
	struct span sequence;	/* name of the first section of documents */
	const char *compressor; /* NULL: not compressed */
	bool opaque;		/* compressed, and cannot be decompressed */
	bool found, short_end;	/* a document was found; it is truncated */
	struct bson doc;
};

bool mongodb_header_at(const uint8_t *p, size_t len, struct mongodb_header *h);
bool mongodb_is_response(const struct mongodb_header *h);
/* `plain`: buffer of MONGODB_LOOK bytes for decompression; NULL: do not decompress. False: not the
 * beginning of a message. */
bool mongodb_message_read(struct mongodb_message *m, const struct l7_view *v, uint8_t *plain);

/* Sets the shown fields of a request, of a response. False: more bytes of it are needed first. */
bool mongodb_request(struct l7_parser *parser, const struct mongodb_message *q,
		     struct l7_message *m);
bool mongodb_outcome(struct l7_parser *parser, const struct mongodb_message *a,
		     struct l7_message *m);
/* The first bytes of s, `max` at most. */
struct span mongodb_bounded(struct span s, size_t max);

#endif
