/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of the PostgreSQL protocol and the bid on them. */
#ifndef ANALYZE_L7_POSTGRESQL_MESSAGE_H
#define ANALYZE_L7_POSTGRESQL_MESSAGE_H

#include "analyze/l7/engine/l7.h"

enum pg_code {
	PG_VERSION_3 = 196608,
	PG_CANCEL = 80877102,
	PG_SSL = 80877103,
	PG_GSS = 80877104,
};

enum pg_side { PG_FRONTEND, PG_BACKEND };

struct pg_message {
	char type;
	uint32_t len;	  /* as on the wire: without the type byte */
	const uint8_t *p; /* body, of which `have` of len - 4 bytes are in view */
	size_t have;
};

/* The message at `off`: complete (as far as a parser reads it), incomplete, or not a message. */
enum pg_at { PG_MESSAGE, PG_SHORT, PG_NOT };
enum pg_at pg_message_at(const struct l7_view *v, uint64_t off, enum pg_side side,
			 struct pg_message *k);

bool pg_is_startup(const struct l7_view *v);
bool pg_is_ready(const uint8_t *p);	    /* ReadyForQuery, 6 bytes */
struct span pg_string(struct l7_cursor *c); /* up to its NUL or the end */

int pg_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent);

#endif
