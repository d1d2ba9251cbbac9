/* SPDX-License-Identifier: BSD-2-Clause */
/* What is remembered of a connection between its calls, by each redactor; and the call at hand. */
#ifndef FORMAT_REDACT_CONN_H
#define FORMAT_REDACT_CONN_H

#include "format/bytes.h"
#include "format/redact/redact.h"
#include "format/redact/redact_fields.h"
#include "format/redact/redact_literal.h"

enum { CARRY_MAX = 64 }; /* longer than any token by which a text's secret is known */

/* Within an object of JSON (NATS). */
struct redact_json {
	bool inside, quoted, escaped;
	bool value, secret; /* what follows a name */
	bool odd;	    /* the name is written with escapes */
	uint8_t name_sz;
	char name[32];
};

/* Lines (HTTP/1, inline commands) and Redis. A token that the end of a call cuts is looked at again
 * with the next call's bytes behind it. */
struct redact_text {
	uint8_t carry[CARRY_MAX], carry_sz;
	uint8_t lines_done, names_done; /* of it, by one scan or the other */
	bool mid;			/* the last call ended within a line of one */
	bool in_head;			/* of an HTTP/1 message */
	bool masking;			/* the line's rest is secret */
	bool folds;	  /* the last line was: one that begins with a space goes on with it */
	bool lost;	  /* bytes of who knows what, right before the next call */
	bool gap;	  /* bytes of a head, or of a secret, were not seen */
	bool unseen;	  /* bytes of Redis' commands were not seen */
	uint8_t secrets;  /* bulk strings to come that are secret */
	uint64_t bulk_at; /* where the next of them begins */
	struct redact_json json;
	struct redact_field field;
};

/* Framed messages of a direction (redact_frames.h). */
struct redact_frames {
	bool in_step;
	bool secret; /* the frame at hand is looked into */
	bool blind;  /* bytes of it were not seen: the rest is masked */
	uint8_t head[24], head_sz, want;
	uint64_t left; /* of the frame at hand */
	uint64_t open; /* of these, what comes before the secret and stays */
	uint64_t next; /* position after the last call */
};

enum sql_part {
	PART_KEEP,
	PART_MASK,
	PART_NAMES,
	PART_TEXT,
	PART_COMMAND,
	PART_ATTRIBUTES, /* MySQL: in front of a query's text */
	PART_BIND
};
enum bind_part { BIND_FORMATS, BIND_FORMAT, BIND_VALUES, BIND_SIZE, BIND_VALUE };

/* Packets or messages of the client, each with its length in front. */
struct redact_packets {
	struct redact_frames frames;
	bool mysql, login, startup, goes_on;
	bool late;   /* joined: it may be another protocol */
	bool copies; /* PostgreSQL's server: rows of COPY come */
	uint8_t command;
	bool tls, compresses, sealed; /* MySQL: what follows the login is not to be read */
	bool attributes;	      /* MySQL: queries may have such */
	uint32_t fixed;		      /* bytes of it to pass before `part` begins */
	enum sql_part part, then;
	uint8_t names; /* NUL-terminated strings to pass */
	bool fresh;    /* a statement's text begins */
	bool masks;    /* all that is bound */
	struct redact_literal literal;
	uint64_t name;	       /* PostgreSQL: hash of the name that is passed */
	uint64_t secret_names; /* of statements that name a secret, a bit for each */
	enum bind_part bind;
	uint8_t int_sz;
	uint32_t number, values;
};

/* First bytes that cannot be told yet. */
struct redact_first {
	uint8_t start[24], start_sz; /* HTTP/2: a preface */
	uint64_t sniff_pos;
	uint8_t sniff[36], sniff_sz; /* SQL: a first packet */
};

/* Of a hundred thousand connections most carry nothing over: what there is has its own memory. */
struct redact_side {
	uint64_t next;		    /* position after the last call */
	struct redact_text *text;   /* NULL: as if zeroed */
	struct redact_first *first; /* the same */
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
	void *own[REDACTORS]; /* each one's state of the connection; freed by free() */
	struct redact_side side[2];
	bool http2, http2_sure; /* sure: seen from its beginning */
	bool sql_sure;
	enum sql_kind sql;
	unsigned client; /* direction of the SQL client */
};

/* One call's bytes: as they came until the first of them is masked, then those in `out`. */
struct redact_call {
	const uint8_t *p;
	uint8_t *out;
	size_t kept, len;
	size_t all; /* bytes at p, more than `kept` where a part is looked at */
	uint64_t pos;
	unsigned dir;
	bool sql, masked;
	struct redact_conn **conn;
};

/* Before the first change; the record that is looked at is not ours to write. */
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

/* This direction's state, made when there is none; NULL: out of memory. */
struct redact_side *redact_side(struct redact_call *c);
struct redact_first *redact_first(struct redact_call *c);

/* The state of the connection that belongs to `who`, zeroed when it is made; NULL: out of memory.
 */
void *redact_own(struct redact_call *c, enum redactor who, size_t sz);
/* Frees it. */
void redact_disown(struct redact_call *c, enum redactor who);
/* The same, NULL as long as there is none. */
static inline void *redact_has(const struct redact_call *c, enum redactor who)
{
	return *c->conn ? (*c->conn)->own[who] : NULL;
}

#define REDACTOR(name, begins) bool redact_##name(struct redact_call *c);
#include "format/redact/redactors.def"
#undef REDACTOR

void redact_text(struct redact_call *c);
/* The two scans of a text. Each returns where an unfinished token begins, else the text's end. */
bool redact_begins_message(const uint8_t *p, size_t sz); /* of HTTP/1 */
/* Where bytes before were not seen: may these go on with a header field? */
bool redact_is_cut_field(const uint8_t *p, size_t sz);
size_t redact_lines(struct redact_text *s, struct redact_call *c, size_t hit);
size_t redact_bulks(struct redact_text *s, struct redact_call *c, uint64_t pos);
/* From within the object of CONNECT; returns where its line ends, or the text. */
size_t redact_nats(struct redact_json *j, struct redact_call *c, size_t at);
/* True when the connection speaks it. */
bool redact_sql(struct redact_call *c);
bool redact_http2(struct redact_call *c);
void redact_http2_free(struct redact_http2 *h);

#endif
