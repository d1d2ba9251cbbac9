/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterates over BSON documents (bsonspec.org), including truncated ones. */
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
enum { BSON_EMPTY = 5 }; /* size of a document without fields */

struct bson {
	struct l7_cursor c;
	uint64_t size; /* on the wire, as its header says */
	bool ended;    /* the last byte was reached */
	bool bad;
};

struct bson_field {
	uint8_t type;
	struct span name;
	struct span value; /* the part in view */
};

/* Starts a document at p, of which `len` bytes are in view. */
void bson_begin(struct bson *b, const uint8_t *p, size_t len);
/* False at the end of the document or of the bytes in view. */
bool bson_next(struct bson *b, struct bson_field *f);
/* The text of a field; empty if it has another type or is truncated. */
struct span bson_text(const struct bson_field *f);
/* False: not a number, or truncated. */
bool bson_number(const struct bson_field *f, double *v);
void bson_inner(const struct bson_field *f, struct bson *b);

#endif
