/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection of AMQP: its channels, what is being gathered, what waits for an answer. */
#ifndef ANALYZE_L7_AMQP_H
#define ANALYZE_L7_AMQP_H

#include "analyze/l7/proto/amqp_method.h"
#include "analyze/l7/proto/order.h"

enum { AMQP_TARGET = 512, AMQP_DETAIL = 1024 };

/* A message being gathered. */
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
	uint16_t close_code[2]; /* of the client's, the server's close that waits for its answer */
	struct amqp_content *content[2]; /* by who sends: client, server */
};

struct amqp {
	struct order order; /* kind: channel << 16, server asks << 8, method */
	struct amqp_channel *channels;
	size_t channel_cnt;
	uint32_t frame_max; /* 0: not known */
	bool cuts;	    /* calls are not kept whole */
	/* While one waits: to what the client, the server asked; of what it sent. */
	bool lost_answers[2], lost_questions[2];
};

/* ---- contents (amqp_content.c) ---- */

/* The channel, last used first; NULL without memory. */
struct amqp_channel *amqp_channel(struct amqp *s, uint16_t number);
void amqp_channels_free(struct amqp *s);

void amqp_add(struct amqp_content *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void amqp_add_text(struct l7_parser *parser, struct amqp_content *k, const char *name,
		   struct span s);
/* Target and detail of k->method. */
void amqp_describe(struct l7_parser *parser, struct amqp_content *k, const struct amqp_args *a,
		   struct amqp_channel *ch, bool server);
void amqp_content_message(struct l7_parser *parser, struct amqp_content *k, struct l7_message *m);
/* A content whose end is not known: that much was sent. */
void amqp_content_cut(struct l7_parser *parser, struct amqp_content **at);
/* A frame of header or body. */
int64_t amqp_on_content(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
			const struct amqp_frame *f, struct amqp_channel *ch, struct l7_message *m);

/* ---- which answer belongs to which method (amqp_pair.c) ---- */

uint64_t amqp_ask(struct amqp *s, struct l7_parser *parser, const struct amqp_frame *f,
		  bool server);
/* The oldest of the channel that f answers; 0: none. */
uint64_t amqp_answered(struct amqp *s, struct l7_parser *parser, const struct amqp_frame *f,
		       bool server);
/* What the closing side names as the cause gets the reply code for its answer. */
void amqp_answer_cause(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
		       const struct amqp_frame *f, const struct amqp_args *a, bool server);
/* Bytes before this view are missing: contents end there, answers may have been among them. */
void amqp_after_hole(struct amqp *s, struct l7_parser *parser, const struct l7_view *v);
/* What a hole took is forgotten where nothing waits any more. */
void amqp_forget_holes(struct amqp *s);

#endif
