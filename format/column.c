/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoder. Each column is one tight loop over rows; a table lookup a row is the dearest thing
 * in it.
 *
 * Lists (stacks) are the heart: a trie of the lists of this chunk, rooted at their ends, finds the
 * earlier row that shares most. Against "share with the row before" that saves a third of the bytes
 * of real stacks, and the sorted dictionary half of the rest: its steps are small, while indexes
 * cost a byte either way.
 */
#include "column.h"

#include <errno.h>

/* Open addressing; a slot counts only in the generation that wrote it, so that emptying is free. */
struct slot {
	uint64_t key;
	uint32_t extra, value, generation;
};

struct table {
	struct slot *slots;
	size_t mask, used;
	uint32_t generation;
};

struct column_scratch {
	struct table values, nodes;
	uint64_t *order; /* distinct numbers, first seen first */
	struct span *strings;
	uint32_t *indexes;
	uint32_t *rank;	    /* first-seen index -> sorted index */
	uint32_t *node_row; /* the last row that passed through a trie node */
	uint32_t *path;	    /* nodes of the row before, root first */
	size_t order_cap, strings_cap, indexes_cap, rank_cap, node_cap, path_cap;
};

static bool grow(void *array, size_t *cap, size_t need, size_t width)
{
	void *p;

	if (need <= *cap)
		return true;
	need = need < 1024 ? 1024 : need + need / 2;
	p = realloc(*(void **)array, need * width);
	if (!p)
		return false;
	*(void **)array = p;
	*cap = need;
	return true;
}
#define GROW(s, array, cap, need) grow(&(s)->array, &(s)->cap, need, sizeof(*(s)->array))

static bool table_reserve(struct table *t, size_t cnt)
{
	struct table bigger = {.mask = 1023, .generation = 1};

	if (t->slots && cnt * 2 <= t->mask)
		return true;
	while (bigger.mask < cnt * 2)
		bigger.mask = bigger.mask * 2 + 1;
	bigger.slots = calloc(bigger.mask + 1, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; t->slots && i <= t->mask; i++) {
		size_t at;

		if (t->slots[i].generation != t->generation)
			continue;
		at = (t->slots[i].key + t->slots[i].extra * 0x9e3779b9u) * 0x9e3779b97f4a7c15ULL >>
		     32;
		while (bigger.slots[at & bigger.mask].generation)
			at++;
		bigger.slots[at & bigger.mask] = t->slots[i];
		bigger.slots[at & bigger.mask].generation = 1;
	}
	bigger.used = t->used;
	free(t->slots);
	*t = bigger;
	return true;
}

static bool table_clear(struct table *t)
{
	t->used = 0;
	if (++t->generation == 0 && t->slots) {
		memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
		t->generation = 1;
	}
	return table_reserve(t, 64);
}

/* The slot of a key, or the free one where it belongs (its generation is then another). */
static struct slot *table_find(struct table *t, uint64_t key, uint32_t extra)
{
	size_t at = (key + extra * 0x9e3779b9u) * 0x9e3779b97f4a7c15ULL >> 32;
	struct slot *s;

	for (;; at++) {
		s = &t->slots[at & t->mask];
		if (s->generation != t->generation || (s->key == key && s->extra == extra))
			return s;
	}
}

static void table_set(struct table *t, struct slot *s, uint64_t key, uint32_t extra, uint32_t value)
{
	*s = (struct slot){key, extra, value, t->generation};
	t->used++;
}

struct column_scratch *column_scratch_new(void)
{
	return calloc(1, sizeof(struct column_scratch));
}

void column_scratch_clear(struct column_scratch *s)
{
	free(s->values.slots);
	free(s->nodes.slots);
	free(s->order);
	free(s->strings);
	free(s->indexes);
	free(s->rank);
	free(s->node_row);
	free(s->path);
	*s = (struct column_scratch){0};
}

void column_scratch_free(struct column_scratch *s)
{
	if (s)
		column_scratch_clear(s);
	free(s);
}

static inline uint64_t number_at(bool wide, const uint8_t *field)
{
	return wide ? *(const uint64_t *)field : *(const uint32_t *)field;
}

