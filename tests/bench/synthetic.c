/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * synthetic OUT.obz SAMPLES STACKS DEPTH BUILD-ID FILE < ADDRESSES
 *
 * Writes a capture of the program FILE, which is stored in the archive. Its stacks consist of
 * functions whose hexadecimal addresses are on stdin, and are shaped like those of real programs: a
 * common root, branches that fan out, distinct leaves. For benchmarks of obana.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/archive.h"
#include "format/option.h"
#include "format/text.h"

#define MAX_DEPTH 512
#define THREADS 8
#define STEP_NS 500000ull

static const char header[] =
	"{\"host\":\"synthetic\",\"kernel\":\"6.1\",\"arch\":\"x86_64\",\"cpus\":2,\"started_at_"
	"ns\":1700000000000000000,"
	"\"clock\":{\"monotonic_ns\":1000000000,\"realtime_ns\":1700000000000000000,\"boottime_"
	"ns\":1000000000},"
	"\"argv\":[\"synthetic\"],\"probes\":[\"cpu\"],\"options\":{\"freq\":999}}";

static uint64_t *read_addresses(size_t *cnt)
{
	uint64_t *v = NULL, a;
	size_t cap = 0;

	for (*cnt = 0; scanf("%lx%*[^\n]", &a) == 1; (*cnt)++) {
		if (*cnt == cap)
			v = realloc(v, (cap = cap ? cap * 2 : 1024) * sizeof(*v));
		v[*cnt] = a;
	}
	return v;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185ull;
	return x ^ x >> 27;
}

/* Level 0 is the root. The first third of the levels is one path; then the number of branches
 * grows. */
static void make_stack(uint64_t n, size_t depth, const uint64_t *addresses, size_t cnt,
		       uint64_t *frames)
{
	for (size_t level = 0; level < depth; level++) {
		size_t bits = level < depth / 3 ? 0 : (level - depth / 3) * 24 / depth + 1;
		uint64_t branch = level + 1 == depth ? n : n & ((1ull << bits) - 1);

		frames[depth - 1 - level] =
			frame_pack(1, addresses[mix(branch * 1000003 + level) % cnt] + 8);
	}
}

static int add_debug(struct obz_writer *w, const char *build_id, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	char name[128];
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -1;
	snprintf(name, sizeof(name), ".build-id/%.2s/%s.debug.zst", build_id, build_id + 2);
	err = obz_writer__add(w, name, fd, st.st_size);
	close(fd);
	return err;
}

static void put_identity(struct obz_writer *w, const char *build_id, const char *path)
{
	struct span none = {"", 0};
	struct rec_process p = {.id = 1,
				.pid = 100,
				.comm = span_of("program"),
				.exe = span_of(path),
				.cmdline = none,
				.cgroup = none,
				.container_id = none};
	struct rec_binary b = {.id = 1, .build_id = span_of(build_id), .path = span_of(path)};

	obz_writer__put(w, REC_process, &p);
	obz_writer__put(w, REC_binary, &b);
	for (uint32_t t = 1; t <= THREADS; t++) {
		struct rec_thread thread = {t, 1, 100 + t, span_of("worker")};

		obz_writer__put(w, REC_thread, &thread);
	}
}

int main(int argc, char **argv)
{
	struct obz_writer_opts opts = {.header_json = header};
	struct obz_writer *w;
	uint64_t samples, stacks, depth, seen = 0, frames[MAX_DEPTH], *addresses;
	size_t cnt;

	if (argc != 7 || parse_u64(argv[2], &samples) || parse_u64(argv[3], &stacks) ||
	    parse_u64(argv[4], &depth) || !depth || depth > MAX_DEPTH || !stacks)
		return 2;
	addresses = read_addresses(&cnt);
	if (!cnt ||
	    obz_writer__new(&w, open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), &opts))
		return 1;
	if (strlen(argv[5]) < 3 || add_debug(w, argv[5], argv[6]))
		return 1;
	put_identity(w, argv[5], argv[6]);
	for (uint64_t i = 0; i < samples; i++) {
		uint64_t n = i < stacks ? i : mix(i) % stacks;
		struct rec_stack stack = {.id = n + 1, .frames = {frames, depth}};
		struct rec_sample s = {.kind = SAMPLE_cpu,
				       .ts_ns = 1000000000 + i * STEP_NS,
				       .thread = 1 + mix(i) % THREADS,
				       .user_stack = n + 1,
				       .count = 1,
				       .value = 1001001};

		if (n == seen) {
			make_stack(n, depth, addresses, cnt, frames);
			obz_writer__put(w, REC_stack, &stack);
			seen++;
		}
		obz_writer__put(w, REC_sample, &s);
		if (i % 2000 == 1999)
			obz_writer__flush(w);
	}
	free(addresses);
	return obz_writer__close(w, "{\"stop_reason\":\"duration\",\"losses\":[]}") ? 1 : 0;
}
