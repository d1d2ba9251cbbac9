/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/slim_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define BLOCK_SZ (SLIM_PART_BLOCKS / 2)
#define INFLATE_MEMORY (64u << 10) /* zconf.h: 32 KiB and 7 KiB */
#define ZLIB_MAX_RATIO 1040	   /* deflate compresses at most 1032:1 */
#define ZSTD_WINDOW_LOG_MAX                                                                        \
	24 /* log2 of the largest window: 16 MiB; compilers and linkers use 8 MiB */

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static bool from_chdr(struct slim_part *part, const struct slim_elf *e)
{
	uint64_t type, size, hdr_sz;

	if (e->is32) {
		Elf32_Chdr c;

		hdr_sz = sizeof(c);
		if (part->in_sz < hdr_sz || slim_elf_read(e, part->in_off, &c, hdr_sz))
			return false;
		type = c.ch_type, size = c.ch_size;
	} else {
		Elf64_Chdr c;

		hdr_sz = sizeof(c);
		if (part->in_sz < hdr_sz || slim_elf_read(e, part->in_off, &c, hdr_sz))
			return false;
		type = c.ch_type, size = c.ch_size;
	}
	if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
		return false;
	part->coding = type == ELFCOMPRESS_ZLIB ? SLIM_ZLIB : SLIM_ZSTD;
	part->in_off += hdr_sz, part->in_sz -= hdr_sz;
	part->out_sz = size;
	return true;
}

/* The older GNU format: "ZLIB", 8-byte big-endian size, zlib stream (binutils,
 * --compress-debug-sections=zlib-gnu). */
static bool from_zdebug(struct slim_part *part, const struct slim_elf *e)
{
	unsigned char h[12];
	uint64_t size = 0;

	if (part->in_sz < sizeof(h) || slim_elf_read(e, part->in_off, h, sizeof(h)) ||
	    memcmp(h, "ZLIB", 4))
		return false;
	for (int i = 4; i < 12; i++)
		size = size << 8 | h[i];
	part->coding = SLIM_ZLIB;
	part->in_off += sizeof(h), part->in_sz -= sizeof(h);
	part->out_sz = size;
	return true;
}

bool slim_part_of(struct slim_part *part, const struct slim_elf *e, size_t section)
{
	const Elf64_Shdr *h;

	if (!slim_elf_has_bytes(e, section))
		return false;
	h = &e->shdrs[section];
	*part = (struct slim_part){.coding = SLIM_PLAIN,
				   .file = e,
				   .in_off = h->sh_offset,
				   .in_sz = h->sh_size,
				   .out_sz = h->sh_size};
	if (h->sh_flags & SHF_COMPRESSED) {
		if (!from_chdr(part, e))
			return false;
	} else if (!strncmp(slim_elf_name(e, section), ".zdebug_", 8)) {
		if (!from_zdebug(part, e))
			return false;
	}
	if (part->coding == SLIM_ZLIB && part->out_sz / ZLIB_MAX_RATIO > part->in_sz + 64)
		return false;
	return part->out_sz <= SLIM_MAX_SZ;
}

/* RFC 8878, 3.1.1.1: magic number, descriptor, then the window's exponent and mantissa; without
 * these the window is the content size. */
static uint64_t zstd_window(const struct slim_part *part)
{
	unsigned char h[6];
	uint64_t window;

	if (part->in_sz < sizeof(h) || slim_elf_read(part->file, part->in_off, h, sizeof(h)))
		return 0;
	window = h[4] & 0x20 ? part->out_sz : (1ULL << (10 + (h[5] >> 3))) / 8 * (8 + (h[5] & 7));
	return window < 1ULL << ZSTD_WINDOW_LOG_MAX ? window : 1ULL << ZSTD_WINDOW_LOG_MAX;
}

uint64_t slim_part_memory(const struct slim_part *part)
{
	switch (part->coding) {
	case SLIM_ZLIB:
		return INFLATE_MEMORY;
	case SLIM_ZSTD: /* window, two blocks, context */
		return zstd_window(part) + (512u << 10);
	default:
		return 0;
	}
}

/* ---- writing */

