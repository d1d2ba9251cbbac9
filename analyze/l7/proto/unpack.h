/* SPDX-License-Identifier: BSD-2-Clause */
/* Decompresses parts of messages up to a given size, including truncated ones. */
#ifndef ANALYZE_L7_UNPACK_H
#define ANALYZE_L7_UNPACK_H

#include "analyze/l7/engine/l7.h"

enum unpack { UNPACK_SNAPPY, UNPACK_ZLIB, UNPACK_ZSTD };

/* Decompresses at most the first dst_sz bytes of `src` into dst. Returns the number of bytes. */
size_t unpack(enum unpack how, struct span src, uint8_t *dst, size_t dst_sz);

#endif
