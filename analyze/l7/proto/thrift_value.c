/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/proto/thrift_value.h"

enum { MAX_DEPTH = 32 };
#define MAX_STRING (1u << 30)

uint64_t thrift_varint(struct thrift_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t b = l7_be(&r->c, 1);

		v |= (uint64_t)(b & 0x7f) << shift;
		if (r->c.cut || !(b & 0x80))
			return r->c.cut ? 0 : v;
	}
	r->bad = true;
	return 0;
}

static int64_t zigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* CompactType to TType; 0: none. */
static enum thrift_type from_compact(unsigned t)
{
	static const uint8_t map[] = {THRIFT_STOP,   THRIFT_BOOL, THRIFT_BOOL, THRIFT_BYTE,
				      THRIFT_I16,    THRIFT_I32,  THRIFT_I64,  THRIFT_DOUBLE,
				      THRIFT_STRING, THRIFT_LIST, THRIFT_SET,  THRIFT_MAP,
				      THRIFT_STRUCT, THRIFT_UUID};

	return t < sizeof(map) ? map[t] : THRIFT_STOP;
}

static bool known_type(unsigned t)
{
	return t == THRIFT_DOUBLE || t == THRIFT_BOOL || t == THRIFT_BYTE || t == THRIFT_I16 ||
	       t == THRIFT_I32 || (t >= THRIFT_I64 && t <= THRIFT_UUID);
}

static bool compact_field(struct thrift_reader *r, struct thrift_field *f)
{
	unsigned b = l7_be(&r->c, 1);

	if (r->c.cut || !b)
		return false;
	f->type = from_compact(b & 15);
	f->id = b >> 4 ? r->last_id + (b >> 4) : zigzag(thrift_varint(r));
	r->last_id = f->id;
	r->bool_value = (b & 15) <= 2 ? (b & 15) == 1 : -1;
	if (f->type == THRIFT_STOP)
		r->bad = true;
	return !r->bad && !r->c.cut;
}

bool thrift_next_field(struct thrift_reader *r, struct thrift_field *f)
{
	if (r->bad || r->c.cut || r->over)
		return false;
	if (r->compact)
		return compact_field(r, f);
	f->type = l7_be(&r->c, 1);
	if (r->c.cut || f->type == THRIFT_STOP)
		return false;
	f->id = l7_be(&r->c, 2);
	if (!known_type(f->type))
		r->bad = true;
	return !r->bad && !r->c.cut;
}

struct span thrift_string(struct thrift_reader *r)
{
	uint64_t len = r->compact ? thrift_varint(r) : l7_be(&r->c, 4), left = r->c.end - r->c.p;
	struct span s = {"", 0};

	if (len > MAX_STRING)
		r->bad = true;
	if (r->c.cut || r->bad)
		return s;
	if (len > left) {
		s = l7_bytes(&r->c, left);
		r->over = len - left;
		return s;
	}
	return l7_bytes(&r->c, len);
}

static bool skip_elements(struct thrift_reader *r, enum thrift_type a, enum thrift_type b,
			  uint64_t cnt, unsigned depth)
{
	if (cnt && (!known_type(a) || (b && !known_type(b))))
		r->bad = true;
	for (uint64_t i = 0; i < cnt && !r->bad; i++) {
		/* Each element takes at least one byte, so a malicious count ends with the view. */
		r->bool_value = -1;
		if (!thrift_skip(r, a, depth))
			return false;
		r->bool_value = -1;
		if (b && !thrift_skip(r, b, depth))
			return false;
	}
	return !r->bad;
}

static bool skip_list(struct thrift_reader *r, unsigned depth)
{
	unsigned head = l7_be(&r->c, 1);
	uint64_t cnt;

	if (!r->compact) {
		cnt = l7_be(&r->c, 4);
		return !r->c.cut && skip_elements(r, head, 0, cnt, depth);
	}
	cnt = head >> 4 == 15 ? thrift_varint(r) : head >> 4;
	return !r->c.cut && skip_elements(r, from_compact(head & 15), 0, cnt, depth);
}

