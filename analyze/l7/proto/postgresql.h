/* SPDX-License-Identifier: BSD-2-Clause */
/* State of a connection, and the parsers of its two directions. */
#ifndef ANALYZE_L7_POSTGRESQL_H
#define ANALYZE_L7_POSTGRESQL_H

#include "analyze/l7/proto/names.h"
#include "analyze/l7/proto/order.h"

enum { SQL_KEPT = 2048, SQL_SHOWN = 256, DIGEST_MAX = 1024, KEY_MAX = 64 };

/* Requests that wait for a response. All but EXECUTE end with ReadyForQuery. */
enum waits { STARTUP, QUERY, EXECUTE, BATCH, SYNC };

struct response {
	bool active;
	uint64_t first_ns, last_ns, size, rows;
	bool is_error, is_fatal, has_rows, complete, copy;
	enum l7_dir dir;
	char status[32], text[200];
	size_t status_sz, text_sz;
};

/* Messages of the extended protocol since the last request was created. */
struct batch {
	bool begun, executes; /* executes: an Execute was seen since the last Sync */
	uint64_t first_ns, size;
	const char *begins_with;
	char key[2][KEY_MAX + 1]; /* last portal or statement named */
};

struct postgresql {
	bool tls_asked, lost;
	bool copying; /* COPY FROM STDIN, or both directions: requests are bulk data */
	struct order order;
	struct names statements, portals;
	struct response resp;
	struct batch batch;
	char method[24], target[DIGEST_MAX + KEY_MAX];
	char sql[SQL_SHOWN];
	size_t method_sz, target_sz, sql_sz;
};

int64_t postgresql_request(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
			   struct l7_message *m);
int64_t postgresql_response(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
			    struct l7_message *m);
/* Ends and delivers the response whose rest was not captured. */
void postgresql_deliver_lost(struct postgresql *s, struct l7_parser *parser);

#endif
