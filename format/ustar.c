/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/ustar.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/record.h"

enum { OFF_SIZE = 124, OFF_CHECKSUM = 148, OFF_TYPE = 156, OFF_MAGIC = 257, OFF_PREFIX = 345 };

/* Parses octal digits followed by NUL or space. Base-256 sizes, as of other tar writers, are not
 * used here. */
static bool octal_get(const uint8_t *p, unsigned digits, uint64_t *v)
{
	*v = 0;
	for (unsigned i = 0; i < digits; i++) {
		if (p[i] < '0' || p[i] > '7')
			return false;
		*v = *v << 3 | (p[i] - '0');
	}
	return p[digits] == 0 || p[digits] == ' ';
}

static inline uint64_t checksum(const uint8_t *block)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < USTAR_BLOCK; i++)
		sum += i >= OFF_CHECKSUM && i < OFF_TYPE ? ' ' : block[i];
	return sum;
}

int ustar_header_get(struct ustar_header *h, const uint8_t block[USTAR_BLOCK])
{
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	uint64_t sum;

	/* the last two bytes of the checksum field are not checked; every writer has NUL and space
	 * there */
	if (!octal_get(block + OFF_CHECKSUM, 6, &sum) ||
	    memcmp(block + OFF_CHECKSUM + 6, "\0 ", 2) || sum != checksum(block))
		return -EBADMSG;
#endif
	if (memcmp(block + OFF_MAGIC,
		   "ustar\0"
		   "00",
		   8))
		return -EBADMSG;
	if (!octal_get(block + OFF_SIZE, 11, &h->sz) || block[OFF_PREFIX])
		return -EBADMSG;
	memcpy(h->name, block, USTAR_NAME_MAX);
	h->name[USTAR_NAME_MAX] = 0;
	h->type = block[OFF_TYPE];
	return 0;
}

void ustar_header_put(const struct ustar_header *h, uint8_t block[USTAR_BLOCK])
{
	memset(block, 0, USTAR_BLOCK);
	memcpy(block, h->name, strnlen(h->name, USTAR_NAME_MAX));
	memcpy(block + 100, "0000600", 8);
	memcpy(block + 108, "0000000", 8);
	memcpy(block + 116, "0000000", 8);
	snprintf((char *)block + OFF_SIZE, 12, "%011llo", (unsigned long long)h->sz);
	memcpy(block + 136, "00000000000", 12);
	block[OFF_TYPE] = h->type;
	memcpy(block + OFF_MAGIC, "ustar\00000", 8);
	snprintf((char *)block + OFF_CHECKSUM, 8, "%06llo", (unsigned long long)checksum(block));
	block[OFF_CHECKSUM + 7] = ' ';
}

bool ustar_is_zero(const uint8_t *block)
{
	return !block[0] && !memcmp(block, block + 1, USTAR_BLOCK - 1);
}

/* ---- names ---- */

static bool is_hex(const char *s, size_t len)
{
	return strspn(s, "0123456789abcdef") >= len;
}

/* ev/STREAM/SEQ.zst */
static bool chunk_name(const char *name, char *stream, uint64_t *seq)
{
	const char *p = name + 3;
	size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (strncmp(name, "ev/", 3) || !len || len > REC_STREAM_NAME_MAX || p[len] != '/')
		return false;
	memcpy(stream, p, len);
	stream[len] = 0;
	p += len + 1;
	len = strspn(p, "0123456789");
	if (len < 6 || len > 18 || (len > 6 && *p == '0') || strcmp(p + len, ".zst"))
		return false;
	for (*seq = 0; *p != '.'; p++)
		*seq = *seq * 10 + (*p - '0');
	return true;
}

/* ".debug.zst", or ".N.debug.zst" for a later member with the same id. */
static bool debug_suffix(const char *p)
{
	size_t len;

	if (*p == '.' && p[1] >= '1' && p[1] <= '9') {
		len = strspn(p + 1, "0123456789");
		if (len > 6)
			return false;
		p += 1 + len;
	}
	return !strcmp(p, ".debug.zst");
}

/* .build-id/ab/cdef....debug.zst, .build-id/sha1/40 digits.debug.zst */
static bool debug_name(const char *name)
{
	const char *p = name + 10;
	size_t len;

	if (strncmp(name, ".build-id/", 10))
		return false;
	if (!strncmp(p, "sha1/", 5))
		return is_hex(p + 5, 40) && debug_suffix(p + 45);
	if (!is_hex(p, 2) || p[2] != '/')
		return false;
	len = strspn(p + 3, "0123456789abcdef");
	return len && debug_suffix(p + 3 + len);
}

/* Names allowed for members of later versions: relative; no empty, "." or ".." components; only
 * harmless characters. */
static bool harmless(const char *name)
{
	for (const char *p = name; *p; p++) {
		bool part = p == name || p[-1] == '/';

		if (part && (*p == '/' || !strcmp(p, ".") || !strcmp(p, "..") ||
			     !strncmp(p, "./", 2) || !strncmp(p, "../", 3)))
			return false;
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/",
			    *p))
			return false;
	}
	return *name && name[strlen(name) - 1] != '/';
}

bool member_name_get(const char *name, enum obz_member_type *type, char *stream, uint64_t *seq)
{
	if (!strcmp(name, "obz.json") || !strcmp(name, "schema.json") ||
	    !strcmp(name, "obz.end.json"))
		*type = OBZ_META;
	else if (!strncmp(name, "ev/", 3)) {
		*type = OBZ_CHUNK;
		return chunk_name(name, stream, seq);
	} else if (!strncmp(name, ".build-id/", 10)) {
		*type = OBZ_DEBUG;
		return debug_name(name);
	} else {
		*type = OBZ_UNKNOWN;
		return harmless(name);
	}
	return true;
}
