/* SPDX-License-Identifier: BSD-2-Clause */
/* A chunk: a header with checksum in a zstd skippable frame, then tables of columns in one zstd
 * frame (FORMAT.md). */
#ifndef FORMAT_CHUNK_H
#define FORMAT_CHUNK_H

#include "format/archive.h"
#include "format/bytes.h"
#include "format/column.h"
#include "format/record.h"

enum {
	CHUNK_HEADER_SZ = 104,	       /* size when written */
	CHUNK_HEADER_MAX = 4096,       /* size accepted: later minor versions append fields */
	CHUNK_RAW_MAX = 1 << 20,       /* tables of columns, uncompressed */
	CHUNK_FRAME_MAX = 1 << 21,     /* upper bound of CHUNK_RAW_MAX bytes compressed */
	CHUNK_ROWS_MAX = CHUNK_RAW_MAX, /* each row has at least one byte per column */
	CHUNK_ROWS_SZ_MAX = 32 << 20	/* decoded rows, without strings and lists */
};

struct chunk_header {
	uint8_t uuid[16];
	char stream[REC_STREAM_NAME_MAX + 1];
	uint64_t seq;
	struct obz_chunk_info info;
	uint32_t header_sz, frame_sz; /* of the skippable frame, and of the frame after it */
};

void chunk_header_put(uint8_t to[CHUNK_HEADER_SZ], const struct chunk_header *h);

/*
 * Sets the sequence number just before the chunk is written, so that a failed write leaves no gap.
 */
void chunk_header_renumber(uint8_t at[CHUNK_HEADER_SZ], uint64_t seq, uint64_t lost_before);

/* Parses the chunk header at p. -EBADMSG when there is none or it is damaged. */
int chunk_header_get(struct chunk_header *h, const uint8_t *p, size_t len);

/* Rows of one kind, in order. */
struct chunk_table {
	const struct rec_info *info;
	const void *rows;
	size_t cnt;
};

struct chunk_encoder;
struct chunk_encoder *chunk_encoder_new(int zstd_level);
void chunk_encoder_trim(struct chunk_encoder *e); /* frees the buffers kept for the next chunk */
void chunk_encoder_free(struct chunk_encoder *e);

/* Appends the complete member payload to out, and sets the sizes, counts and times of h. */
int chunk_encode(struct chunk_encoder *e, const struct chunk_table *tables, size_t cnt,
		 struct chunk_header *h, struct bytes *out);

/* Upper bound of the bytes a row adds to a chunk's raw size; each table adds up to
 * CHUNK_TABLE_BOUND. */
enum { CHUNK_TABLE_BOUND = 512 };
size_t chunk_row_bound(const struct rec_info *info, const void *row);

struct chunk_decoder;
struct chunk_decoder *chunk_decoder_new(void);
void chunk_decoder_free(struct chunk_decoder *d);

/* Decodes the frame after a header. fn NULL: only verifies. -EBADMSG: damaged. */
int chunk_decode(struct chunk_decoder *d, const struct schema *s, const struct chunk_header *h,
		 const uint8_t *frame, obz_rows_fn fn, void *arg);

/* As chunk_decode(), for decompressed tables with `expected` rows in total; entry point of the
 * fuzzer. */
#define CHUNK_ANY_ROWS UINT64_MAX
int chunk_decode_tables(const struct schema *s, const uint8_t *raw, size_t len, uint64_t expected,
			obz_rows_fn fn, void *arg);

#endif
