/* SPDX-License-Identifier: BSD-2-Clause */
/* Random rows of any kind, including extreme values, and their comparison. Deterministic for a
 * seed. */
#ifndef TESTS_FORMAT_RANDOM_H
#define TESTS_FORMAT_RANDOM_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/record.h"

static uint64_t random_state;

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Small, repeated, growing and extreme numbers, each frequent enough to reach the limits of every
 * encoding. */
static uint64_t random_number(enum rec_type type, size_t i)
{
	uint64_t max = type == REC_T_u32 ? UINT32_MAX : UINT64_MAX;

	switch (random_u64() % 8) {
	case 0:
		return 0;
	case 1:
		return max;
	case 2:
		return max - random_u64() % 3;
	case 3:
		return random_u64() & max;
	case 4:
		return i * 1000 & max;
	default:
		return random_u64() % 5;
	}
}

static char random_text[70000];
static uint64_t random_list[256];

/* The same texts and lists for every seed. */
static void random_seed(uint64_t seed)
{
	random_state = 88172645463325252ULL;
	for (size_t j = 0; j < sizeof(random_text); j++)
		random_text[j] = random_u64();
	for (size_t j = 0; j < 256; j++)
		random_list[j] = j & 64 ? random_number(REC_T_u64, j) : j / 4;
	random_state = seed;
}

static void random_field(const struct rec_field *f, void *field, size_t i)
{
	switch (f->type) {
	case REC_T_u32:
		*(uint32_t *)field = random_number(REC_T_u32, i);
		break;
	case REC_T_u64:
		*(uint64_t *)field = random_number(REC_T_u64, i);
		break;
	case REC_T_str: {
		size_t at = random_u64() % 16, len = random_u64() % 12;

		*(struct span *)field =
			(struct span){random_text + at, len == 11 ? random_u64() % 3000 : len};
		break;
	}
	case REC_T_list: {
		size_t from = random_u64() % 40, to = from + random_u64() % (255 - from);

		/* tails are shared when `to` is the same */
		if (random_u64() % 2)
			to = 200;
		*(struct u64_span *)field = (struct u64_span){random_list + from, to - from};
		break;
	}
	}
}

static void random_row(const struct rec_info *info, void *row, size_t i)
{
	memset(row, 0, info->sz);
	for (unsigned f = 0; f < info->field_cnt; f++)
		random_field(&info->fields[f], (char *)row + info->fields[f].offset, i);
}

static bool same_field(const struct rec_field *f, const void *a, const void *b)
{
	switch (f->type) {
	case REC_T_u32:
		return *(const uint32_t *)a == *(const uint32_t *)b;
	case REC_T_u64:
		return *(const uint64_t *)a == *(const uint64_t *)b;
	case REC_T_str: {
		const struct span *x = a, *y = b;

		return x->len == y->len && (!x->len || !memcmp(x->p, y->p, x->len));
	}
	case REC_T_list: {
		const struct u64_span *x = a, *y = b;

		return x->len == y->len && (!x->len || !memcmp(x->v, y->v, x->len * sizeof(*x->v)));
	}
	}
	return false;
}

static inline bool same_row(const struct rec_info *info, const void *a, const void *b)
{
	for (unsigned f = 0; f < info->field_cnt; f++)
		if (!same_field(&info->fields[f], (const char *)a + info->fields[f].offset,
				(const char *)b + info->fields[f].offset))
			return false;
	return true;
}

#endif
