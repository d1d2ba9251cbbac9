/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "format/ustar.h"
#include "format/writer.h"

/* ---- lists ---- */

static void list_add(struct queue_list *l, struct queue_chunk *c)
{
	c->next = NULL;
	*l->last = c;
	l->last = &c->next;
	l->cnt++;
}

static struct queue_chunk *list_pop(struct queue_list *l)
{
	struct queue_chunk *c = l->first;

	if (!c)
		return NULL;
	l->first = c->next;
	if (!l->first)
		l->last = &l->first;
	l->cnt--;
	return c;
}

/* ---- queues ---- */

static void add_field(struct queue_kind *k, const struct rec_field *f)
{
	if (f->type == REC_T_u32 || f->type == REC_T_u64)
		k->fixed_bound += column_bound(f, NULL);
	else
		k->spans[k->span_cnt++] = f;
}

void queue_init(struct obz_writer *w)
{
	const char *name;

	w->sealed.last = &w->sealed.first;
	w->encoded.last = &w->encoded.first;
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
		w->streams[k->stream].empty_bound += CHUNK_TABLE_BOUND;
		for (unsigned f = 0; f < info->field_cnt; f++)
			add_field(k, &info->fields[f]);
	}
}

void queue_fini(struct obz_writer *w)
{
	struct queue_chunk *c;

	while ((c = queue_sealed(w)))
		queue_encoded(w, c, -ECANCELED);
	while ((c = queue_pop(w)))
		queue_done(w, c, false);
	for (unsigned k = 0; k < REC_KIND_MAX; k++) {
		free(w->kinds[k].rows);
		free(w->kinds[k].spare);
	}
	for (unsigned s = 0; s < w->stream_cnt; s++)
		copies_free(&w->streams[s].copies, NULL);
	copies_free(&w->spare, NULL);
}

static size_t row_bound(const struct queue_kind *k, const void *rec)
{
	size_t sum = k->fixed_bound;

	for (unsigned i = 0; i < k->span_cnt; i++)
		sum += column_bound(k->spans[i], rec);
	return sum;
}

/* Stores strings of dictionary columns once; the encoder compares them by address. */
static const char *keep_string(struct queue_stream *s, struct copies *spare,
			       const struct rec_field *f, struct span v)
{
	return f->encoding == REC_E_DICT ? copies_string(&s->copies, spare, &s->known, v.p, v.len)
					 : copies_add(&s->copies, spare, v.p, v.len);
}

/* Copies the data of the row's strings and lists. */
static bool keep_spans(struct queue_stream *s, struct copies *spare, const struct queue_kind *k,
		       uint8_t *row)
{
	for (unsigned i = 0; i < k->span_cnt; i++) {
		const struct rec_field *f = k->spans[i];
		void *field = row + f->offset;

		if (f->type == REC_T_str) {
			struct span *v = field;

			if (v->len > COLUMN_STR_MAX)
				v->len = COLUMN_STR_MAX;
			if (v->len && !(v->p = keep_string(s, spare, f, *v)))
				return false;
		} else {
			struct u64_span *l = field;

			if (l->len &&
			    !(l->v = copies_add(&s->copies, spare, l->v, l->len * sizeof(*l->v))))
				return false;
		}
	}
	return true;
}

/* Maximum size in the archive of an encoded chunk with this raw bound. */
static uint64_t member_bound(size_t raw)
{
	return member_out_sz(CHUNK_HEADER_SZ + raw + raw / 128 + 512);
}

