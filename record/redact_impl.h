/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by redact.c (who is asked), redact_text.c (HTTP/1, Redis), redact_sql.c (MySQL,
 * PostgreSQL), redact_http2.c. */
#ifndef RECORD_REDACT_IMPL_H
#define RECORD_REDACT_IMPL_H

#include <string.h>

#include "redact.h"

struct hpack;

enum { LINE_PREFIX = 24 }; /* longer than any header name that matters */

/* What one direction of a connection carries over from call to call. */
struct redact_side {
	uint64_t next;	     /* position after the last call */
	uint64_t mask_until; /* everything below is secret */
	/* HTTP/1: inside a head */
	bool in_head, masking, gap;
	uint8_t prefix_sz;
	char prefix[LINE_PREFIX];
	/* HTTP/2 */
	struct hpack *hpack;
	uint64_t frame_end; /* of a frame that began in an earlier call */
	bool frame_is_head;
};

struct redact_conn {
	struct redact_side side[2];
	bool http2, mysql_login;
	uint8_t login_dir; /* of the client */
};

/* One call's bytes. */
struct redact_call {
	uint8_t *p;
	size_t kept, len;
	uint64_t pos;
	bool sql, masked;
};

static inline void redact_mask(struct redact_call *c, size_t from, size_t to, uint8_t with)
{
	if (to > c->kept)
		to = c->kept;
	if (from >= to)
		return;
	memset(c->p + from, with, to - from);
	c->masked = true;
}

/* The state of this connection, made when there is none; NULL: out of memory. */
struct redact_conn *redact_state(struct redact *r, uint32_t connection);

void redact_http1(struct redact *r, uint32_t connection, struct redact_conn *conn, unsigned dir,
		  struct redact_call *c);
void redact_redis(struct redact *r, uint32_t connection, struct redact_conn *conn, unsigned dir,
		  struct redact_call *c);
void redact_mysql(struct redact *r, uint32_t connection, struct redact_conn *conn, unsigned dir,
		  struct redact_call *c);
void redact_postgresql(struct redact *r, uint32_t connection, unsigned dir, struct redact_call *c);
/* True when the connection speaks it. */
bool redact_http2(struct redact *r, uint32_t connection, struct redact_conn *conn, unsigned dir,
		  struct redact_call *c);
void redact_http2_fini(struct redact_conn *conn);

#endif
