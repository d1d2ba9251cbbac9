/* SPDX-License-Identifier: BSD-2-Clause */
/* Text and meta commands of memcached, and their responses. */
#ifndef ANALYZE_L7_MEMCACHED_TEXT_H
#define ANALYZE_L7_MEMCACHED_TEXT_H

#include "analyze/l7/engine/l7.h"

/* `salt`: identifies the datagram; 0 for a stream. */
int64_t mc_text_request(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			uint32_t salt);
int64_t mc_text_response(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			 uint32_t salt);
/* Ends a response of which the end was not captured, after `n` bytes (0: the whole view). */
int64_t mc_end_unseen(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		      uint64_t n, uint32_t salt);
/* A hole in the middle of a response: delivers the part received. */
void mc_give_back(struct l7_parser *parser, enum l7_dir dir);

#endif