static uint64_t within(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/*
 * Reserve when there is a size limit: for the end member, and a sixteenth of the archive for
 * identity and health rows, which are written late (symbols of JIT code, state of binaries) and are
 * needed to interpret the rest. A small archive reserves less: at most a quarter, as long as the
 * end fits.
 */
static uint64_t reserve(const struct obz_writer *w, bool reserved)
{
	uint64_t end = within(w->max_sz / 8, 12 << 10, 32 << 10);
	uint64_t all = within(w->max_sz / 16, 64 << 10, 4 << 20);

	return reserved ? end : within(all, 0, within(w->max_sz / 4, end + (8 << 10), all));
}

bool queue_has_room(const struct obz_writer *w, uint64_t sz, bool reserved)
{
	uint64_t taken = w->out.bytes + w->queued_sz + w->sealed_sz + sz + reserve(w, reserved);

	for (unsigned s = 0; s < w->stream_cnt; s++)
		if (w->streams[s].bound)
			taken += member_bound(w->streams[s].bound);
	return !w->max_sz || taken <= w->max_sz;
}

/* Sets s->full when there is a limit and no room. Encoding replaces upper bounds by real sizes,
 * which are far smaller; -EAGAIN: encode first, then retry. */
static int fill(struct obz_writer *w, struct queue_stream *s, size_t bound, bool last)
{
	uint64_t need;

	if (!w->max_sz || s->full)
		return 0;
	need = member_bound(s->bound ? bound : s->empty_bound + bound);
	if (queue_has_room(w, last ? need + 4096 : need, s->reserved))
		return 0;
	if (!last)
		return -EAGAIN;
	s->full = true;
	return 0;
}

/* Moves the rows to the chunk. The next rows use the buffer of an earlier encoded chunk. */
static void seal_rows(struct queue_chunk *c, struct queue_kind *k)
{
	c->tables[c->table_cnt++] = (struct chunk_table){k->info, k->rows, k->cnt};
	c->caps[k->info->number] = k->cap;
	c->rows[k->info->number] = k->cnt;
	k->rows = k->spare;
	k->cap = k->spare_cap;
	k->cnt = 0;
	k->spare = NULL;
	k->spare_cap = 0;
}

static int seal(struct obz_writer *w, unsigned stream)
{
	struct queue_stream *s = &w->streams[stream];
	struct queue_chunk *c;

	if (!s->bound)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (unsigned i = 0; i < rec_info_cnt; i++) {
		struct queue_kind *k = &w->kinds[rec_infos[i].number];

		if (k->stream == stream && k->cnt)
			seal_rows(c, k);
	}
	c->stream = stream;
	c->bound = s->bound;
	c->samples = s->samples;
	s->samples = 0;
	c->copies = s->copies;
	s->copies.blocks = NULL;
	memset(&s->known, 0, sizeof(s->known));
	s->bound = 0;
	w->sealed_sz += member_bound(c->bound);
	list_add(&w->sealed, c);
	return 0;
}

static uint64_t samples_of(enum rec_kind kind, const void *rec)
{
	return kind == REC_sample ? ((const struct rec_sample *)rec)->count : 0;
}

void queue_dropped(struct obz_writer *w, enum rec_kind kind, const void *rec)
{
	uint64_t samples = samples_of(kind, rec);

	w->kinds[kind].dropped++;
	w->samples_dropped += samples;
	w->lost += kind == REC_sample ? samples : 1;
}

int queue_put(struct obz_writer *w, enum rec_kind kind, const void *rec, bool last)
{
	struct queue_kind *k = &w->kinds[kind < REC_KIND_MAX ? kind : 0];
	struct queue_stream *s = &w->streams[k->stream];
	size_t bound;
	uint8_t *row;
	int err;

	if (!k->info)
		return -EINVAL;
	bound = row_bound(k, rec);
	if (bound > CHUNK_RAW_MAX - CHUNK_TABLE_BOUND * REC_KIND_MAX)
		return -E2BIG;
	err = s->bound + bound > CHUNK_RAW_MAX ? seal(w, k->stream) : 0;
	err = err ? err : fill(w, s, bound, last);
	if (err)
		return err;
	if (s->full)
		return w->full_err;
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
	if (!keep_spans(s, &w->spare, k, row))
		return -ENOMEM;
	k->cnt++;
	if (!s->bound)
		s->bound = s->empty_bound;
	s->bound += bound;
	s->samples += samples_of(kind, rec);
	if (kind == REC_loss)
		w->lost += ((const struct rec_loss *)rec)->count;
	return 0;
}

void queue_trim(struct obz_writer *w)
{
	copies_free(&w->spare, NULL);
	for (unsigned i = 0; i < rec_info_cnt; i++) {
		struct queue_kind *k = &w->kinds[rec_infos[i].number];

		free(k->spare);
		k->spare = NULL;
		k->spare_cap = 0;
		if (k->cnt) /* rows were added since the flush */
			continue;
		free(k->rows);
		k->rows = NULL;
		k->cap = 0;
	}
}

/* ---- chunks ---- */

static void give_rows_back(struct obz_writer *w, struct queue_chunk *c)
{
	for (size_t i = 0; i < c->table_cnt; i++) {
		unsigned number = c->tables[i].info->number;
		struct queue_kind *k = &w->kinds[number];
		uint8_t *rows = (uint8_t *)c->tables[i].rows;

		if (k->spare_cap >= c->caps[number]) {
			free(rows);
			continue;
		}
		free(k->spare);
		k->spare = rows;
		k->spare_cap = c->caps[number];
	}
	c->table_cnt = 0;
	copies_free(&c->copies, &w->spare);
}

int queue_seal_all(struct obz_writer *w)
{
	int err = 0;

	for (unsigned s = 0; s < w->stream_cnt; s++) {
		int e = seal(w, s);

		err = err ? err : e;
	}
	return err;
}

struct queue_chunk *queue_sealed(struct obz_writer *w)
{
	return list_pop(&w->sealed);
}

int queue_encode(struct obz_writer *w, struct queue_chunk *c)
{
	struct chunk_header h = {0};

	memcpy(h.uuid, w->uuid, sizeof(h.uuid));
	snprintf(h.stream, sizeof(h.stream), "%s", w->streams[c->stream].name);
	return chunk_encode(w->encoder, c->tables, c->table_cnt, &h, &c->payload);
}

void queue_encoded(struct obz_writer *w, struct queue_chunk *c, int err)
{
	w->sealed_sz -= member_bound(c->bound);
	give_rows_back(w, c);
	if (err) {
		queue_done(w, c, false);
		return;
	}
	w->queued_sz += member_out_sz(c->payload.len);
	list_add(&w->encoded, c);
}

struct queue_chunk *queue_pop(struct obz_writer *w)
{
	return list_pop(&w->encoded);
}

void queue_done(struct obz_writer *w, struct queue_chunk *c, bool written)
{
	for (unsigned k = 0; k < REC_KIND_MAX; k++) {
		if (written)
			w->kinds[k].written += c->rows[k];
		else {
			w->kinds[k].dropped += c->rows[k];
			w->lost += k == REC_sample ? c->samples : c->rows[k];
		}
	}
	*(written ? &w->samples : &w->samples_dropped) += c->samples;
	w->streams[c->stream].seq += written;
	w->streams[c->stream].sz += written ? member_out_sz(c->payload.len) : 0;
	bytes_fini(&c->payload);
	free(c);
}
