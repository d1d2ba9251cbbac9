/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "ustar.h"
#include "writer.h"

/* ---- arena ---- */

struct arena_block {
	struct arena_block *next;
	size_t used, cap;
	_Alignas(uint64_t) uint8_t data[];
};

enum { ARENA_BLOCK = 64 << 10 };

static void *arena_copy(struct arena *a, const void *p, size_t len)
{
	struct arena_block *b = a->blocks;
	size_t padded = (len + 7) & ~(size_t)7;
	void *to;

	if (!b || b->cap - b->used < padded) {
		size_t cap = padded > ARENA_BLOCK ? padded : ARENA_BLOCK;

		b = malloc(sizeof(*b) + cap);
		if (!b)
			return NULL;
		*b = (struct arena_block){.next = a->blocks, .cap = cap};
		a->blocks = b;
	}
	to = b->data + b->used;
	b->used += padded;
	memcpy(to, p, len);
	return to;
}

/* Keeps one block for what comes next. */
static void arena_clear(struct arena *a, bool keep)
{
	while (a->blocks && (a->blocks->next || !keep || a->blocks->cap > ARENA_BLOCK)) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	if (a->blocks)
		a->blocks->used = 0;
}

/* ---- queues ---- */

static bool is_fixed(const struct rec_field *f)
{
	return f->type == REC_T_u32 || f->type == REC_T_u64;
}

void queue_init(struct obz_writer *w)
{
	const char *name;

	w->last = &w->first;
	for (unsigned s = 0; (name = rec_stream(s)); s++) {
		w->streams[s].name = name;
		w->streams[s].reserved = !strcmp(name, "identity") || !strcmp(name, "health");
		w->stream_cnt = s + 1;
	}
	for (unsigned i = 0; i < rec_info_cnt; i++) {
		const struct rec_info *info = &rec_infos[i];
		struct queue_kind *k = &w->kinds[info->number];

		k->info = info;
		k->stream = rec_stream_index(info->stream);
		for (unsigned f = 0; f < info->field_cnt; f++)
			if (is_fixed(&info->fields[f]))
				k->fixed_bound += column_bound(&info->fields[f], NULL);
			else
				k->spans[k->span_cnt++] = f;
	}
}

void queue_fini(struct obz_writer *w)
{
	struct queue_chunk *c;

	while ((c = queue_pop(w)))
		queue_done(w, c, false);
	for (unsigned k = 0; k < REC_KIND_MAX; k++)
		free(w->kinds[k].rows);
	for (unsigned s = 0; s < w->stream_cnt; s++)
		arena_clear(&w->streams[s].arena, false);
}

static size_t row_bound(const struct queue_kind *k, const void *rec)
{
	size_t sum = k->fixed_bound;

	for (unsigned i = 0; i < k->span_cnt; i++)
		sum += column_bound(&k->info->fields[k->spans[i]], rec);
	return sum;
}

/* Copies what the row's strings and lists point to. */
static bool keep_spans(struct arena *a, const struct queue_kind *k, uint8_t *row)
{
	for (unsigned i = 0; i < k->span_cnt; i++) {
		const struct rec_field *f = &k->info->fields[k->spans[i]];
		void *field = row + f->offset;

		if (f->type == REC_T_str) {
			struct span *s = field;

			if (s->len > COLUMN_STR_MAX)
				s->len = COLUMN_STR_MAX;
			if (s->len && !(s->p = arena_copy(a, s->p, s->len)))
				return false;
		} else {
			struct u64_span *l = field;

			if (l->len && !(l->v = arena_copy(a, l->v, l->len * sizeof(*l->v))))
				return false;
		}
	}
	return true;
}

/* The most an encoded chunk of that raw bound can take in the archive. */
static uint64_t member_bound(size_t raw)
{
	return member_out_sz(CHUNK_HEADER_SZ + raw + raw / 128 + 512);
}

/*
 * Room kept when there is a bound: for the end member, and in all a sixteenth of the archive for
 * identity and health, which come late (symbols of JIT code, what became of binaries) and are what
 * makes the rest readable.
 */
static uint64_t reserve(const struct obz_writer *w, bool reserved)
{
	uint64_t end = 32 << 10, all = w->max_sz / 16;

	all = all < 64 << 10 ? 64 << 10 : all > 4 << 20 ? 4 << 20 : all;
	return reserved ? end : all;
}

bool queue_has_room(const struct obz_writer *w, uint64_t sz, bool reserved)
{
	uint64_t taken = w->out.bytes + w->queued_sz + sz + reserve(w, reserved);

	for (unsigned s = 0; s < w->stream_cnt; s++)
		if (w->streams[s].bound)
			taken += member_bound(w->streams[s].bound);
	return !w->max_sz || taken <= w->max_sz;
}

