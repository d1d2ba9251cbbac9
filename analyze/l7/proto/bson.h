/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks BSON documents (bsonspec.org), also those whose end is not in view. */
#ifndef ANALYZE_L7_BSON_H
#define ANALYZE_L7_BSON_H

#include "analyze/l7/engine/l7.h"

enum {
	BSON_DOUBLE = 1,
	BSON_STRING = 2,
	BSON_DOCUMENT = 3,
	BSON_ARRAY = 4,
	BSON_BOOL = 8,
	BSON_INT32 = 16,
	BSON_INT64 = 18,
};
enum { BSON_EMPTY = 5 }; /* bytes of a document without fields */

struct bson {
	struct l7_cursor c;
	uint64_t size; /* on the wire, as its head says */
	bool ended;    /* its last byte was met */
	bool bad;
};

struct bson_field {
	uint8_t type;
	struct span name;
	struct span value; /* what of it is in view */
};

/* A document at p, of which `len` bytes are in view. */
void bson_begin(struct bson *b, const uint8_t *p, size_t len);
/* False at the end, of the document or of what is in view. */
bool bson_next(struct bson *b, struct bson_field *f);
/* The field's text; empty when it is none or cut. */
struct span bson_text(const struct bson_field *f);
/* False: not a number, or cut. */
bool bson_number(const struct bson_field *f, double *v);
void bson_inner(const struct bson_field *f, struct bson *b);

#endif
