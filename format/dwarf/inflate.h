/* SPDX-License-Identifier: BSD-2-Clause */
/* A decompressed section, stored in an unlinked file so that its pages need not stay resident. */
#ifndef FORMAT_INFLATE_H
#define FORMAT_INFLATE_H

#include "format/dwarf/section_bytes.h"

struct inflated {
	bool tried;
	struct bytes data; /* empty when decompression failed */
};

/* type: ELFCOMPRESS_ZLIB or ELFCOMPRESS_ZSTD. sz: size from the section header, verified against
 * the result. */
void inflated_init(struct inflated *in, uint32_t type, struct bytes raw, uint64_t sz);
void inflated_fini(struct inflated *in);
void inflated_release_pages(struct inflated *in);

#endif
