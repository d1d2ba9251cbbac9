/* SPDX-License-Identifier: BSD-2-Clause */
/* Start line and relevant header fields of HTTP/1 messages. */
#ifndef ANALYZE_L7_HTTP1_HEAD_H
#define ANALYZE_L7_HTTP1_HEAD_H

#include "analyze/l7/engine/l7.h"

/* What a head told. */
struct http1_head {
	uint64_t length;
	size_t sz; /* bytes of it, the empty line included */
	struct span host, agent, client;
	unsigned client_rank; /* of client_address() */
	uint16_t code;
	bool has_length, chunked, connect, head_only, upgrade, h2c;
	bool partial; /* its end was not kept */
};

/* What a message says of itself. */
struct http1_words {
	size_t method_sz, target_sz, detail_sz;
	bool is_error;
	char method[32], target[256], status[4], detail[768];
};

/* Length of the method's word when the bytes begin a request, else 0. */
size_t http1_method_at(const uint8_t *p, size_t len);
/* The same of a line whose end is not there: what else it may be, its caller knows. */
size_t http1_method_cut(const uint8_t *p, size_t len);
bool http1_response_at(const uint8_t *p, size_t len);
/* Where the first line ends; NULL when that is not in view. */
const uint8_t *http1_first_line_end(const struct l7_view *v);

/* What the view begins with. 0, -1: it is none. */
int http1_read_request(struct l7_parser *parser, struct http1_words *s, const struct l7_view *v,
		       struct http1_head *h);
int http1_read_response(struct l7_parser *parser, struct http1_words *s, const struct l7_view *v,
			struct http1_head *h);

#endif
