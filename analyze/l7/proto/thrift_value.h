/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Apache Thrift values: binary and compact encodings behind one reader
 * (github.com/apache/thrift doc/specs/thrift-{binary,compact}-protocol.md), bounded in depth and by
 * the view.
 */
#ifndef ANALYZE_L7_THRIFT_VALUE_H
#define ANALYZE_L7_THRIFT_VALUE_H

#include "analyze/l7/engine/l7.h"

/* Types as the binary protocol numbers them; those of the compact one are mapped to them. */
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
	bool bad;	 /* no Thrift value */
	uint64_t over;	 /* a string goes on so many bytes behind what was kept */
	int bool_value;	 /* compact: a field's header holds its boolean; -1: it does not */
	int16_t last_id; /* compact: field ids are deltas */
};

struct thrift_field {
	enum thrift_type type;
	int16_t id;
};

/* false: STOP, or the end (c.cut), or no field (bad). */
bool thrift_next_field(struct thrift_reader *r, struct thrift_field *f);
/* Passes over a value. False: c.cut, bad, or over. */
bool thrift_skip(struct thrift_reader *r, enum thrift_type type, unsigned depth);
/* To the end of a struct of which the reader stands in front of a field. */
bool thrift_skip_struct(struct thrift_reader *r, unsigned depth);

uint64_t thrift_varint(struct thrift_reader *r);
struct span thrift_string(struct thrift_reader *r);

struct thrift_value {
	enum thrift_type type;
	struct span text;
};

/*
 * The value at `path` of the struct in front of the reader, as text in dst: numbers, true and
 * false, strings as they are. The path's words lead through structs by field id, through lists and
 * sets by index, through maps by key: "1.3.0.name". False: not there (any more), or not a plain
 * value.
 */
bool thrift_value_at(struct thrift_reader r, const char *path, char *dst, size_t dst_sz,
		     struct thrift_value *value);
bool thrift_at(struct thrift_reader r, const char *path, char *dst, size_t dst_sz,
	       struct span *text);

#endif
