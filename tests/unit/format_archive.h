/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates a small archive in memory, with known rows of every kind; and reads an archive, counting
 * its intact parts. */
#ifndef TESTS_FORMAT_ARCHIVE_H
#define TESTS_FORMAT_ARCHIVE_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/archive.h"
#include "check.h"
#include "format_random.h"

#define HEADER_JSON                                                                                \
	"{\"version\":\"test\",\"host\":\"box\",\"kernel\":\"6.1\",\"arch\":\"x86_64\",\"cpus\":"  \
	"2,\"started_at_ns\":1700000000000000000,"                                                 \
	"\"clock\":{\"monotonic_ns\":1000,\"realtime_ns\":1700000000000000000,\"boottime_ns\":"    \
	"1000},"                                                                                   \
	"\"argv\":[\"obrec\",\"-d\",\"1s\"],\"probes\":[\"cpu\"],\"options\":{\"freq\":99},"       \
	"\"labels\":{\"env\":\"prod\"}}"
#define END_JSON                                                                                   \
	"{\"stop_reason\":\"duration\",\"duration_ns\":1000000000,\"losses\":[{\"source\":"        \
	"\"ring\",\"cause\":\"full\",\"count\":3}],"                                               \
	"\"stacks\":{\"cpu\":{\"total\":10,\"complete\":9,\"stack memory not readable\":1}},"      \
	"\"programs\":[{\"name\":\"cpu\",\"runs\":5,\"run_ns\":5000}]}"

static const char *const debug_names[] = {
	".build-id/ab/cdef0123456789.debug.zst",
	".build-id/sha1/0123456789abcdef0123456789abcdef01234567.debug.zst"};

/* Writes `rows` of each kind to each of `flushes` chunks of each stream, and a debug member after
 * the first one. */
static inline int archive_write(int fd, uint64_t seed, size_t flushes, size_t rows,
				const char *end_json)
{
	struct obz_writer_opts opts = {.header_json = HEADER_JSON};
	struct obz_writer *w;
	int err = obz_writer__new(&w, fd, &opts);

	random_seed(seed);
	for (size_t n = 0; !err && n < flushes; n++) {
		for (unsigned k = 0; k < rec_info_cnt && !err; k++)
			for (size_t i = 0; i < rows && !err; i++) {
				uint64_t row[32];

				random_row(&rec_infos[k], row, i);
				err = obz_writer__put(w, rec_infos[k].number, row);
			}
		if (!err)
			err = obz_writer__flush(w);
		if (!err && n < 2) {
			int data = memfd_create("data", 0);

			if (write(data, random_text, 1000 + n * 500) < 0)
				err = -errno;
			else
				err = obz_writer__add(w, debug_names[n], data, 1000 + n * 500);
			close(data);
		}
	}
	if (err)
		return err;
	return obz_writer__close(w, end_json);
}

/* The archive's bytes, malloc'ed. */
static inline uint8_t *archive_make(uint64_t seed, size_t flushes, size_t rows, size_t *len)
{
	int fd = memfd_create("archive", 0), copy = dup(fd);
	int err = archive_write(fd, seed, flushes, rows, END_JSON);
	uint8_t *p;

	CHECK(!err, "%d", err);
	*len = lseek(copy, 0, SEEK_END);
	p = malloc(*len);
	CHECK(pread(copy, p, *len, 0) == (ssize_t)*len);
	close(copy);
	return p;
}

/* Result of reading an archive. */
struct reading {
	int err; /* of open */
	bool header, end;
	size_t members, chunks, good_chunks, good_others;
	uint64_t rows, samples, hash; /* hash: of all fields of all rows */
	struct obz_damage damage;
	char error[128];
};

static uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
	for (const unsigned char *b = p; n--; b++)
		h = (h ^ *b) * 0x100000001b3ULL;
	return h;
}

static int count_rows(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	const struct rec_info *info = rec_info(kind);
	struct reading *got = arg;

	got->rows += cnt;
	got->samples += kind == REC_sample ? cnt : 0;
	for (size_t i = 0; i < cnt; i++)
		for (unsigned f = 0; f < info->field_cnt; f++) {
			const char *p = (const char *)rows + i * info->sz + info->fields[f].offset;
			const struct span *s = (const struct span *)p;
			const struct u64_span *l = (const struct u64_span *)p;

			if (info->fields[f].type == REC_T_str)
				got->hash = hash_bytes(got->hash, s->p, s->len);
			else if (info->fields[f].type == REC_T_list)
				got->hash = hash_bytes(got->hash, l->v, l->len * 8);
			else
				got->hash = hash_bytes(got->hash, p,
						       info->fields[f].type == REC_T_u32 ? 4 : 8);
		}
	return 0;
}

static inline struct reading archive_read(int fd)
{
	struct reading got = {0};
	const struct obz_member *m;
	struct obz_reader *r;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	got.err = obz_reader__open(&r, path);
	snprintf(got.error, sizeof(got.error), "%s", obz_reader__error(r));
	if (!got.err) {
		m = obz_reader__members(r, &got.members);
		for (size_t i = 0; i < got.members; i++) {
			got.chunks += m[i].type == OBZ_CHUNK;
			if (m[i].type == OBZ_CHUNK)
				got.good_chunks += !obz_reader__decode(r, &m[i], count_rows, &got);
			else
				got.good_others += !obz_reader__check(r, &m[i]);
		}
		got.header = obz_reader__header(r);
		got.end = obz_reader__end(r);
		got.damage = obz_reader__damage(r);
	}
	obz_reader__close(r);
	return got;
}

/* Reads len bytes as an archive. fd: memfd for temporary use. */
static inline struct reading archive_read_bytes(int fd, const uint8_t *p, size_t len)
{
	if (ftruncate(fd, 0) || pwrite(fd, p, len, 0) != (ssize_t)len)
		CHECK(false, "scratch file");
	return archive_read(fd);
}

#endif
