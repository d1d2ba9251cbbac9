/* SPDX-License-Identifier: BSD-2-Clause */
/* State of a connection between its calls, for each redactor; and the current call. */
#ifndef FORMAT_REDACT_CONN_H
#define FORMAT_REDACT_CONN_H

#include "format/bytes.h"
#include "format/redact/redact.h"
#include "format/redact/redact_fields.h"
#include "format/redact/redact_literal.h"

enum { CARRY_MAX = 64 }; /* longer than any token that identifies a secret in text */

/* State within a JSON object (NATS). */
struct redact_json {
	bool inside, quoted, escaped;
	bool value, secret; /* value: after a name; secret: it is a secret's */
	bool odd;	    /* the name contains escapes */
	uint8_t name_sz;
	char name[32];
};

/* State of lines (HTTP/1, inline commands) and Redis. A token that is cut at the end of a call is
 * scanned again, followed by the next call's bytes. */
struct redact_text {
	uint8_t carry[CARRY_MAX], carry_sz;
	uint8_t lines_done, names_done; /* bytes of `carry` already done by each scan */
	bool mid;			/* the last call ended within a line */
	bool in_head;			/* in the head of an HTTP/1 message */
	bool masking;			/* the rest of the line is secret */
	bool folds;	  /* the last line was secret: a line that starts with a space continues
			   * it */
	bool lost;	  /* unknown bytes directly before the next call are missing */
	bool gap;	  /* bytes of a head or of a secret are missing */
	uint8_t secrets;  /* number of following bulk strings that are secret */
	uint64_t bulk_at; /* position of the next of them */
	uint64_t unseen;  /* bytes of Redis commands are missing: position up to which others may be
			   * the rest of a secret; 0: none are */
	struct redact_json json;
	struct redact_field field;
};

/* State of the framed messages of a direction (redact_frames.h). */
struct redact_frames {
	bool in_step;
	bool secret; /* the current frame may contain a secret */
	bool blind;  /* bytes of it are missing: its rest is masked */
	uint8_t head[24], head_sz, want;
	uint64_t left; /* remaining bytes of the current frame */
	uint64_t open; /* of these, bytes before the secret, not masked */
	uint64_t next; /* position after the last call */
};

enum sql_part {
	PART_KEEP,
	PART_MASK,
	PART_NAMES,
	PART_TEXT,
	PART_COMMAND,
	PART_ATTRIBUTES, /* MySQL: before a query's text */
	PART_AUTH_SIZE,	 /* MySQL: one byte, then as many of the answer to the challenge */
	PART_AUTH,
	PART_DATABASE, /* MySQL: NUL-terminated name behind it */
	PART_BIND
};
enum bind_part { BIND_FORMATS, BIND_FORMAT, BIND_VALUES, BIND_SIZE, BIND_VALUE };

/* State of packets or messages, each with its length first. */
struct redact_packets {
	struct redact_frames frames;
	bool mysql, login, startup, goes_on;
	bool late;     /* seen from its middle on: may be another protocol */
	bool copies;   /* PostgreSQL server: COPY rows follow */
	bool echoes;   /* client: errors of the server may repeat a secret it has sent */
	bool answered; /* client: the server has sent something since */
	uint8_t command;
	bool tls, compresses, sealed; /* MySQL: data after the login is not readable */
	bool attributes;	      /* MySQL: queries may have attributes */
	bool auth_sized, database;    /* MySQL: what the login announced */
	uint64_t behind;	      /* bytes of the packet behind the size of its secret */
	uint32_t fixed;		      /* bytes to skip before `part` */
	enum sql_part part, then;
	uint8_t names; /* NUL-terminated strings to skip */
	bool fresh;    /* at the start of a statement's text */
	bool masks;    /* mask all bound values */
	struct redact_literal literal;
	uint64_t name;	       /* PostgreSQL: hash of the current statement name */
	uint64_t secret_names; /* prepared statements that name a secret, one bit each */
	enum bind_part bind;
	uint8_t int_sz;
	uint32_t number, values;
};

