/* SPDX-License-Identifier: BSD-2-Clause */
/* A decompressed section, in an unlinked file so that its pages need not stay resident. */
#ifndef ANALYZE_SYMBOL_INFLATE_H
#define ANALYZE_SYMBOL_INFLATE_H

#include "analyze/symbol/section_bytes.h"

struct inflated {
	bool tried;
	struct bytes data; /* empty when it could not be had */
};

/* type: ELFCOMPRESS_ZLIB or ELFCOMPRESS_ZSTD; sz as the section header claims, checked against the
 * result. */
void inflated_init(struct inflated *in, uint32_t type, struct bytes raw, uint64_t sz);
void inflated_fini(struct inflated *in);
void inflated_release_pages(struct inflated *in);

#endif
