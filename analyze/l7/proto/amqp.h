/* SPDX-License-Identifier: BSD-2-Clause */
/* State of an AMQP connection: channels, messages being assembled, requests waiting for answers. */
#ifndef ANALYZE_L7_AMQP_H
#define ANALYZE_L7_AMQP_H

#include "analyze/l7/proto/amqp_method.h"
#include "analyze/l7/proto/order.h"

enum { AMQP_TARGET = 512, AMQP_DETAIL = 1024 };

/* A message being assembled. */
struct amqp_content {
	struct l7_message m; /* without strings */
	const struct amqp_method *method;
	bool header;
	uint64_t body, left;
	char target[AMQP_TARGET], status[8], detail[AMQP_DETAIL];
};

struct amqp_channel {
	struct amqp_channel *next;
	uint16_t number;
	bool confirms, counted; /* counted: every publish since confirm.select was seen */
	uint64_t published;
	uint16_t close_code[2];		 /* reply code of the client's, server's unanswered close */
	struct amqp_content *content[2]; /* by sender: client, server */
};

struct amqp {
	struct order order; /* kind: channel << 16, server asks << 8, method */
	struct amqp_channel *channels;
	size_t channel_cnt;
	uint32_t frame_max; /* 0: not known */
	bool cuts;	    /* calls were not captured completely */
	/* Until nothing waits any more: answers to the client, server may be lost; requests of the
	 * client, server may be lost. */
	bool lost_answers[2], lost_questions[2];
};

/* ---- contents (amqp_content.c) ---- */

/* Returns the channel; it becomes the first in the list. NULL: out of memory. */
struct amqp_channel *amqp_channel(struct amqp *s, uint16_t number);
void amqp_channels_free(struct amqp *s);

void amqp_add(struct amqp_content *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void amqp_add_text(struct l7_parser *parser, struct amqp_content *k, const char *name,
		   struct span s);
/* Sets target and detail from k->method. */
void amqp_describe(struct l7_parser *parser, struct amqp_content *k, const struct amqp_args *a,
		   struct amqp_channel *ch, bool server);
void amqp_content_message(struct l7_parser *parser, struct amqp_content *k, struct l7_message *m);
/* Ends a content of unknown size; it counts as far as it was sent. */
void amqp_content_cut(struct l7_parser *parser, struct amqp_content **at);
/* Parses a header or body frame. */
int64_t amqp_on_content(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
			const struct amqp_frame *f, struct amqp_channel *ch, struct l7_message *m);

/* ---- which answer belongs to which method (amqp_pair.c) ---- */

uint64_t amqp_ask(struct amqp *s, struct l7_parser *parser, const struct amqp_frame *f,
		  bool server);
/* Removes and returns the oldest request of the channel that f answers; 0: none. */
uint64_t amqp_answered(struct amqp *s, struct l7_parser *parser, const struct amqp_frame *f,
		       bool server);
/* Marks the request that a close names as its cause as answered with the reply code. */
void amqp_answer_cause(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
		       const struct amqp_frame *f, const struct amqp_args *a, bool server);
/* Bytes before this view are missing: ends the contents of that direction; answers may be lost. */
void amqp_after_hole(struct amqp *s, struct l7_parser *parser, const struct l7_view *v);
/* Clears the flags of lost answers and requests if nothing waits any more. */
void amqp_forget_holes(struct amqp *s);

#endif