/* Encoding turns bounds into sizes, which are far smaller: worth it before a stream is declared
 * full. */
static bool make_room(struct obz_writer *w, size_t bound, bool reserved)
{
	uint64_t need = member_bound(bound);

	if (queue_has_room(w, need, reserved))
		return true;
	for (unsigned s = 0; s < w->stream_cnt; s++)
		queue_encode(w, s);
	return queue_has_room(w, need + 4096, reserved);
}

int queue_put(struct obz_writer *w, enum rec_kind kind, const void *rec)
{
	struct queue_kind *k = &w->kinds[kind < REC_KIND_MAX ? kind : 0];
	struct queue_stream *s = &w->streams[k->stream];
	size_t bound;
	uint8_t *row;

	if (!k->info)
		return -EINVAL;
	bound = row_bound(k, rec);
	if (bound > CHUNK_RAW_MAX - CHUNK_TABLE_BOUND * REC_KIND_MAX)
		return -E2BIG;
	if (s->bound + bound > CHUNK_RAW_MAX) {
		int err = queue_encode(w, k->stream);

		if (err)
			return err;
	}
	if (!s->full)
		s->full = w->max_sz && !make_room(w, bound, s->reserved);
	if (s->full)
		return -EFBIG;
	if (k->cnt == k->cap) {
		size_t cap = k->cap ? k->cap * 2 : 64;
		uint8_t *rows = realloc(k->rows, cap * k->info->sz);

		if (!rows)
			return -ENOMEM;
		k->rows = rows;
		k->cap = cap;
	}
	row = k->rows + k->cnt * k->info->sz;
	memcpy(row, rec, k->info->sz);
	if (!keep_spans(&s->arena, k, row))
		return -ENOMEM;
	k->cnt++;
	if (!s->bound)
		s->bound = CHUNK_TABLE_BOUND * REC_KIND_MAX / 2;
	s->bound += bound;
	if (kind == REC_loss)
		w->lost += ((const struct rec_loss *)rec)->count;
	return 0;
}

void queue_trim(struct obz_writer *w)
{
	for (unsigned i = 0; i < rec_info_cnt; i++) {
		struct queue_kind *k = &w->kinds[rec_infos[i].number];

		if (k->cnt) /* put since the flush */
			continue;
		free(k->rows);
		k->rows = NULL;
		k->cap = 0;
	}
	chunk_encoder_trim(w->encoder);
}

/* ---- encoded chunks ---- */

int queue_encode(struct obz_writer *w, unsigned stream)
{
	struct queue_stream *s = &w->streams[stream];
	struct chunk_table tables[REC_KIND_MAX];
	struct chunk_header h = {0};
	struct queue_chunk *c;
	size_t cnt = 0;
	int err;

	if (!s->bound)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (unsigned i = 0; i < rec_info_cnt; i++) {
		struct queue_kind *k = &w->kinds[rec_infos[i].number];

		if (k->stream != stream || !k->cnt)
			continue;
		tables[cnt++] = (struct chunk_table){k->info, k->rows, k->cnt};
		c->rows[k->info->number] = k->cnt;
		k->cnt = 0;
	}
	memcpy(h.uuid, w->uuid, sizeof(h.uuid));
	snprintf(h.stream, sizeof(h.stream), "%s", s->name);
	c->stream = stream;
	err = chunk_encode(w->encoder, tables, cnt, &h, &c->payload);
	s->bound = 0;
	arena_clear(&s->arena, true);
	if (err) {
		queue_done(w, c, false);
		return err;
	}
	w->queued_sz += member_out_sz(c->payload.len);
	*w->last = c;
	w->last = &c->next;
	return 0;
}

struct queue_chunk *queue_pop(struct obz_writer *w)
{
	struct queue_chunk *c = w->first;

	if (c) {
		w->first = c->next;
		if (!w->first)
			w->last = &w->first;
	}
	return c;
}

void queue_done(struct obz_writer *w, struct queue_chunk *c, bool written)
{
	for (unsigned k = 0; k < REC_KIND_MAX; k++) {
		if (written)
			w->kinds[k].written += c->rows[k];
		else {
			w->kinds[k].dropped += c->rows[k];
			w->lost += c->rows[k];
		}
	}
	w->streams[c->stream].seq += written;
	w->streams[c->stream].sz += written ? member_out_sz(c->payload.len) : 0;
	bytes_fini(&c->payload);
	free(c);
}
