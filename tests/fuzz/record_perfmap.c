/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 2000 */
/*
 * A perf-map of a hostile process, read while it is written: appended to, truncated, rewritten,
 * with holes up to a terabyte, of a different type or owner, in a /proc created for it. Whatever it
 * contains, a reported symbol must contain a stored address, be within limits and be reported once;
 * its name must be part of the written text; and the amount read must be bounded.
 *
 * Input: steps of a control byte and its arguments.
 *   0  append: length byte, bytes        3  hole: the file grows by 2^byte without data
 *   1  rewrite: length byte, bytes       4  hit: an address (as in row_bytes.h)
 *   2  truncate to byte/256 of its size  5  lines: count and first number, appended
 *   6  resolve                           7  the file becomes: missing, FIFO, link, directory,
 *                                           another user's
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "record/binary/perfmap.h"
#include "record/host/procfs.h"
#include "../unit/row_bytes.h"

/* Limits of the file's size and of the work. */
enum { HOLE_BITS = 40, LINES_MAX = 256, HITS_MAX = 256, REPORTED_MAX = 4096, RESOLVES_MAX = 16 };

static char root[64], file[96];
static int proc = -1;

struct state {
	struct perfmap *map;
	uint64_t hits[HITS_MAX], reported[REPORTED_MAX];
	size_t hit_cnt, reported_cnt, resolve_cnt;
};

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void on_exit_remove(void)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	require(!system(cmd));
}

static void make_tree(void)
{
	static const char *const dirs[] = {"/7", "/7/root", "/7/root/tmp"};
	struct statfs fs;
	char path[128];
	FILE *f;

	/* in memory when possible */
	snprintf(root, sizeof(root), "%s/fuzz-perfmap.XXXXXX",
		 statfs("/dev/shm", &fs) ? "/tmp" : "/dev/shm");
	require(mkdtemp(root));
	atexit(on_exit_remove);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		require(!mkdir(path, 0755));
	}
	snprintf(path, sizeof(path), "%s/7/status", root);
	f = fopen(path, "w");
	require(f);
	fprintf(f, "Name:\tx\nTgid:\t7\nPid:\t7\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t7\t3\n", getuid(),
		geteuid(), getuid(), getuid());
	fclose(f);
	snprintf(file, sizeof(file), "%s/7/root/tmp/perf-3.map", root);
	proc = procfs_open(root);
	require(proc >= 0);
}

/* ---- steps ---- */

static void write_at_end(struct span s, int flags)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW | flags, 0644);

	if (fd < 0)
		return;
	if (write(fd, s.p, s.len) < 0) { /* limited by the file system's maximum file size */
	}
	close(fd);
}

static void grow(unsigned bits)
{
	struct stat st;

	if (!lstat(file, &st) && S_ISREG(st.st_mode) && st.st_size < 1LL << HOLE_BITS &&
	    truncate(file, st.st_size + (1LL << bits % (HOLE_BITS + 1)))) {
	}
}

static void cut(unsigned share)
{
	struct stat st;

	if (!lstat(file, &st) && S_ISREG(st.st_mode) && truncate(file, st.st_size / 256 * share)) {
	}
}

/* Appends adjacent functions, some of which overlap. */
static void append_lines(unsigned cnt, uint64_t first)
{
	static char text[LINES_MAX * 64];
	size_t len = 0;

	for (unsigned i = 0; i < cnt; i++)
		len += sprintf(text + len, "%llx %x function %u\n",
			       (unsigned long long)first + i % 200 * 16ULL, i % 7 ? 16 : 64, i);
	write_at_end((struct span){text, len}, 0);
}

static void become(unsigned what)
{
	if (unlink(file))
		rmdir(file);
	switch (what % 5) {
	case 1:
		require(!mkfifo(file, 0600));
		break;
	case 2:
		require(!symlink("/proc/self/maps", file));
		break;
	case 3:
		require(!mkdir(file, 0700));
		break;
	case 4:
		append_lines(3, 16);
		if (!geteuid())
			require(!chown(file, 12345, 12345));
		break;
	}
}

static void on_symbol(void *ctx, const struct perfmap_line *l)
{
	struct state *s = ctx;
	bool hit = false;

	require(l->size && l->start + l->size > l->start && l->name.len && l->name.len <= 4096);
	require(!memchr(l->name.p, '\n', l->name.len));
	for (size_t i = 0; i < s->hit_cnt; i++)
		hit |= s->hits[i] - l->start < l->size;
	require(hit);
	for (size_t i = 0; i < s->reported_cnt; i++)
		require(s->reported[i] != l->start);
	if (s->reported_cnt < REPORTED_MAX)
		s->reported[s->reported_cnt++] = l->start;
}

static void hit(struct state *s, uint64_t address)
{
	bool known = false;

	for (size_t i = 0; i < s->hit_cnt; i++)
		known |= s->hits[i] == address;
	if (s->hit_cnt == HITS_MAX)
		return;
	require(perfmap__hit(s->map, address) == !known);
	s->hits[s->hit_cnt++] = address;
}

static void step(struct state *s, struct bytes *b)
{
	unsigned control = take(b, 1) % 8;
	uint64_t refused, first;

	switch (control) {
	case 0:
	case 1:
		write_at_end(take_bytes(b, take(b, 1)), control ? O_TRUNC : 0);
		break;
	case 2:
		cut(take(b, 1));
		break;
	case 3:
		grow(take(b, 1));
		break;
	case 4:
		hit(s, take_number(b, 56) * 16);
		break;
	case 5:
		first = take_number(b, 50) * 16;
		append_lines(take(b, 1), first);
		break;
	case 6:
		if (s->resolve_cnt++ < RESOLVES_MAX)
			perfmap__resolve(s->map, on_symbol, s, &refused);
		break;
	case 7:
		become(take(b, 1));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data, size};
	struct state s = {0};
	uint64_t refused;

	if (proc < 0)
		make_tree();
	become(0);
	require(!perfmap__new(&s.map, proc, 7));
	while (b.left)
		step(&s, &b);
	perfmap__resolve(s.map, on_symbol, &s, &refused);
	perfmap__free(s.map);
	return 0;
}
