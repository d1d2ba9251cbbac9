/* SPDX-License-Identifier: BSD-2-Clause */
/* Uncompressed tables of columns. The input up to the first NUL is a schema; without a NUL, this
 * build's schema is used. Decoded rows must be the same after encoding and decoding them again. */
#include <stdio.h>
#include <stdlib.h>

#include "format/chunk.h"

static struct chunk_encoder *encoder;
static struct chunk_decoder *decoder;
static struct schema own;

static int again(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	struct chunk_table t = {rec_info(kind), rows, cnt};
	struct chunk_header h = {.stream = "x"};
	struct bytes out = {0};
	size_t bound = CHUNK_TABLE_BOUND;

	for (size_t i = 0; i < cnt && bound <= CHUNK_RAW_MAX; i++)
		bound += chunk_row_bound(t.info, (const char *)rows + i * t.info->sz);
	if (bound <= CHUNK_RAW_MAX) {
		if (chunk_encode(encoder, &t, 1, &h, &out) || h.info.raw_sz > bound ||
		    chunk_decode(decoder, &own, &h, out.p + h.header_sz, NULL, NULL))
			abort();
	}
	bytes_fini(&out);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	struct schema foreign;

	if (!encoder) {
		encoder = chunk_encoder_new(1);
		decoder = chunk_decoder_new();
		if (!encoder || !decoder || schema_load(&own, NULL, 0))
			abort();
	}
	if (nul && nul != data) {
		if (!schema_load(&foreign, (const char *)data, nul - data)) {
			chunk_decode_tables(&foreign, nul + 1, data + size - nul - 1,
					    CHUNK_ANY_ROWS, again, NULL);
			schema_fini(&foreign);
		}
	} else if (nul)
		chunk_decode_tables(&own, data + 1, size - 1, CHUNK_ANY_ROWS, again, NULL);
	return 0;
}
