/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <zstd.h>

#include "format/chunk.h"

enum { LIST_FIELDS_MAX = 8 };

struct chunk_decoder {
	ZSTD_DCtx *zstd;
	uint8_t *raw; /* CHUNK_RAW_MAX bytes */
};

struct chunk_decoder *chunk_decoder_new(void)
{
	struct chunk_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->zstd = ZSTD_createDCtx();
	d->raw = malloc(CHUNK_RAW_MAX);
	if (!d->zstd || !d->raw) {
		chunk_decoder_free(d);
		return NULL;
	}
	return d;
}

void chunk_decoder_free(struct chunk_decoder *d)
{
	if (!d)
		return;
	ZSTD_freeDCtx(d->zstd);
	free(d->raw);
	free(d);
}

struct table {
	enum rec_kind kind;
	void *rows;
	size_t cnt;
	uint64_t *lists[LIST_FIELDS_MAX];
	unsigned list_cnt;
};

/* All tables of a chunk. No rows are returned before the whole chunk is verified. */
struct tables {
	struct table v[REC_KIND_MAX];
	unsigned cnt;
	bool seen[REC_KIND_MAX]; /* one table each */
	uint64_t rows; /* including unknown kinds */
	uint64_t sz;   /* size in memory of known kinds */
};

static void tables_fini(struct tables *t)
{
	for (unsigned i = 0; i < t->cnt; i++) {
		for (unsigned j = 0; j < t->v[i].list_cnt; j++)
			free(t->v[i].lists[j]);
		free(t->v[i].rows);
	}
}

static int decode_column(struct view column, const struct schema_column *c,
			 const struct rec_info *info, struct table *t)
{
	uint64_t *lists;
	int err;

	/* before rows are allocated: each has at least one byte per column */
	if (view_left(&column) < t->cnt || t->list_cnt == LIST_FIELDS_MAX)
		return -EBADMSG;
	if (!t->rows)
		t->rows = calloc(t->cnt, info->sz);
	if (!t->rows)
		return -ENOMEM;
	err = column_decode(&column, c, t->rows, info->sz, t->cnt, &lists);
	if (lists)
		t->lists[t->list_cnt++] = lists;
	return err;
}

static int decode_table(struct view *v, const struct schema *s, struct tables *all)
{
	static const struct schema_kind unknown;
	uint64_t kind = view_varint(v), cnt = view_varint(v), columns = view_varint(v);
	const struct schema_kind *k = kind < REC_KIND_MAX ? &s->kinds[kind] : &unknown;
	struct table *t = &all->v[all->cnt];
	int err = 0;

	if (v->bad || cnt == 0 || cnt > CHUNK_ROWS_MAX || columns > view_left(v))
		return -EBADMSG;
	all->rows += cnt;
	if (k->info) {
		if (all->seen[kind])
			return -EBADMSG;
		all->seen[kind] = true;
		/* with a schema that lacks most columns, a row has few encoded bytes */
		all->sz += cnt * k->info->sz;
		if (all->sz > CHUNK_ROWS_SZ_MAX)
			return -EBADMSG;
		*t = (struct table){.kind = kind, .cnt = cnt};
		all->cnt++;
	}
	for (uint64_t i = 0; i < columns && !err; i++) {
		uint64_t len = view_varint(v);
		const uint8_t *p = view_take(v, len);
		const struct schema_column *c =
			k->info && i < k->column_cnt ? &k->columns[i] : NULL;

		if (!p)
			return -EBADMSG;
		if (c && c->field)
			err = decode_column((struct view){p, p + len, false}, c, k->info, t);
	}
	return err;
}

int chunk_decode_tables(const struct schema *s, const uint8_t *raw, size_t len, uint64_t expected,
			obz_rows_fn fn, void *arg)
{
	struct view v = {raw, raw + len, false};
	struct tables all = {.cnt = 0};
	uint64_t cnt = view_varint(&v);
	int err = 0;

	for (uint64_t i = 0; i < cnt && !err; i++)
		err = decode_table(&v, s, &all);
	if (!err && (v.bad || v.p != v.end || (expected != CHUNK_ANY_ROWS && all.rows != expected)))
		err = -EBADMSG;
	for (unsigned i = 0; i < all.cnt && !err && fn; i++)
		if (all.v[i].rows)
			err = fn(arg, all.v[i].kind, all.v[i].rows, all.v[i].cnt);
	tables_fini(&all);
	return err;
}

/* Whether there is exactly one frame of that size, with content checksum, without dictionary and
 * reserved bit (RFC 8878, 3.1.1.1). */
static bool frame_fits(const uint8_t *frame, size_t sz, uint64_t raw_sz)
{
	return sz >= 9 && le_get(frame, 4) == ZSTD_MAGICNUMBER && (frame[4] & 0x04) &&
	       !(frame[4] & 0x1b) && ZSTD_findFrameCompressedSize(frame, sz) == sz &&
	       ZSTD_getFrameContentSize(frame, sz) == raw_sz;
}

int chunk_decode(struct chunk_decoder *d, const struct schema *s, const struct chunk_header *h,
		 const uint8_t *frame, obz_rows_fn fn, void *arg)
{
	size_t sz;

	if (!frame_fits(frame, h->frame_sz, h->info.raw_sz))
		return -EBADMSG;
	sz = ZSTD_decompressDCtx(d->zstd, d->raw, CHUNK_RAW_MAX, frame, h->frame_sz);
	if (ZSTD_isError(sz) || sz != h->info.raw_sz)
		return -EBADMSG;
	return chunk_decode_tables(s, d->raw, sz, h->info.records, fn, arg);
}