/* ---- numbers ---- */

static void encode_plain(struct bytes *out, bool wide, const uint8_t *field, size_t stride,
			 size_t cnt)
{
	uint8_t *p = out->p + out->len;

	for (size_t i = 0; i < cnt; i++, field += stride)
		p = varint_put(p, number_at(wide, field));
	out->len = p - out->p;
}

static void encode_delta(struct bytes *out, bool wide, const uint8_t *field, size_t stride,
			 size_t cnt)
{
	uint8_t *p = out->p + out->len;
	uint64_t before = 0;

	for (size_t i = 0; i < cnt; i++, field += stride) {
		uint64_t v = number_at(wide, field);

		p = varint_put(p, zigzag(v - before));
		before = v;
	}
	out->len = p - out->p;
}

static void put_indexes(struct bytes *out, const uint32_t *indexes, size_t cnt)
{
	uint8_t *p = bytes_room(out, cnt * 5);

	if (!p)
		return;
	for (size_t i = 0; i < cnt; i++)
		p = varint_put(p, indexes[i]);
	out->len = p - out->p;
}

/* A dictionary pays only while values come back; past this many distinct ones the rows hold them
 * plainly. */
static size_t dict_max(size_t cnt)
{
	return cnt / 2 + 4;
}

static int encode_dict(struct bytes *out, bool wide, const uint8_t *field, size_t stride,
		       size_t cnt, struct column_scratch *s)
{
	size_t n = 0, max = dict_max(cnt);
	uint64_t before = 0;

	if (!GROW(s, indexes, indexes_cap, cnt) || !GROW(s, order, order_cap, max) ||
	    !table_clear(&s->values) || !table_reserve(&s->values, max + 1))
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		uint64_t v = number_at(wide, field + i * stride);
		struct slot *slot;

		if (i && v == before) {
			s->indexes[i] = s->indexes[i - 1];
			continue;
		}
		before = v;
		slot = table_find(&s->values, v, 0);
		if (slot->generation != s->values.generation) {
			if (n == max) {
				*bytes_room(out, 1) = 0;
				out->len++;
				encode_plain(out, wide, field, stride, cnt);
				return 0;
			}
			table_set(&s->values, slot, v, 0, n);
			s->order[n++] = v;
		}
		s->indexes[i] = slot->value;
	}
	bytes_varint(out, n);
	before = 0;
	for (size_t i = 0; i < n; i++) {
		bytes_varint(out, zigzag(s->order[i] - before));
		before = s->order[i];
	}
	put_indexes(out, s->indexes, cnt);
	return 0;
}

/* ---- strings ---- */

static struct span string_at(const uint8_t *field)
{
	struct span v = *(const struct span *)field;

	if (v.len > COLUMN_STR_MAX)
		v.len = COLUMN_STR_MAX;
	return v;
}

static size_t strings_size(const uint8_t *strings, size_t stride, size_t cnt)
{
	size_t sum = 0;

	for (size_t i = 0; i < cnt; i++) {
		size_t len = string_at(strings + i * stride).len;

		sum += len + (len < 1 << 7 ? 1 : len < 1 << 14 ? 2 : 3);
	}
	return sum;
}

static void put_strings(struct bytes *out, const uint8_t *strings, size_t stride, size_t cnt)
{
	uint8_t *p = bytes_room(out, strings_size(strings, stride, cnt) + VARINT_MAX);

	if (!p)
		return;
	for (size_t i = 0; i < cnt; i++)
		p = varint_put(p, string_at(strings + i * stride).len);
	for (size_t i = 0; i < cnt; i++) {
		struct span v = string_at(strings + i * stride);

		if (v.len)
			memcpy(p, v.p, v.len);
		p += v.len;
	}
	out->len = p - out->p;
}

