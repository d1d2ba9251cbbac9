/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/ustar.h"

#include <errno.h>
#include <string.h>

#include "format/record.h"

enum { OFF_SIZE = 124, OFF_CHECKSUM = 148, OFF_TYPE = 156, OFF_MAGIC = 257, OFF_PREFIX = 345 };

/* Octal digits, then NUL or space; base-256 sizes of other tars are none of ours. */
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

	/* the checksum's own two last bytes are under no checksum: everyone writes NUL and space */
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

/* .build-id/ab/cdef....debug.zst, .build-id/sha1/40 digits.debug.zst */
static bool debug_name(const char *name)
{
	const char *p = name + 10;
	size_t len;

	if (strncmp(name, ".build-id/", 10))
		return false;
	if (!strncmp(p, "sha1/", 5))
		return is_hex(p + 5, 40) && !strcmp(p + 45, ".debug.zst");
	if (!is_hex(p, 2) || p[2] != '/')
		return false;
	len = strspn(p + 3, "0123456789abcdef");
	return len && !strcmp(p + 3 + len, ".debug.zst");
}

/* Members of later versions: relative, no empty, "." or ".." parts, harmless characters only. */
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