static bool skip_map(struct thrift_reader *r, unsigned depth)
{
	uint64_t cnt;
	unsigned types;

	if (!r->compact) {
		unsigned key = l7_be(&r->c, 1), value = l7_be(&r->c, 1);

		cnt = l7_be(&r->c, 4);
		return !r->c.cut && skip_elements(r, key, value, cnt, depth);
	}
	cnt = thrift_varint(r);
	types = cnt && !r->c.cut ? l7_be(&r->c, 1) : 0;
	return !r->c.cut &&
	       skip_elements(r, from_compact(types >> 4), from_compact(types & 15), cnt, depth);
}

bool thrift_skip_struct(struct thrift_reader *r, unsigned depth)
{
	int16_t outer = r->last_id;
	struct thrift_field f;

	if (depth > MAX_DEPTH)
		r->bad = true;
	r->last_id = 0;
	while (thrift_next_field(r, &f))
		if (!thrift_skip(r, f.type, depth + 1))
			return false;
	r->last_id = outer;
	return !r->bad && !r->c.cut && !r->over;
}

bool thrift_skip(struct thrift_reader *r, enum thrift_type type, unsigned depth)
{
	static const uint8_t width[] = {
		[THRIFT_BOOL] = 1, [THRIFT_BYTE] = 1, [THRIFT_DOUBLE] = 8, [THRIFT_I16] = 2,
		[THRIFT_I32] = 4,  [THRIFT_I64] = 8,  [THRIFT_UUID] = 16};

	if (depth > MAX_DEPTH)
		r->bad = true;
	if (r->bad || r->c.cut || r->over)
		return false;
	switch (type) {
	case THRIFT_BOOL:
		if (r->compact && r->bool_value >= 0)
			break;
		l7_take(&r->c, 1);
		break;
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		if (r->compact)
			thrift_varint(r);
		else
			l7_take(&r->c, width[type]);
		break;
	case THRIFT_BYTE:
	case THRIFT_DOUBLE:
	case THRIFT_UUID:
		l7_take(&r->c, width[type]);
		break;
	case THRIFT_STRING:
		thrift_string(r);
		break;
	case THRIFT_STRUCT:
		return thrift_skip_struct(r, depth);
	case THRIFT_MAP:
		return skip_map(r, depth + 1);
	case THRIFT_SET:
	case THRIFT_LIST:
		return skip_list(r, depth + 1);
	default:
		r->bad = true;
	}
	return !r->bad && !r->c.cut && !r->over;
}

static struct span print_int(char *dst, size_t dst_sz, int64_t v)
{
	int n = snprintf(dst, dst_sz, "%" PRId64, v);

	return (struct span){dst, n < (int)dst_sz ? (size_t)n : dst_sz - 1};
}

static bool value_text(struct thrift_reader *r, enum thrift_type type, char *dst, size_t dst_sz,
		       struct span *value)
{
	union {
		uint64_t bits;
		double d;
	} number;
	struct span s;

	switch (type) {
	case THRIFT_BOOL:
		number.bits = r->compact && r->bool_value >= 0 ? (uint64_t)r->bool_value
							       : l7_be(&r->c, 1) == 1;
		*value = number.bits ? (struct span){"true", 4} : (struct span){"false", 5};
		break;
	case THRIFT_BYTE:
		*value = print_int(dst, dst_sz, (int8_t)l7_be(&r->c, 1));
		break;
	case THRIFT_I16:
		*value =
			print_int(dst, dst_sz,
				  r->compact ? zigzag(thrift_varint(r)) : (int16_t)l7_be(&r->c, 2));
		break;
	case THRIFT_I32:
		*value =
			print_int(dst, dst_sz,
				  r->compact ? zigzag(thrift_varint(r)) : (int32_t)l7_be(&r->c, 4));
		break;
	case THRIFT_I64:
		*value =
			print_int(dst, dst_sz,
				  r->compact ? zigzag(thrift_varint(r)) : (int64_t)l7_be(&r->c, 8));
		break;
	case THRIFT_DOUBLE:
		number.bits = r->compact ? l7_le(&r->c, 8) : l7_be(&r->c, 8);
		*value = (struct span){dst, snprintf(dst, dst_sz, "%.17g", number.d)};
		break;
	case THRIFT_STRING:
		s = thrift_string(r);
		if (s.len > dst_sz)
			s.len = dst_sz;
		memcpy(dst, s.p, s.len);
		*value = (struct span){dst, s.len};
		break;
	default:
		return false;
	}
	return !r->c.cut && !r->bad;
}