/* FNV-1a by words: the strings are short and the table is ours alone. */
static uint64_t hash_string(struct span v)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ v.len, word;

	for (; v.len >= 8; v.p += 8, v.len -= 8) {
		memcpy(&word, v.p, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	for (; v.len; v.p++, v.len--)
		h = (h ^ (unsigned char)*v.p) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

static int encode_dict_strings(struct bytes *out, const uint8_t *field, size_t stride, size_t cnt,
			       struct column_scratch *s)
{
	size_t n = 0, max = dict_max(cnt);
	struct span before = {0};

	if (!GROW(s, indexes, indexes_cap, cnt) || !GROW(s, strings, strings_cap, max) ||
	    !table_clear(&s->values) || !table_reserve(&s->values, max + 1))
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		struct span v = string_at(field + i * stride);
		struct slot *slot;
		uint32_t again = 0;
		uint64_t h;

		/* Mostly as the row before, or nothing at all. */
		if (i && v.len == before.len && (!v.len || !memcmp(v.p, before.p, v.len))) {
			s->indexes[i] = s->indexes[i - 1];
			continue;
		}
		before = v;
		h = hash_string(v);
		/* `again` tells strings with equal hashes apart */
		for (;; again++) {
			slot = table_find(&s->values, h, again);
			if (slot->generation != s->values.generation ||
			    (s->strings[slot->value].len == v.len &&
			     (!v.len || !memcmp(s->strings[slot->value].p, v.p, v.len))))
				break;
		}
		if (slot->generation != s->values.generation) {
			if (n == max) {
				bytes_varint(out, 0);
				put_strings(out, field, stride, cnt);
				return 0;
			}
			table_set(&s->values, slot, h, again, n);
			s->strings[n++] = v;
		}
		s->indexes[i] = slot->value;
	}
	bytes_varint(out, n);
	put_strings(out, (const uint8_t *)s->strings, sizeof(struct span), n);
	put_indexes(out, s->indexes, cnt);
	return 0;
}

/* ---- lists ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the dictionary, writes it, and leaves in rank[] what became of each first-seen index. */
static int put_sorted(struct bytes *out, struct column_scratch *s, size_t n)
{
	uint64_t before = 0;

	if (!GROW(s, rank, rank_cap, n))
		return -ENOMEM;
	qsort(s->order, n, sizeof(*s->order), by_number);
	bytes_varint(out, n);
	for (size_t i = 0; i < n; i++) {
		bytes_varint(out, s->order[i] - before);
		before = s->order[i];
		s->rank[table_find(&s->values, before, 0)->value] = i;
	}
	return 0;
}

struct list_heads {
	uint32_t back, shared;
};

struct list_state {
	struct column_scratch *s;
	struct bytes heads; /* struct list_heads a row */
	size_t values, nodes, new_cnt;
	struct u64_span before;
};

/* Index of a value in the dictionary, new ones at its end. */
static bool list_value(struct list_state *l, uint64_t v)
{
	struct column_scratch *s = l->s;
	struct slot *slot;

	if (!table_reserve(&s->values, l->values + 1) ||
	    !GROW(s, order, order_cap, l->values + 1) ||
	    !GROW(s, indexes, indexes_cap, l->new_cnt + 1))
		return false;
	slot = table_find(&s->values, v, 0);
	if (slot->generation != s->values.generation) {
		table_set(&s->values, slot, v, 0, l->values);
		s->order[l->values++] = v;
	}
	s->indexes[l->new_cnt++] = slot->value;
	return true;
}

/* How many elements, counted from the end, the trie already has of `v`; path[] holds their nodes.
 */
static size_t list_walk(struct list_state *l, struct u64_span v, uint32_t *back, uint32_t row)
{
	struct column_scratch *s = l->s;
	size_t depth = 0, most = v.len < l->before.len ? v.len : l->before.len;
	uint32_t node;

	while (depth < most && v.v[v.len - 1 - depth] == l->before.v[l->before.len - 1 - depth])
		depth++; /* path[] still holds these nodes */
	node = depth ? s->path[depth - 1] : 0;
	for (; depth < v.len; depth++) {
		struct slot *slot = table_find(&s->nodes, v.v[v.len - 1 - depth], node);

		if (slot->generation != s->nodes.generation)
			break;
		node = slot->value;
		s->path[depth] = node;
	}
	*back = depth ? row - s->node_row[node] : 0;
	for (size_t i = 0; i < depth; i++)
		s->node_row[s->path[i]] = row;
	return depth;
}

static bool list_add(struct list_state *l, struct u64_span v, uint32_t row)
{
	struct column_scratch *s = l->s;
	struct list_heads h = {0};

	if (!GROW(s, path, path_cap, v.len) || !table_reserve(&s->nodes, l->nodes + v.len) ||
	    !GROW(s, node_row, node_cap, l->nodes + v.len))
		return false;
	h.shared = list_walk(l, v, &h.back, row);
	for (size_t depth = h.shared; depth < v.len; depth++) {
		uint64_t value = v.v[v.len - 1 - depth];
		uint32_t parent = depth ? s->path[depth - 1] : 0;

		table_set(&s->nodes, table_find(&s->nodes, value, parent), value, parent, l->nodes);
		s->node_row[l->nodes] = row;
		s->path[depth] = l->nodes++;
		if (!list_value(l, value))
			return false;
	}
	bytes_add(&l->heads, &h, sizeof(h));
	l->before = v;
	return !l->heads.failed;
}

static int encode_suffix(struct bytes *out, const uint8_t *field, size_t stride, size_t cnt,
			 struct column_scratch *s)
{
	struct list_state l = {.s = s, .nodes = 1}; /* node 0 is the root */
	const struct list_heads *heads;
	int err = -ENOMEM;

	if (!table_clear(&s->values) || !table_clear(&s->nodes) || !GROW(s, node_row, node_cap, 1))
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (!list_add(&l, *(const struct u64_span *)(field + i * stride), i))
			goto cleanup;
	err = put_sorted(out, s, l.values);
	if (err)
		goto cleanup;
	heads = (const struct list_heads *)l.heads.p;
	for (size_t i = 0; i < cnt; i++)
		bytes_varint(out, heads[i].back);
	for (size_t i = 0; i < cnt; i++)
		bytes_varint(out, heads[i].shared);
	for (size_t i = 0; i < cnt; i++)
		bytes_varint(out, ((const struct u64_span *)(field + i * stride))->len -
					  heads[i].shared);
	for (size_t i = 0; i < l.new_cnt; i++)
		s->indexes[i] = s->rank[s->indexes[i]];
	put_indexes(out, s->indexes, l.new_cnt);
cleanup:
	bytes_fini(&l.heads);
	return err;
}

/* ---- any column ---- */

size_t column_size(const struct rec_field *f, const void *rows, size_t stride, size_t cnt)
{
	return f->type == REC_T_str && f->encoding != REC_E_DICT
		       ? strings_size((const uint8_t *)rows + f->offset, stride, cnt)
		       : 0;
}

size_t column_bound(const struct rec_field *f, const void *row)
{
	const uint8_t *field = (const uint8_t *)row + f->offset;

	switch (f->type) {
	case REC_T_u32:
		return f->encoding == REC_E_DICT ? 8 : 5;
	case REC_T_u64:
		return f->encoding == REC_E_DICT ? 13 : 10;
	case REC_T_str:
		return 6 + string_at(field).len;
	case REC_T_list:
		return 9 + 13 * ((const struct u64_span *)field)->len;
	}
	return 0;
}

int column_encode(struct bytes *out, const struct rec_field *f, const void *rows, size_t stride,
		  size_t cnt, struct column_scratch *s)
{
	const uint8_t *field = (const uint8_t *)rows + f->offset;
	const bool wide = f->type == REC_T_u64;
	int err = 0;

	if (!bytes_room(out, (cnt + 1) * VARINT_MAX))
		return -ENOMEM;
	if (f->type == REC_T_list)
		err = encode_suffix(out, field, stride, cnt, s);
	else if (f->type == REC_T_str && f->encoding == REC_E_DICT)
		err = encode_dict_strings(out, field, stride, cnt, s);
	else if (f->type == REC_T_str)
		put_strings(out, field, stride, cnt);
	else if (f->encoding == REC_E_DICT)
		err = encode_dict(out, wide, field, stride, cnt, s);
	else if (f->encoding == REC_E_DELTA)
		encode_delta(out, wide, field, stride, cnt);
	else
		encode_plain(out, wide, field, stride, cnt);
	return err ? err : out->failed ? -ENOMEM : 0;
}
