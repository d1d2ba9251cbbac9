/* SPDX-License-Identifier: BSD-2-Clause */
/* A contiguous part of a slim ELF and the source of its bytes. */
#ifndef RECORD_SLIM_PART_H
#define RECORD_SLIM_PART_H

#include "record/symbols/slim.h"

enum slim_coding {
	SLIM_MEMORY, /* `mem` itself */
	SLIM_PLAIN,  /* in_sz == out_sz bytes of the file */
	SLIM_ZLIB,   /* a zlib stream in the file */
	SLIM_ZSTD,   /* zstd frames in the file */
};

struct slim_part {
	enum slim_coding coding;
	const struct slim_elf *file;
	const void *mem;
	uint64_t in_off, in_sz;
	uint64_t out_sz;
};

/* Locates a section's bytes and their coding, for SHF_COMPRESSED and .zdebug_ too. False:
 * malformed. */
bool slim_part_of(struct slim_part *part, const struct slim_elf *e, size_t section);

/* Memory for reading and decompressing: for all parts together, and in addition for this one. */
#define SLIM_PART_BLOCKS (256u << 10)
uint64_t slim_part_memory(const struct slim_part *part);

/* Sends exactly out_sz bytes to the sink. -EBADMSG: the source has more or fewer. */
int slim_part_write(const struct slim_part *part, slim_sink sink, void *ctx);

#endif
