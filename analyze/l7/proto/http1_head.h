/* SPDX-License-Identifier: BSD-2-Clause */
/* Start line and relevant header fields of HTTP/1 messages. */
#ifndef ANALYZE_L7_HTTP1_HEAD_H
#define ANALYZE_L7_HTTP1_HEAD_H

#include "analyze/l7/engine/l7.h"

/* Data from a header. */
struct http1_head {
	uint64_t length;
	size_t sz; /* size, including the empty line */
	struct span host, agent, client;
	unsigned client_rank; /* of client_address() */
	uint16_t code;
	bool has_length, chunked, connect, head_only, upgrade, h2c;
	bool partial; /* its end was not captured */
};

/* Strings of a message. */
struct http1_words {
	size_t method_sz, target_sz, detail_sz;
	bool is_error;
	char method[32], target[256], status[4], detail[768];
};

/* Length of the method token if the bytes begin a request, else 0. */
size_t http1_method_at(const uint8_t *p, size_t len);
/* The same for a line without its end. The caller must know that it can be nothing else. */
size_t http1_method_cut(const uint8_t *p, size_t len);
bool http1_response_at(const uint8_t *p, size_t len);
/* End of the first line; NULL: not in view. */
const uint8_t *http1_first_line_end(const struct l7_view *v);

/* Parses the header at the beginning of the view. 0, or -1: not a request or response. */
int http1_read_request(struct l7_parser *parser, struct http1_words *s, const struct l7_view *v,
		       struct http1_head *h);
int http1_read_response(struct l7_parser *parser, struct http1_words *s, const struct l7_view *v,
			struct http1_head *h);

#endif
