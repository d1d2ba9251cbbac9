/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "analyze/l7/proto/unpack.h"

enum { WINDOW_LOG_MAX = 23 }; /* 8 MiB: enough for the usual levels of zstd; limits memory */

/* ---- snappy (github.com/google/snappy format_description.txt): literals and copies ---- */

struct out {
	uint8_t *p;
	size_t len, cap;
};

/* False: the output is full, or the copy refers to missing data. */
static bool copy(struct out *o, uint64_t back, size_t n)
{
	if (!back || back > o->len)
		return false;
	for (; n && o->len < o->cap; n--, o->len++)
		o->p[o->len] = o->p[o->len - back];
	return !n;
}

static bool literal(struct out *o, struct l7_cursor *c, uint64_t n)
{
	uint64_t left = l7_left(c), room = o->cap - o->len, take = n < left ? n : left;

	if (take > room)
		take = room;
	memcpy(o->p + o->len, c->p, take);
	o->len += take;
	c->p += take;
	return take == n;
}

static bool element(struct out *o, struct l7_cursor *c)
{
	unsigned tag = l7_be(c, 1), n = (tag >> 2) + 1;
	uint64_t back, more;

	switch (tag & 3) {
	case 0:
		more = n > 60 ? l7_le(c, n - 60) + 1 : n;
		return !c->cut && literal(o, c, more);
	case 1:
		back = (tag >> 5) << 8 | l7_be(c, 1);
		return !c->cut && copy(o, back, 4 + (tag >> 2 & 7));
	default:
		back = l7_le(c, (tag & 3) == 2 ? 2 : 4);
		return !c->cut && copy(o, back, n);
	}
}

static size_t snappy(struct l7_cursor c, uint8_t *dst, size_t dst_sz)
{
	struct out o = {dst, 0, dst_sz};
	uint64_t size; /* total */

	l7_varint(&c, 5, &size);
	while (!c.cut && c.p < c.end && o.len < o.cap && element(&o, &c))
		;
	return o.len;
}

/* ---- zlib, zstd ---- */

static size_t zlib(struct span src, uint8_t *dst, size_t dst_sz)
{
	z_stream z = {.next_in = (Bytef *)src.p,
		      .avail_in = src.len,
		      .next_out = dst,
		      .avail_out = dst_sz};
	size_t n;

	if (inflateInit(&z) != Z_OK)
		return 0;
	inflate(&z, Z_SYNC_FLUSH);
	n = dst_sz - z.avail_out;
	inflateEnd(&z);
	return n;
}

static size_t zstd(struct span src, uint8_t *dst, size_t dst_sz)
{
	ZSTD_inBuffer in = {src.p, src.len, 0};
	ZSTD_outBuffer out = {dst, dst_sz, 0};
	ZSTD_DCtx *d = ZSTD_createDCtx();
	size_t left = 1;

	if (!d)
		return 0;
	ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	while (left && out.pos < out.size && in.pos < in.size) {
		left = ZSTD_decompressStream(d, &out, &in);
		if (ZSTD_isError(left))
			break;
	}
	ZSTD_freeDCtx(d);
	return out.pos;
}

size_t unpack(enum unpack how, struct span src, uint8_t *dst, size_t dst_sz)
{
	struct l7_cursor c = l7_cursor_in(src);

	switch (how) {
	case UNPACK_SNAPPY:
		return snappy(c, dst, dst_sz);
	case UNPACK_ZLIB:
		return src.len > UINT32_MAX ? 0 : zlib(src, dst, dst_sz);
	case UNPACK_ZSTD:
		return zstd(src, dst, dst_sz);
	}
	return 0;
}
