/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *   0  skippable frame magic 0x184d2a5b, u32   56  sequence in the stream, u64
 *   4  bytes that follow in this frame, u32    64  raw size, u32       68  records, u32
 *   8  "OBZC"                                  72  first ts, u64       80  last ts, u64
 *  12  version 1, u16    14  0, u16            88  losses before, u64
 *  16  archive uuid, 16                        96  size of the zstd frame that follows, u32
 *  32  stream, 24, padded with NUL            100  CRC-32 of bytes 0..99, u32 (always the frame's
 * last four)
 */
#include "format/chunk.h"

#include <errno.h>
#include <zstd.h>

#include "format/json.h"

#define CHUNK_MAGIC 0x184d2a5bu
enum { CHUNK_VERSION = 1 };

void chunk_header_put(uint8_t to[CHUNK_HEADER_SZ], const struct chunk_header *h)
{
	memset(to, 0, CHUNK_HEADER_SZ);
	le_put(to, CHUNK_MAGIC, 4);
	le_put(to + 4, CHUNK_HEADER_SZ - 8, 4);
	memcpy(to + 8, "OBZC", 4);
	le_put(to + 12, CHUNK_VERSION, 2);
	memcpy(to + 16, h->uuid, 16);
	memcpy(to + 32, h->stream, strnlen(h->stream, REC_STREAM_NAME_MAX));
	le_put(to + 56, h->seq, 8);
	le_put(to + 64, h->info.raw_sz, 4);
	le_put(to + 68, h->info.records, 4);
	le_put(to + 72, h->info.first_ns, 8);
	le_put(to + 80, h->info.last_ns, 8);
	le_put(to + 88, h->info.lost_before, 8);
	le_put(to + 96, h->frame_sz, 4);
	le_put(to + 100, crc32_of(to, 100), 4);
}

void chunk_header_renumber(uint8_t at[CHUNK_HEADER_SZ], uint64_t seq, uint64_t lost_before)
{
	le_put(at + 56, seq, 8);
	le_put(at + 88, lost_before, 8);
	le_put(at + 100, crc32_of(at, 100), 4);
}

int chunk_header_get(struct chunk_header *h, const uint8_t *p, size_t len)
{
	uint64_t sz;

	if (len < CHUNK_HEADER_SZ || le_get(p, 4) != CHUNK_MAGIC || memcmp(p + 8, "OBZC", 4))
		return -EBADMSG;
	sz = le_get(p + 4, 4) + 8;
	if (sz < CHUNK_HEADER_SZ || sz > CHUNK_HEADER_MAX || sz > len ||
	    le_get(p + 12, 2) < CHUNK_VERSION)
		return -EBADMSG;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	if (le_get(p + sz - 4, 4) != crc32_of(p, sz - 4))
		return -EBADMSG;
#endif
	memset(h, 0, sizeof(*h));
	memcpy(h->uuid, p + 16, 16);
	memcpy(h->stream, p + 32, REC_STREAM_NAME_MAX);
	h->seq = le_get(p + 56, 8);
	h->info.raw_sz = le_get(p + 64, 4);
	h->info.records = le_get(p + 68, 4);
	h->info.first_ns = le_get(p + 72, 8);
	h->info.last_ns = le_get(p + 80, 8);
	h->info.lost_before = le_get(p + 88, 8);
	h->frame_sz = le_get(p + 96, 4);
	h->header_sz = sz;
	return h->info.raw_sz > CHUNK_RAW_MAX || h->frame_sz > CHUNK_FRAME_MAX ? -EBADMSG : 0;
}

/* ---- encoding ---- */

struct chunk_encoder {
	ZSTD_CCtx *zstd;
	struct column_scratch *scratch;
	struct bytes raw, frame;
};

struct chunk_encoder *chunk_encoder_new(int zstd_level)
{
	struct chunk_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->zstd = ZSTD_createCCtx();
	e->scratch = column_scratch_new();
	if (!e->zstd || !e->scratch) {
		chunk_encoder_free(e);
		return NULL;
	}
	ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, zstd_level);
	ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_checksumFlag, 1);
	return e;
}

void chunk_encoder_trim(struct chunk_encoder *e)
{
	column_scratch_clear(e->scratch);
	bytes_fini(&e->raw);
	bytes_fini(&e->frame);
}

void chunk_encoder_free(struct chunk_encoder *e)
{
	if (!e)
		return;
	ZSTD_freeCCtx(e->zstd);
	column_scratch_free(e->scratch);
	bytes_fini(&e->raw);
	bytes_fini(&e->frame);
	free(e);
}

size_t chunk_row_bound(const struct rec_info *info, const void *row)
{
	size_t sum = 0;

	for (unsigned i = 0; i < info->field_cnt; i++)
		sum += column_bound(&info->fields[i], row);
	return sum;
}

static int encode_table(struct chunk_encoder *e, const struct chunk_table *t)
{
	bytes_varint(&e->raw, t->info->number);
	bytes_varint(&e->raw, t->cnt);
	bytes_varint(&e->raw, t->info->field_cnt);
	for (unsigned i = 0; i < t->info->field_cnt; i++) {
		int err = column_encode(&e->raw, &t->info->fields[i], t->rows, t->info->sz, t->cnt,
					e->scratch);

		if (err)
			return err;
	}
	return 0;
}

static void add_times(struct obz_chunk_info *ci, const struct chunk_table *t)
{
	int at = rec_ts_offset(t->info);
	const uint8_t *row = t->rows;

	for (size_t i = 0; at >= 0 && i < t->cnt; i++, row += t->info->sz) {
		uint64_t ts = *(const uint64_t *)(row + at);

		if (ts && (!ci->first_ns || ts < ci->first_ns))
			ci->first_ns = ts;
		if (ts > ci->last_ns)
			ci->last_ns = ts;
	}
}

int chunk_encode(struct chunk_encoder *e, const struct chunk_table *tables, size_t cnt,
		 struct chunk_header *h, struct bytes *out)
{
	size_t bound, sz;
	uint8_t *to;

	e->raw.len = 0;
	bytes_varint(&e->raw, cnt);
	for (size_t i = 0; i < cnt; i++) {
		int err = encode_table(e, &tables[i]);

		if (err)
			return err;
		add_times(&h->info, &tables[i]);
		h->info.records += tables[i].cnt;
	}
	if (e->raw.failed)
		return -ENOMEM;
	if (e->raw.len > CHUNK_RAW_MAX)
		return -E2BIG; /* the caller holds rows to their bounds */
	e->frame.len = 0;
	bound = ZSTD_compressBound(e->raw.len);
	to = bytes_room(&e->frame, bound);
	if (!to)
		return -ENOMEM;
	sz = ZSTD_compress2(e->zstd, to, bound, e->raw.p, e->raw.len);
	if (ZSTD_isError(sz))
		return -ENOMEM; /* the output has room, the parameters are right */
	to = bytes_room(out, CHUNK_HEADER_SZ + sz);
	if (!to)
		return -ENOMEM;
	memcpy(to + CHUNK_HEADER_SZ, e->frame.p, sz);
	h->info.raw_sz = e->raw.len;
	h->header_sz = CHUNK_HEADER_SZ;
	h->frame_sz = sz;
	chunk_header_put(to, h);
	out->len += CHUNK_HEADER_SZ + sz;
	return 0;
}
