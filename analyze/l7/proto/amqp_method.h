/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames and methods of AMQP 0-9-1, and the bid on them. */
#ifndef ANALYZE_L7_AMQP_METHOD_H
#define ANALYZE_L7_AMQP_METHOD_H

#include "analyze/l7/engine/l7.h"

enum { AMQP_METHOD = 1, AMQP_HEADER = 2, AMQP_BODY = 3, AMQP_HEARTBEAT = 8 };
enum { AMQP_FRAME_HEAD = 7, AMQP_FRAME_EXTRA = 8 /* with the end octet */, AMQP_GREETING_SZ = 8 };
enum { AMQP_FROM_CLIENT = 1, AMQP_FROM_SERVER = 2 };
enum amqp_kind { AMQP_ASKS, AMQP_ANSWERS, AMQP_ONEWAY };

struct amqp_method {
	uint16_t class_id, id;
	const char *name;
	uint8_t from;
	enum amqp_kind kind;
	bool content;	  /* header and body frames follow */
	uint16_t answers; /* the method of its class that it answers */
	uint8_t no_wait;  /* mask in the `bits` argument of the flag that requests no answer */
	const char *args; /* see amqp_method.c */
};

/* The arguments that are shown; empty if the method has none. */
struct amqp_args {
	struct span queue, exchange, key, tag, text, vhost;
	uint64_t delivery;
	uint32_t number[2];
	uint16_t code, class_id, method_id;
	uint8_t bits;
	bool cut; /* they extend beyond the captured bytes */
	bool bad;
};

struct amqp_frame {
	uint8_t type;
	uint16_t channel;
	uint32_t size;	  /* of the payload */
	const uint8_t *p; /* payload, of which `have` bytes are in view */
	size_t have;
	const struct amqp_method *method; /* of a method frame, once its header is in view */
};

enum amqp_at { AMQP_FRAME, AMQP_SHORT, AMQP_NOT };
enum amqp_at amqp_frame_at(const struct l7_view *v, size_t off, struct amqp_frame *f);

const struct amqp_method *amqp_method_find(unsigned class_id, unsigned id);
size_t amqp_method_index(const struct amqp_method *m);
const struct amqp_method *amqp_method_by_index(size_t i);
struct amqp_args amqp_method_args(const struct amqp_frame *f);

/* Do the bytes begin with "AMQP" 0 0 9 1, as far as they are present? */
bool amqp_is_greeting(const uint8_t *p, size_t len);

size_t amqp_resync(const struct l7_view *v, size_t from);
int amqp_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent);

#endif
