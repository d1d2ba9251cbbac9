/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of --debuginfo-cache: get() must return what was put. Then bytes are changed anywhere and
 * the trailer's checksum is corrected; the result of get() must still be within the file, with
 * terminated strings. Names of ids must not leave the directory.
 *
 * Input: mode of put, mode of get, kind of symbols, reason, alternate id, an id (each up to a
 * zero); then changes: flags, position from the end (two bytes), length byte, bytes.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "format/temp_file.h"
#include "record/symbols/debuginfo_cache.h"
#include "../unit/row_bytes.h"

enum { FIX_CRC = 1, CUT = 2, APPEND = 4, CHANGES_MAX = 16, TAG = 77 };

static const char id[] = "abcdef0123456789";
static const char *const kinds[] = {"dwarf", "symtab", "dynsym", "none"};
static char dir[64];
static struct debuginfo_cache cache;

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void on_exit_remove(void)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	require(!system(cmd));
}

static void make_cache(void)
{
	struct statfs fs;
	const char *why;

	snprintf(dir, sizeof(dir), "%s/fuzz-cache.XXXXXX",
		 statfs("/dev/shm", &fs) ? "/tmp" : "/dev/shm");
	require(mkdtemp(dir));
	atexit(on_exit_remove);
	require(!debuginfo_cache_open(&cache, dir, &why));
}

static char *take_string(struct bytes *b)
{
	const uint8_t *end = b->left ? memchr(b->p, 0, b->left) : NULL;
	struct span s = take_bytes(b, end ? end - b->p : b->left);

	take(b, 1);
	return strndup(s.p ? s.p : "", s.len);
}

static void check_name(const char *text)
{
	char name[128];

	if (!debuginfo_member_name(name, sizeof(name), text))
		return;
	require(strlen(name) < 100 && name[0] != '/' && name[0] != '.' && !strstr(name, ".."));
	require(strchr(name, '/') == strrchr(name, '/'));
}

/* Opens the only entry for changes. */
static int open_entry(void)
{
	int sub = openat(cache.fd, "ab", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	DIR *d = sub < 0 ? NULL : fdopendir(sub);
	struct dirent *e;

	require(d);
	while (fd < 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			fd = openat(dirfd(d), e->d_name, O_RDWR | O_CLOEXEC);
	closedir(d);
	require(fd >= 0);
	return fd;
}

static void check_member(const struct slim_member *m)
{
	unsigned char head[18];
	struct stat st;
	bool known = false;

	require(!fstat(m->fd, &st) && m->sz < (uint64_t)st.st_size);
	require(memchr(m->why, 0, sizeof(m->why)) && memchr(m->alt_id, 0, sizeof(m->alt_id)));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		known |= !strcmp(m->symbols, kinds[i]);
	require(known && pread(m->fd, head, sizeof(head), 0) == sizeof(head));
	require(ZSTD_getFrameContentSize(head, sizeof(head)) == m->raw_sz);
}

static bool get(enum debuginfo_mode mode, struct slim_member *m)
{
	if (debuginfo_cache_get(&cache, id, TAG, mode, m))
		return false;
	check_member(m);
	close(m->fd);
	return true;
}

/* Puts one frame of a few bytes with its size; returns the trailer's size. */
static uint64_t put(enum debuginfo_mode mode, struct slim_member *m)
{
	static const char raw[64] = "an ELF file";
	char frame[128];
	struct slim_member again;
	struct stat st;
	int fd;

	m->raw_sz = sizeof(raw);
	m->sz = ZSTD_compress(frame, sizeof(frame), raw, sizeof(raw), 1);
	m->fd = temp_file_in(cache.fd);
	require(!ZSTD_isError(m->sz) && m->fd >= 0);
	require(pwrite(m->fd, frame, m->sz, 0) == (ssize_t)m->sz);
	require(!debuginfo_cache_put(&cache, id, TAG, mode, m));
	close(m->fd);
	require(get(mode, &again) && again.sz == m->sz && again.raw_sz == m->raw_sz &&
		!strcmp(again.symbols, m->symbols) && !strcmp(again.why, m->why) &&
		!strcmp(again.alt_id, m->alt_id));
	fd = open_entry();
	require(!fstat(fd, &st));
	close(fd);
	return st.st_size - m->sz;
}

/* Corrects the checksum, the second to last word of the trailer. */
static void fix_crc(int fd, uint64_t trailer_sz)
{
	uint8_t trailer[1024];
	struct stat st;
	uint32_t crc;

	require(!fstat(fd, &st) && trailer_sz <= sizeof(trailer));
	if ((uint64_t)st.st_size < trailer_sz)
		return;
	require(pread(fd, trailer, trailer_sz, st.st_size - trailer_sz) == (ssize_t)trailer_sz);
	crc = crc32(0, trailer, trailer_sz - 8);
	require(pwrite(fd, &crc, sizeof(crc), st.st_size - 8) == sizeof(crc));
}

static void change(struct bytes *b, uint64_t trailer_sz)
{
	unsigned flags = take(b, 1);
	off_t back = take(b, 2), size;
	struct span s = take_bytes(b, take(b, 1));
	int fd = open_entry();

	size = lseek(fd, 0, SEEK_END);
	if (back > size)
		back = size;
	if (flags & APPEND)
		back = 0;
	require(pwrite(fd, s.p, s.len, size - back) == (ssize_t)s.len);
	if (flags & CUT)
		require(!ftruncate(fd, size - back));
	if (flags & FIX_CRC)
		fix_crc(fd, trailer_sz);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data, size};
	struct slim_member m = {0};
	enum debuginfo_mode modes[2];
	uint64_t trailer_sz;
	char *text[3];

	if (!*dir)
		make_cache();
	modes[0] = take(&b, 1) % 4;
	modes[1] = take(&b, 1) % 4;
	m.symbols = kinds[take(&b, 1) % 4];
	for (int i = 0; i < 3; i++)
		text[i] = take_string(&b);
	snprintf(m.why, sizeof(m.why), "%s", text[0]);
	snprintf(m.alt_id, sizeof(m.alt_id), "%s", text[1]);
	check_name(text[2]);
	trailer_sz = put(modes[0], &m);
	get(modes[1], &m);
	for (int i = 0; i < CHANGES_MAX && b.left; i++) {
		change(&b, trailer_sz);
		get(modes[1], &m);
	}
	for (int i = 0; i < 3; i++)
		free(text[i]);
	return 0;
}
