/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Apache Thrift values: one reader for the binary and compact encodings (github.com/apache/thrift
 * doc/specs/thrift-{binary,compact}-protocol.md). Bounded in depth and by the view.
 */
#ifndef ANALYZE_L7_THRIFT_VALUE_H
#define ANALYZE_L7_THRIFT_VALUE_H

#include "analyze/l7/engine/l7.h"

/* Type numbers of the binary protocol; those of the compact protocol are mapped to them. */
enum thrift_type {
	THRIFT_STOP = 0,
	THRIFT_BOOL = 2,
	THRIFT_BYTE = 3,
	THRIFT_DOUBLE = 4,
	THRIFT_I16 = 6,
	THRIFT_I32 = 8,
	THRIFT_I64 = 10,
	THRIFT_STRING = 11,
	THRIFT_STRUCT = 12,
	THRIFT_MAP = 13,
	THRIFT_SET = 14,
	THRIFT_LIST = 15,
	THRIFT_UUID = 16,
};

struct thrift_reader {
	struct l7_cursor c;
	bool compact;
	bool bad;	 /* not a Thrift value */
	uint64_t over;	 /* bytes of a string beyond the captured data */
	int bool_value;	 /* compact: boolean value in the field header; -1: none */
	int16_t last_id; /* compact: field ids are deltas */
};

struct thrift_field {
	enum thrift_type type;
	int16_t id;
};

/* False: STOP, end of data (c.cut), or not a field (bad). */
bool thrift_next_field(struct thrift_reader *r, struct thrift_field *f);
/* Skips a value. False: c.cut, bad, or over. */
bool thrift_skip(struct thrift_reader *r, enum thrift_type type, unsigned depth);
/* Skips to the end of a struct; the reader is before a field. */
bool thrift_skip_struct(struct thrift_reader *r, unsigned depth);

uint64_t thrift_varint(struct thrift_reader *r);
struct span thrift_string(struct thrift_reader *r);

struct thrift_value {
	enum thrift_type type;
	struct span text;
};

/*
 * Converts the value at `path` in the struct before the reader to text in dst: numbers, true and
 * false, strings as they are. The words of the path select struct fields by id, list and set
 * elements by index, map values by key: "1.3.0.name". False: not present, beyond the captured data,
 * or not a scalar or string.
 */
bool thrift_value_at(struct thrift_reader r, const char *path, char *dst, size_t dst_sz,
		     struct thrift_value *value);
bool thrift_at(struct thrift_reader r, const char *path, char *dst, size_t dst_sz,
	       struct span *text);

#endif
