/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kafka's requests and responses by API and version (kafka.apache.org/protocol), and a walk over
 * their fields that finds topics, groups and error codes.
 */
#ifndef ANALYZE_L7_KAFKA_API_H
#define ANALYZE_L7_KAFKA_API_H

#include "analyze/l7/engine/l7.h"

enum {
	KAFKA_PRODUCE = 0,
	KAFKA_METADATA = 3,
	KAFKA_SASL_HANDSHAKE = 17,
	KAFKA_API_VERSIONS = 18,
	KAFKA_NEVER = 127, /* `flexible` of those that never are */
};

/* `request` and `response` as kafka_api.c describes. */
struct kafka_api {
	const char *name;
	uint8_t flexible; /* first version with tagged fields and compact lengths */
	uint8_t latest;	  /* that there may be */
	const char *request, *response;
};

/* NULL: no such API. */
const struct kafka_api *kafka_api(unsigned key);
/* "UNKNOWN_TOPIC_OR_PARTITION"; NULL: not known by name. */
const char *kafka_error(int code);

enum { KAFKA_TOPICS = 4 };

/* What a walk finds. Spans into the view. */
struct kafka_found {
	struct span topics[KAFKA_TOPICS]; /* names; 16 bytes of an id where there is no name */
	bool is_id[KAFKA_TOPICS];
	unsigned topic_cnt;  /* all of them */
	struct span group;   /* the first of group, transactional id, key, mechanism */
	struct span message; /* the first error's text */
	int error;	     /* the first that is not 0 */
	bool has_error;	     /* an error code was there */
	int acks;	     /* of Produce */
	bool has_acks;
	bool whole;	    /* to the end of what the description says */
	bool bad;	    /* contradicts the description */
	bool open;	    /* the description ends before the message does */
	const uint8_t *end; /* where the walk ended */
	/* Topics that have a name and an id. */
	void (*learn)(void *ctx, struct span id, struct span name);
	void *ctx;
};

/* `left`: bytes of the message on the wire from c->p on, of which the cursor may have fewer. */
void kafka_walk(struct kafka_found *f, struct l7_cursor c, uint64_t left, const char *fields,
		unsigned version, bool flexible);

/* An unsigned varint; a tagged-field section. */
uint64_t kafka_varint(struct l7_cursor *c);
void kafka_tags(struct l7_cursor *c);

#endif
