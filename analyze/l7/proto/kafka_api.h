/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests and responses of Kafka by API and version (kafka.apache.org/protocol), and a walk over
 * their fields that finds topics, groups and error codes.
 */
#ifndef ANALYZE_L7_KAFKA_API_H
#define ANALYZE_L7_KAFKA_API_H

#include "analyze/l7/engine/l7.h"

enum {
	KAFKA_PRODUCE = 0,
	KAFKA_FETCH = 1,
	KAFKA_METADATA = 3,
	KAFKA_JOIN_GROUP = 11,
	KAFKA_SYNC_GROUP = 14,
	KAFKA_SASL_HANDSHAKE = 17,
	KAFKA_API_VERSIONS = 18,
	KAFKA_NEVER = 127, /* `flexible` of APIs that never are */
};

/* `request` and `response`: format strings, see kafka_api.c. */
struct kafka_api {
	const char *name;
	uint8_t flexible; /* first version with tagged fields and compact lengths */
	uint8_t latest;	  /* latest version accepted */
	const char *request, *response;
};

/* NULL: no such API. */
const struct kafka_api *kafka_api(unsigned key);
/* "UNKNOWN_TOPIC_OR_PARTITION"; NULL: unknown code. */
const char *kafka_error(int code);

enum { KAFKA_TOPICS = 4 };

/* Result of a walk. Spans point into the view. */
struct kafka_found {
	struct span topics[KAFKA_TOPICS]; /* names; 16-byte ids if there is no name */
	bool is_id[KAFKA_TOPICS];
	unsigned topic_cnt;  /* number of all topics */
	struct span group;   /* the first of group, transactional id, key, mechanism */
	struct span message; /* text of the first error */
	int error;	     /* the first code that is not 0 */
	bool has_error;	     /* there was an error code */
	int acks;	     /* of Produce */
	bool has_acks;
	bool whole;	    /* walked to the end of the description */
	bool bad;	    /* contradicts the description */
	bool open;	    /* the description ends before the message */
	const uint8_t *end; /* where the walk ended */
	/* Called for topics that have both a name and an id. */
	void (*learn)(void *ctx, struct span id, struct span name);
	void *ctx;
};

/* `left`: bytes of the message on the wire from c->p on; the cursor may have fewer. */
void kafka_walk(struct kafka_found *f, struct l7_cursor c, uint64_t left, const char *fields,
		unsigned version, bool flexible);

/* Reads an unsigned varint; skips a tagged-field section. */
uint64_t kafka_varint(struct l7_cursor *c);
void kafka_tags(struct l7_cursor *c);

#endif
