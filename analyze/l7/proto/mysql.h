/* SPDX-License-Identifier: BSD-2-Clause */
/* State of a connection, and the parsers of its two directions. */
#ifndef ANALYZE_L7_MYSQL_H
#define ANALYZE_L7_MYSQL_H

#include "analyze/l7/proto/names.h"
#include "analyze/l7/proto/order.h"

enum { SQL_KEPT = 2048, SQL_SHOWN = 256, DIGEST_MAX = 1024 };

enum result {
	RESULT_FIRST,	/* OK, ERR, INFILE or a column count */
	RESULT_COLUMNS, /* definitions, then possibly an EOF */
	RESULT_ROWS,
	RESULT_PREPARED, /* after the OK of a prepare */
};

/* A response in progress. */
struct response {
	bool active;
	bool lost; /* the rest was not captured: it ends with the next request */
	enum result at;
	uint64_t id, first_ns, last_ns, size, columns, rows, affected;
	uint64_t set_rows; /* of this result set */
	unsigned cmd;
	uint8_t seq;
	bool is_error, has_rows, has_affected, fragment;
	bool between; /* the EOF between columns and rows was seen */
	enum l7_dir dir;
	char status[16], text[200];
	size_t status_sz, text_sz;
};

struct mysql {
	bool synced;   /* a request was read: sequence numbers are valid */
	bool greeted;  /* the login is next */
	bool logs_in;  /* the response to the login is next */
	bool infile;   /* the client sends a file */
	bool fragment; /* the request continues in the next packet */
	uint32_t server_caps, caps;
	struct order order;
	struct names statements;
	struct response resp;
	struct l7_message held; /* a request of several packets, until the last one */
	char method[24], target[DIGEST_MAX + 8], last_digest[DIGEST_MAX], last_method[24];
	size_t last_digest_sz, last_method_sz;
};

int64_t mysql_request(struct mysql *s, struct l7_parser *parser, const struct l7_view *v,
		      struct l7_message *m);
int64_t mysql_response(struct mysql *s, struct l7_parser *parser, const struct l7_view *v,
		       struct l7_message *m);
/* Ends and delivers the response whose rest was not captured. */
void mysql_deliver_lost(struct mysql *s, struct l7_parser *parser);

#endif