/* A bounded buffer over the source, refilled as it is consumed. */
struct input {
	const struct slim_elf *file;
	uint64_t off, left;
	unsigned char *block;
};

static int refill(struct input *in, size_t *len)
{
	int err;

	*len = in->left < BLOCK_SZ ? in->left : BLOCK_SZ;
	err = slim_elf_read(in->file, in->off, in->block, *len);
	in->off += *len, in->left -= *len;
	return err;
}

static int write_plain(struct input *in, slim_sink sink, void *ctx)
{
	size_t len;
	int err = 0;

	while (!err && in->left) {
		err = refill(in, &len);
		err = err ? err : sink(ctx, in->block, len);
	}
	return err;
}

/* One step; out_sz: bytes still expected. Returns 1 at the end of the last stream. */
static int inflate_block(z_stream *z, struct input *in, uint64_t *out_sz, unsigned char *out,
			 slim_sink sink, void *ctx)
{
	size_t len = 0;
	int err, rc;

	if (!z->avail_in && in->left) {
		err = refill(in, &len);
		if (err)
			return err;
		z->next_in = in->block, z->avail_in = len;
	}
	z->next_out = out, z->avail_out = BLOCK_SZ;
	rc = inflate(z, Z_NO_FLUSH);
	len = BLOCK_SZ - z->avail_out;
	/* Z_BUF_ERROR: no progress, the input ended early */
	if ((rc != Z_OK && rc != Z_STREAM_END) || len > *out_sz)
		return -EBADMSG;
	*out_sz -= len;
	err = len ? sink(ctx, out, len) : 0;
	if (err || rc == Z_OK)
		return err;
	/* `ld -r` concatenates the streams of .zdebug_ sections */
	return *out_sz && inflateReset(z) == Z_OK ? 0 : 1;
}

static int write_zlib(struct input *in, uint64_t out_sz, unsigned char *out, slim_sink sink,
		      void *ctx)
{
	z_stream z = {0};
	int err;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	do
		err = inflate_block(&z, in, &out_sz, out, sink, ctx);
	while (!err);
	inflateEnd(&z);
	return err < 0 ? err : out_sz ? -EBADMSG : 0;
}

static int write_zstd(struct input *in, uint64_t out_sz, unsigned char *out, slim_sink sink,
		      void *ctx)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	size_t rc = 1, len;
	int err = 0;

	if (!z)
		return -ENOMEM;
	ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	while (!err && in->left) {
		ZSTD_inBuffer ib = {in->block, 0, 0};

		err = refill(in, &len);
		ib.size = len;
		while (!err && ib.pos < ib.size) {
			ZSTD_outBuffer ob = {out, BLOCK_SZ, 0};

			do { /* a full output buffer may leave more data */
				ob.pos = 0;
				rc = ZSTD_decompressStream(z, &ob, &ib);
				if (ZSTD_isError(rc) || ob.pos > out_sz) {
					err = -EBADMSG;
					break;
				}
				out_sz -= ob.pos;
				if (ob.pos)
					err = sink(ctx, out, ob.pos);
			} while (!err && rc && ob.pos == ob.size);
		}
	}
	ZSTD_freeDCtx(z);
	return err ? err : out_sz || rc ? -EBADMSG : 0;
}

int slim_part_write(const struct slim_part *part, slim_sink sink, void *ctx)
{
	struct input in = {.file = part->file, .off = part->in_off, .left = part->in_sz};
	int err = -EINVAL;

	if (part->coding == SLIM_MEMORY)
		return sink(ctx, part->mem, part->out_sz);
	in.block = malloc(2 * BLOCK_SZ);
	if (!in.block)
		return -ENOMEM;
	if (part->coding == SLIM_PLAIN)
		err = write_plain(&in, sink, ctx);
	else if (part->coding == SLIM_ZLIB)
		err = write_zlib(&in, part->out_sz, in.block + BLOCK_SZ, sink, ctx);
	else if (part->coding == SLIM_ZSTD)
		err = write_zstd(&in, part->out_sz, in.block + BLOCK_SZ, sink, ctx);
	free(in.block);
	return err;
}