/* First bytes, not identified yet. */
struct redact_first {
	uint8_t start[24], start_sz; /* HTTP/2 preface */
	uint8_t head[9];	     /* HTTP/2, a frame's header that came alone */
	bool has_head;
	uint64_t head_pos;
	uint64_t sniff_pos;
	uint8_t sniff[36], sniff_sz; /* first SQL packet */
};

/* State of one direction. Allocated in parts, because most of a hundred thousand connections need
 * none of them. */
struct redact_side {
	uint64_t next;		    /* position after the last call */
	struct redact_text *text;   /* NULL: same as zeroed */
	struct redact_first *first; /* likewise */
	struct redact_packets *packets;
	struct redact_http2 *http2;
};

enum sql_kind { SQL_NOT, SQL_MYSQL, SQL_POSTGRESQL };

enum redactor {
#define REDACTOR(name, begins) REDACT_##name,
#include "format/redact/redactors.def"
#undef REDACTOR
	REDACTORS
};

struct redact_conn {
	void *own[REDACTORS]; /* state of each redactor; freed with free() */
	struct redact_side side[2];
	bool http2, http2_sure; /* sure: seen from its start */
	bool sql_sure;
	enum sql_kind sql;
	unsigned client; /* direction of the SQL client */
};

/* The current call: original bytes until the first one is masked, then a copy in `out`. */
struct redact_call {
	const uint8_t *p;
	uint8_t *out;
	size_t kept, len;
	size_t all; /* bytes at p; more than `kept` when only a part is scanned */
	uint64_t pos;
	unsigned dir;
	bool sql, masked;
	bool whole; /* no other call continues the text */
	struct redact_conn **conn;
};

/* Called before the first change: the original record must not be modified. */
static inline void redact_own_bytes(struct redact_call *c)
{
	if (c->p == c->out)
		return;
	memcpy(c->out, c->p, c->all);
	c->p = c->out;
}

static inline void redact_put(struct redact_call *c, size_t at, uint8_t ch)
{
	if (c->p[at] == ch)
		return;
	redact_own_bytes(c);
	c->out[at] = ch;
	c->masked = true;
}

static inline void redact_mask(struct redact_call *c, size_t from, size_t to, uint8_t with)
{
	if (to > c->kept)
		to = c->kept;
	if (from >= to)
		return;
	redact_own_bytes(c);
	memset(c->out + from, with, to - from);
	c->masked = true;
}

/* This direction's state, created when needed; NULL: out of memory. */
struct redact_side *redact_side(struct redact_call *c);
struct redact_first *redact_first(struct redact_call *c);

/* The connection state of redactor `who`, created zeroed when needed; NULL: out of memory. */
void *redact_own(struct redact_call *c, enum redactor who, size_t sz);
/* Frees the state of redactor `who`. */
void redact_disown(struct redact_call *c, enum redactor who);
/* As redact_own(), but NULL when there is none yet. */
static inline void *redact_has(const struct redact_call *c, enum redactor who)
{
	return *c->conn ? (*c->conn)->own[who] : NULL;
}

#define REDACTOR(name, begins) bool redact_##name(struct redact_call *c);
#include "format/redact/redactors.def"
#undef REDACTOR

void redact_text(struct redact_call *c);
/* The two scans of a text, redact_lines() and redact_bulks(), return the start of an unfinished
 * token, else the end of the text. */
bool redact_begins_message(const uint8_t *p, size_t sz); /* starts an HTTP/1 message */
/* After missing bytes: whether these may be the rest of a header field. */
bool redact_is_cut_field(const uint8_t *p, size_t sz);
size_t redact_lines(struct redact_text *s, struct redact_call *c, struct redact_hits hits);
size_t redact_bulks(struct redact_text *s, struct redact_call *c, uint64_t pos);
/* Continues inside the object of CONNECT; returns the end of its line, or of the text. */
size_t redact_nats(struct redact_json *j, struct redact_call *c, size_t at);
/* Returns true when the connection uses this protocol. */
bool redact_sql(struct redact_call *c);
bool redact_http2(struct redact_call *c);
void redact_http2_free(struct redact_http2 *h);

#endif
