/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interprets arbitrary bytes as records of any kind. Small numbers and common strings take one
 * byte, so that data of a fuzzer or random generator contains references to itself.
 * tests/tools/fuzzseed.c writes this format from an archive.
 *
 *   row      kind (modulo 64), then its fields; an unknown kind is a sample
 *   number   0..239: modulo 24; 255: eight bytes follow; else 0xffff
 *   string   0..199: one of eight; 200..254: that many bytes less 200 follow;
 *            255: a length of two bytes follows
 *   list     0..239: that many frames modulo 12; else one byte with their number;
 *            a frame is two numbers
 */
#ifndef TESTS_ROW_BYTES_H
#define TESTS_ROW_BYTES_H

#include <stdbool.h>
#include <string.h>

#include "format/records.h"

enum { ROW_ITEMS_MAX = 255 };

struct bytes {
	const uint8_t *p;
	size_t left;
};

struct row {
	int kind;
	union {
#define RECORD(kind, ...) struct rec_##kind kind;
#define FIELD(...)
#define END(...)
#include "format/records.def"
	};
	uint64_t items[ROW_ITEMS_MAX];
};

static const char *const row_texts[] = {"",	"[jit 7]", "/bin/a", "/bin/b",
					"ab12", "dwarf",   "f",	     "g"};

static inline uint64_t take(struct bytes *b, size_t n)
{
	uint64_t v = 0;

	for (; n && b->left; n--, b->left--)
		v = v << 8 | *b->p++;
	return v;
}

static inline struct span take_bytes(struct bytes *b, size_t len)
{
	struct span s = {(const char *)b->p, len < b->left ? len : b->left};

	b->p += s.len;
	b->left -= s.len;
	return s;
}

static inline uint64_t take_number(struct bytes *b, unsigned bits)
{
	uint8_t v = take(b, 1);

	return v < 240 ? v % 24 : v == 255 ? take(b, 8) & (~0ull >> (64 - bits)) : 0xffff;
}

static inline struct span take_text(struct bytes *b)
{
	uint8_t v = take(b, 1);

	if (v < 200)
		return (struct span){row_texts[v % 8], strlen(row_texts[v % 8])};
	return take_bytes(b, v < 255 ? v - 200u : take(b, 2));
}

static inline struct u64_span take_list(struct bytes *b, uint64_t *items)
{
	size_t v = take(b, 1), cnt = v < 240 ? v % 12 : take(b, 1);

	for (size_t i = 0; i < cnt; i++) {
		uint64_t binary = take_number(b, 16);

		items[i] = frame_pack(binary, take_number(b, 48));
	}
	return (struct u64_span){items, cnt};
}

/* Reads a record; its fields start at &r->process. False: no bytes left. */
static inline bool take_row(struct bytes *b, struct row *r)
{
	r->kind = take(b, 1) % REC_KIND_MAX;
	if (!b->left)
		return false;
#define TAKE_u32(m) m = take_number(b, 32);
#define TAKE_u64(m) m = take_number(b, 64);
#define TAKE_str(m) m = take_text(b);
#define TAKE_list(m) m = take_list(b, r->items);
#define TAKE_command TAKE_str
#define TAKE_settings TAKE_str
#define TAKE_address TAKE_str
	switch (r->kind) {
#define RECORD(kind, ...) case REC_##kind:
#define FIELD(kind, type, name, ...) TAKE_##type(r->kind.name)
#define END(...) break;
#include "format/records.def"
	default:
		r->kind = REC_sample;
		r->sample.kind = 1 + take(b, 1) % 2;
		r->sample.ts_ns = take_number(b, 40);
		r->sample.thread = take_number(b, 5);
		r->sample.user_stack = take_number(b, 5);
		r->sample.kernel_stack = take_number(b, 5);
		r->sample.count = 1;
		r->sample.value = 10;
	}
	return true;
}

#endif
