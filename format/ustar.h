/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading tar files one 512-byte header at a time, so that damaged archives can be read, and the
 * syntax of member names. POSIX.1-1988 ustar only; see FORMAT.md.
 */
#ifndef FORMAT_USTAR_H
#define FORMAT_USTAR_H

#include <stdbool.h>
#include <stdint.h>

#include "format/archive.h"

enum { USTAR_BLOCK = 512, USTAR_NAME_MAX = 100 };

struct ustar_header {
	char name[USTAR_NAME_MAX + 1];
	char type; /* '0': a regular file */
	uint64_t sz;
};

/* 0, or -EBADMSG when the block is not an intact ustar header. */
int ustar_header_get(struct ustar_header *h, const uint8_t block[USTAR_BLOCK]);

void ustar_header_put(const struct ustar_header *h, uint8_t block[USTAR_BLOCK]);

bool ustar_is_zero(const uint8_t *block);

static inline uint64_t ustar_padded(uint64_t sz)
{
	return (sz + USTAR_BLOCK - 1) / USTAR_BLOCK * USTAR_BLOCK;
}

/* Parses a member name. Sets stream (at least 24 bytes) and seq for chunks. False: not a valid
 * name. */
bool member_name_get(const char *name, enum obz_member_type *type, char *stream, uint64_t *seq);

#endif
