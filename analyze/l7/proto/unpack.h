/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens compressed parts of messages, never more than asked for, also when their end is missing. */
#ifndef ANALYZE_L7_UNPACK_H
#define ANALYZE_L7_UNPACK_H

#include "analyze/l7/engine/l7.h"

enum unpack { UNPACK_SNAPPY, UNPACK_ZLIB, UNPACK_ZSTD };

/* Fills dst with the first dst_sz bytes at most of what `src` holds; how many came out. */
size_t unpack(enum unpack how, struct span src, uint8_t *dst, size_t dst_sz);

#endif