/* The value to be found. */
struct wanted {
	char *dst;
	size_t dst_sz;
	struct thrift_value *value;
};

static bool value_at(struct thrift_reader *r, enum thrift_type type, const char *path,
		     const struct wanted *w, unsigned depth);

/* Parses a number at the beginning of the path, followed by its end or a dot: *rest. */
static bool path_number(const char *path, long *n, const char **rest)
{
	char *end;

	*n = strtol(path, &end, 10);
	*rest = end + (*end == '.');
	return end != path && (!*end || (*end == '.' && end[1]));
}

static bool field_at(struct thrift_reader *r, const char *path, const struct wanted *w,
		     unsigned depth)
{
	struct thrift_field f;
	const char *rest;
	long id;

	if (!path_number(path, &id, &rest))
		return false;
	r->last_id = 0;
	while (thrift_next_field(r, &f)) {
		if (f.id == id)
			return value_at(r, f.type, rest, w, depth + 1);
		if (!thrift_skip(r, f.type, depth))
			return false;
	}
	return false;
}

static bool element_at(struct thrift_reader *r, const char *path, const struct wanted *w,
		       unsigned depth)
{
	unsigned head = l7_be(&r->c, 1);
	enum thrift_type type = r->compact ? from_compact(head & 15) : head;
	uint64_t cnt = !r->compact	 ? l7_be(&r->c, 4)
		       : head >> 4 == 15 ? thrift_varint(r)
					 : head >> 4;
	const char *rest;
	long i;

	if (!path_number(path, &i, &rest) || i < 0 || r->c.cut || (uint64_t)i >= cnt ||
	    !skip_elements(r, type, 0, i, depth))
		return false;
	r->bool_value = -1;
	return value_at(r, type, rest, w, depth + 1);
}

/* Finds a map entry whose key is a word of the path: a string, a number, true, false. */
static bool entry_at(struct thrift_reader *r, const char *path, const struct wanted *w,
		     unsigned depth)
{
	size_t len = strcspn(path, ".");
	unsigned key = r->compact ? 0 : l7_be(&r->c, 1), type = r->compact ? 0 : l7_be(&r->c, 1);
	uint64_t cnt = r->compact ? thrift_varint(r) : l7_be(&r->c, 4);

	if (r->compact && cnt) {
		unsigned types = l7_be(&r->c, 1);

		key = from_compact(types >> 4);
		type = from_compact(types & 15);
	}
	for (uint64_t i = 0; i < cnt && !r->c.cut && !r->bad && !r->over; i++) {
		struct thrift_value k = {.text = {"", 0}};
		char text[256];

		r->bool_value = -1;
		if (!value_text(r, key, text, sizeof(text), &k.text))
			return false;
		r->bool_value = -1;
		if (k.text.len == len && !memcmp(k.text.p, path, len))
			return value_at(r, type, path + len + (path[len] == '.'), w, depth + 1);
		if (!thrift_skip(r, type, depth))
			return false;
	}
	return false;
}

static bool value_at(struct thrift_reader *r, enum thrift_type type, const char *path,
		     const struct wanted *w, unsigned depth)
{
	if (depth > MAX_DEPTH)
		return false;
	w->value->type = type;
	if (!*path)
		return value_text(r, type, w->dst, w->dst_sz, &w->value->text);
	switch (type) {
	case THRIFT_STRUCT:
		return field_at(r, path, w, depth);
	case THRIFT_LIST:
	case THRIFT_SET:
		return element_at(r, path, w, depth);
	case THRIFT_MAP:
		return entry_at(r, path, w, depth);
	default:
		return false;
	}
}

bool thrift_value_at(struct thrift_reader r, const char *path, char *dst, size_t dst_sz,
		     struct thrift_value *value)
{
	const struct wanted w = {dst, dst_sz, value};

	return dst_sz >= 32 && *path && value_at(&r, THRIFT_STRUCT, path, &w, 0);
}

bool thrift_at(struct thrift_reader r, const char *path, char *dst, size_t dst_sz,
	       struct span *text)
{
	struct thrift_value value;

	if (!thrift_value_at(r, path, dst, dst_sz, &value))
		return false;
	*text = value.text;
	return true;
}
