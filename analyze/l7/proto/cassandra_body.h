/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the bodies of Cassandra envelopes, as far as they are shown. */
#ifndef ANALYZE_L7_CASSANDRA_BODY_H
#define ANALYZE_L7_CASSANDRA_BODY_H

#include "analyze/l7/proto/cassandra_frame.h"
#include "analyze/l7/proto/names.h"

enum { CQL_DIGEST = 1024 };

/* State that bodies of a connection need from earlier ones; free with names_fini. */
struct cql_bodies {
	struct names prepared; /* statements by id */
	char digest[CQL_DIGEST];
};

void cql_request(struct cql_bodies *s, struct l7_parser *parser, const struct cql_envelope *e,
		 struct l7_message *m);
void cql_response(struct cql_bodies *s, struct l7_parser *parser, const struct cql_envelope *e,
		  struct l7_message *m);
/* Adds "flag":true to the detail. */
void cql_add_flag(struct l7_parser *parser, struct l7_message *m, const char *flag);

#endif
