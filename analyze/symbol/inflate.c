/* SPDX-License-Identifier: BSD-2-Clause */
#include "inflate.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Debug sections shrink to a third or a fifth; a far larger claim is an attack on memory. */
static bool believable(uint64_t raw_sz, uint64_t sz)
{
	return sz && sz <= raw_sz * 256 + (1 << 16) && sz <= UINT64_C(16) << 30;
}

static bool inflate_zlib(struct bytes raw, uint8_t *out, uint64_t sz)
{
	z_stream z = {.next_in = (Bytef *)raw.p, .next_out = out};
	uint64_t in_left = raw.len, out_left = sz;
	int rc = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return false;
	while (rc == Z_OK) { /* zlib counts in 32 bits */
		z.avail_in = in_left > (1u << 30) ? 1u << 30 : (uInt)in_left;
		z.avail_out = out_left > (1u << 30) ? 1u << 30 : (uInt)out_left;
		in_left -= z.avail_in;
		out_left -= z.avail_out;
		rc = inflate(&z, Z_NO_FLUSH);
		in_left += z.avail_in;
		out_left += z.avail_out;
	}
	inflateEnd(&z);
	return rc == Z_STREAM_END && !out_left;
}

static int unlinked_file(void)
{
	const char *dirs[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	int fd = -1;

	for (unsigned i = 0; i < 3 && fd < 0; i++)
		if (dirs[i] && *dirs[i])
			fd = open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : memfd_create("obana-debug", MFD_CLOEXEC);
}

/* Room in a file is reserved first: a full disk then is an error here, not a fault at some later
 * store. */
static uint8_t *map_room(uint64_t sz)
{
	int fd = unlinked_file();
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
		ok = ZSTD_decompress(out, sz, raw.p, raw.len) == sz;
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
