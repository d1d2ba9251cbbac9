/* SPDX-License-Identifier: BSD-2-Clause */
/* memcached's commands of text and meta, and their answers. */
#ifndef ANALYZE_L7_MEMCACHED_TEXT_H
#define ANALYZE_L7_MEMCACHED_TEXT_H

#include "analyze/l7/engine/l7.h"

/* `salt` is the datagram's, 0 for a stream. */
int64_t mc_text_request(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			uint32_t salt);
int64_t mc_text_response(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			 uint32_t salt);
/* An answer of which the end was not kept, behind `n` bytes (0: all of the view). */
int64_t mc_end_unseen(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		      uint64_t n, uint32_t salt);
/* A hole in the middle of an answer: what came of it stands for it. */
void mc_give_back(struct l7_parser *parser, enum l7_dir dir);

#endif
