/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/inflate.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "format/temp_file.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Whether the stated size is plausible: debug sections compress to a third or a fifth; a much
 * higher ratio is an attack on memory. */
static bool believable(uint64_t raw_sz, uint64_t sz)
{
	return sz && sz <= raw_sz * 256 + (1 << 16) && sz <= UINT64_C(16) << 30;
}

enum { STEP = 8 << 20 };

/* Releases complete pages already read or written; they need not stay resident because files back
 * them. */
static void release(const void *p, uint64_t len)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t lo = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t hi = ((uintptr_t)p + len) & ~(page - 1);

	if (lo < hi)
		madvise((void *)lo, hi - lo, MADV_DONTNEED);
}

static bool inflate_zlib(struct bytes raw, uint8_t *out, uint64_t sz)
{
	z_stream z = {.next_in = (Bytef *)raw.p, .next_out = out};
	int rc = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return false;
	while (rc == Z_OK) { /* zlib has its own window, so finished pages can be released */
		uint64_t in_left = raw.len - z.total_in, out_left = sz - z.total_out;
		const uint8_t *in = z.next_in;
		uint8_t *done = z.next_out;

		z.avail_in = in_left > STEP ? STEP : (uInt)in_left;
		z.avail_out = out_left > STEP ? STEP : (uInt)out_left;
		rc = inflate(&z, Z_NO_FLUSH);
		release(in, (uint64_t)(z.next_in - in));
		release(done, (uint64_t)(z.next_out - done));
	}
	inflateEnd(&z);
	return rc == Z_STREAM_END && z.total_out == sz;
}

static bool inflate_zstd(struct bytes raw, uint8_t *out, uint64_t sz)
{
	ZSTD_DStream *d = ZSTD_createDStream();
	ZSTD_inBuffer in = {raw.p, raw.len, 0};
	uint64_t done = 0;
	size_t rc = 1;

	while (d && rc && !ZSTD_isError(rc)) {
		ZSTD_outBuffer step = {out + done, sz - done > STEP ? STEP : sz - done, 0};
		size_t read = in.pos;

		rc = ZSTD_decompressStream(d, &step, &in);
		if (!ZSTD_isError(rc) && !step.pos && in.pos == read)
			break; /* truncated, or larger than stated */
		release(raw.p + read, in.pos - read);
		release(out + done, step.pos);
		done += step.pos;
	}
	ZSTD_freeDStream(d);
	return d && !rc && done == sz;
}

/* Maps a file of size sz. Its space is allocated first: a full disk then is an error here, not a
 * fault on a later write. */
static uint8_t *map_room(uint64_t sz)
{
	int fd = temp_file();
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!posix_fallocate(fd, 0, (off_t)sz))
		p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

void inflated_init(struct inflated *in, uint32_t type, struct bytes raw, uint64_t sz)
{
	uint8_t *out;
	bool ok = false;

	if (in->tried)
		return;
	in->tried = true;
	if (!believable(raw.len, sz))
		return;
	out = map_room(sz);
	if (!out)
		return;
	if (type == ELFCOMPRESS_ZLIB)
		ok = inflate_zlib(raw, out, sz);
	else if (type == ELFCOMPRESS_ZSTD)
		ok = inflate_zstd(raw, out, sz);
	if (ok)
		in->data = (struct bytes){out, sz};
	else
		munmap(out, sz);
}

void inflated_fini(struct inflated *in)
{
	if (in->data.p)
		munmap((void *)in->data.p, in->data.len);
	*in = (struct inflated){0};
}

void inflated_release_pages(struct inflated *in)
{
	if (in->data.p)
		madvise((void *)in->data.p, in->data.len, MADV_DONTNEED);
}
