/* SPDX-License-Identifier: BSD-2-Clause */
/* A chunk: a checked header in a zstd skippable frame, then tables of columns in one zstd frame
 * (FORMAT.md). */
#ifndef FORMAT_CHUNK_H
#define FORMAT_CHUNK_H

#include "format/archive.h"
#include "format/bytes.h"
#include "format/column.h"
#include "format/record.h"

enum {
	CHUNK_HEADER_SZ = 104,	       /* what we write */
	CHUNK_HEADER_MAX = 4096,       /* what we accept: later minor versions append */
	CHUNK_RAW_MAX = 1 << 20,       /* tables of columns, uncompressed */
	CHUNK_FRAME_MAX = 1 << 21,     /* more than zstd makes of CHUNK_RAW_MAX at worst */
	CHUNK_ROWS_MAX = CHUNK_RAW_MAX, /* each row takes a byte of each of its columns */
	CHUNK_ROWS_SZ_MAX = 32 << 20	/* decoded, strings and lists apart */
};

struct chunk_header {
	uint8_t uuid[16];
	char stream[REC_STREAM_NAME_MAX + 1];
	uint64_t seq;
	struct obz_chunk_info info;
	uint32_t header_sz, frame_sz; /* of the skippable frame whole, and of the frame after it */
};

void chunk_header_put(uint8_t to[CHUNK_HEADER_SZ], const struct chunk_header *h);

/* The sequence is settled when the chunk is written: one that fails to be leaves no gap. */
void chunk_header_renumber(uint8_t at[CHUNK_HEADER_SZ], uint64_t seq, uint64_t lost_before);

/* Parses what begins at p. 0; -EBADMSG when it is no chunk header, or one that is damaged. */
int chunk_header_get(struct chunk_header *h, const uint8_t *p, size_t len);

/* Rows of one kind, in order. */
struct chunk_table {
	const struct rec_info *info;
	const void *rows;
	size_t cnt;
};

struct chunk_encoder;
struct chunk_encoder *chunk_encoder_new(int zstd_level);
void chunk_encoder_trim(struct chunk_encoder *e); /* frees what it keeps for the next chunk */
void chunk_encoder_free(struct chunk_encoder *e);

/* The whole member payload; h's sizes, counts and times are filled in. Appended to out. */
int chunk_encode(struct chunk_encoder *e, const struct chunk_table *tables, size_t cnt,
		 struct chunk_header *h, struct bytes *out);

/* A bound on what a row adds to a chunk's raw size; tables cost up to CHUNK_TABLE_BOUND besides. */
enum { CHUNK_TABLE_BOUND = 512 };
size_t chunk_row_bound(const struct rec_info *info, const void *row);

struct chunk_decoder;
struct chunk_decoder *chunk_decoder_new(void);
void chunk_decoder_free(struct chunk_decoder *d);

/* Decodes the frame that follows a header. fn NULL: only checks. -EBADMSG: damaged. */
int chunk_decode(struct chunk_decoder *d, const struct schema *s, const struct chunk_header *h,
		 const uint8_t *frame, obz_rows_fn fn, void *arg);

/* The same for tables already decompressed, `expected` rows in all; the fuzzer's way in. */
#define CHUNK_ANY_ROWS UINT64_MAX
int chunk_decode_tables(const struct schema *s, const uint8_t *raw, size_t len, uint64_t expected,
			obz_rows_fn fn, void *arg);

#endif
