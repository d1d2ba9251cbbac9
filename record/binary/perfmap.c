/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/base/idmap.h"
#include "record/binary/perfmap.h"
#include "record/host/procfs.h"

#define ENTRIES_MAX (1u << 20) /* 24 MiB */
#define ADDRESSES_MAX (1u << 18)
#define NAME_MAX_SZ 1024
#define READ_SZ (256u << 10)
#define READ_MAX_SZ (64u << 20) /* per call; the rest follows at the next call */
#define OVERLAPS_MAX                                                                               \
	64 /* how many preceding entries are examined for one that contains an address */

struct entry {
	uint64_t start;
	uint64_t name_off; /* file offset */
	uint32_t size;
	uint32_t seq; /* increases with each line */
};

struct perfmap {
	int proc, fd;
	uint32_t pid;
	struct entry *entry; /* sorted by start; one per start address */
	size_t cnt, cap, sorted;
	uint64_t read_to; /* file offset after the last complete line */
	uint32_t seq;
	uint64_t refused;
	struct idmap seen;     /* addresses hit */
	struct idmap reported; /* symbol starts */
	uint64_t *pending;
	size_t pending_cnt, pending_cap;
};

int perfmap__new(struct perfmap **p, int proc, uint32_t pid)
{
	*p = calloc(1, sizeof(**p));
	if (!*p)
		return -ENOMEM;
	(*p)->proc = proc;
	(*p)->pid = pid;
	(*p)->fd = -1;
	return 0;
}

void perfmap__free(struct perfmap *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	free(p->entry);
	free(p->pending);
	idmap_fini(&p->seen);
	idmap_fini(&p->reported);
	free(p);
}

bool perfmap__hit(struct perfmap *p, uint64_t address)
{
	if (idmap_get(&p->seen, address))
		return false;
	if (p->seen.cnt >= ADDRESSES_MAX) {
		p->refused++;
		return false;
	}
	if (p->pending_cnt == p->pending_cap) {
		size_t cap = p->pending_cap ? p->pending_cap * 2 : 64;
		uint64_t *v = realloc(p->pending, cap * sizeof(*v));

		if (!v)
			return false;
		p->pending = v;
		p->pending_cap = cap;
	}
	if (idmap_put(&p->seen, address, p))
		return false;
	p->pending[p->pending_cnt++] = address;
	return true;
}

/* ---- the file ---- */

/*
 * Requires that the process's user or root owns the file, so that others cannot name its functions.
 */
static bool trusted(const struct perfmap *p, const struct stat *st)
{
	char buf[4096], *uid;
	unsigned real, effective;

	if (st->st_uid == 0)
		return true;
	if (procfs_read(p->proc, p->pid, "status", buf, sizeof(buf)) < 0)
		return false;
	uid = strstr(buf, "\nUid:");
	return uid && sscanf(uid + 5, "%u %u", &real, &effective) == 2 &&
	       (st->st_uid == real || st->st_uid == effective);
}

/* Does not open a symbolic link, FIFO or device of that name for reading. */
static int open_file(struct perfmap *p)
{
	struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	uint32_t tgid, ns_pid;
	char path[64];
	struct stat st;
	int root, err;

	err = procfs_status(p->proc, p->pid, &tgid, &ns_pid);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%u/root", p->pid);
	root = openat(p->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	snprintf(path, sizeof(path), "tmp/perf-%u.map", ns_pid);
	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) {
		close(root);
		return -ENOENT;
	}
	p->fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	err = p->fd < 0 ? -errno : 0;
	close(root);
	if (err)
		return err;
	if (fstat(p->fd, &st) || !S_ISREG(st.st_mode) || !trusted(p, &st)) {
		close(p->fd);
		p->fd = -1;
		return -EACCES;
	}
	return 0;
}

static bool hex_number(const char **p, const char *end, uint64_t *v)
{
	const char *begin;

	if (end - *p > 2 && (*p)[0] == '0' && ((*p)[1] | 32) == 'x')
		*p += 2;
	begin = *p;
	*v = 0;
	for (; *p < end; ++*p) {
		int c = **p | 32;
		unsigned d = c >= '0' && c <= '9'   ? c - '0'
			     : c >= 'a' && c <= 'f' ? c - 'a' + 10
						    : 16;

		if (d == 16)
			break;
		if (*v >> 60)
			return false;
		*v = *v << 4 | d;
	}
	return *p > begin && *p < end && **p == ' ' && ++*p;
}

int perfmap_line_parse(struct span line, struct perfmap_line *l)
{
	const char *p = line.p, *end = line.p + line.len;

	if (!hex_number(&p, end, &l->start) || !hex_number(&p, end, &l->size) || p == end)
		return -EBADMSG;
	if (!l->size || l->start + l->size < l->start || l->start + l->size > 1ULL << 56)
		return -EBADMSG;
	l->name = (struct span){p, end - p};
	if (l->name.len > NAME_MAX_SZ)
		l->name.len = NAME_MAX_SZ;
	return 0;
}

static int add_entry(struct perfmap *p, const struct perfmap_line *l, uint64_t name_off)
{
	if (p->cnt == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 1024;
		struct entry *e;

		if (p->cnt >= ENTRIES_MAX) {
			p->refused++;
			return 0;
		}
		e = realloc(p->entry, cap * sizeof(*e));
		if (!e)
			return -ENOMEM;
		p->entry = e;
		p->cap = cap;
	}
	p->entry[p->cnt++] = (struct entry){
		.start = l->start,
		.name_off = name_off,
		.size = l->size > UINT32_MAX ? UINT32_MAX : l->size,
		.seq = p->seq++,
	};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Merges the new entries into the sorted array. Of entries with equal start the latest is kept. */
static int sort_in(struct perfmap *p)
{
	size_t a = 0, b = p->sorted, out = 0;
	struct entry *all;

	if (p->sorted == p->cnt)
		return 0;
	all = malloc(p->cap * sizeof(*all));
	if (!all)
		return -ENOMEM;
	qsort(p->entry + p->sorted, p->cnt - p->sorted, sizeof(*all), by_start);
	while (a < p->sorted || b < p->cnt) {
		bool old = b == p->cnt || (a < p->sorted && p->entry[a].start <= p->entry[b].start);
		struct entry e = old ? p->entry[a++] : p->entry[b++];

		if (out && all[out - 1].start == e.start)
			all[out - 1] = e;
		else
			all[out++] = e;
	}
	free(p->entry);
	p->entry = all;
	p->cnt = p->sorted = out;
	return 0;
}

/*
 * Parses the complete lines of buf, which starts at file offset `at`. Returns their total length.
 */
static long parse_lines(struct perfmap *p, const char *buf, size_t len, uint64_t at)
{
	const char *last = memrchr(buf, '\n', len);
	struct span text, line;

	if (!last)
		return len == READ_SZ ? (long)len : 0; /* no valid line is that long: skip it */
	text = (struct span){buf, last + 1 - buf};
	while (next_line(&text, &line)) {
		struct perfmap_line l;

		while (line.len && !*line.p) { /* end of a hole */
			line.p++;
			line.len--;
		}
		if (perfmap_line_parse(line, &l) == 0 && add_entry(p, &l, at + (l.name.p - buf)))
			return -ENOMEM;
	}
	return last + 1 - buf;
}

/* A sparse file can have any size. */
static void skip_hole(struct perfmap *p, uint64_t size)
{
	off_t data = lseek(p->fd, p->read_to, SEEK_DATA);

	if (data < 0 && errno == ENXIO)
		p->read_to = size;
	else if (data > 0 && (uint64_t)data > p->read_to)
		p->read_to = data;
}

static int read_appended(struct perfmap *p)
{
	struct stat st;
	char *buf;
	long n = 0;
	int err = 0;

	if (p->fd < 0 && (err = open_file(p)))
		return err;
	if (fstat(p->fd, &st))
		return -errno;
	if ((uint64_t)st.st_size < p->read_to) { /* the file was rewritten */
		p->cnt = p->sorted = 0;
		p->read_to = 0;
	}
	if ((uint64_t)st.st_size == p->read_to)
		return 0;
	buf = malloc(READ_SZ);
	if (!buf)
		return -ENOMEM;
	/* Bounded by the size at open and by READ_MAX_SZ: the writer may never stop. */
	for (uint64_t left = READ_MAX_SZ; p->read_to < (uint64_t)st.st_size && left >= READ_SZ;
	     left -= READ_SZ) {
		skip_hole(p, st.st_size);
		n = pread(p->fd, buf, READ_SZ, p->read_to);
		if (n > 0)
			n = parse_lines(p, buf, n, p->read_to);
		if (n <= 0)
			break;
		p->read_to += n;
	}
	free(buf);
	err = sort_in(p);
	return n < 0 ? -EIO : err;
}

/* ---- look-up ---- */

static const struct entry *find(const struct perfmap *p, uint64_t address)
{
	const struct entry *best = NULL;
	size_t lo = 0, hi = p->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->entry[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo, seen = 0; i > 0 && seen < OVERLAPS_MAX; i--, seen++) {
		const struct entry *e = &p->entry[i - 1];

		if (address - e->start < e->size && (!best || e->seq > best->seq))
			best = e;
	}
	return best;
}

static void report(struct perfmap *p, const struct entry *e,
		   void (*fn)(void *, const struct perfmap_line *), void *ctx)
{
	char name[NAME_MAX_SZ];
	ssize_t n;

	if (idmap_get(&p->reported, e->start + 1) || idmap_put(&p->reported, e->start + 1, p))
		return;
	n = pread(p->fd, name, sizeof(name), e->name_off);
	if (n > 0) {
		const char *nl = memchr(name, '\n', n);
		struct perfmap_line l = {e->start, e->size, {name, nl ? nl - name : n}};

		if (l.name.len)
			fn(ctx, &l);
	}
}

int perfmap__resolve(struct perfmap *p, void (*fn)(void *ctx, const struct perfmap_line *symbol),
		     void *ctx, uint64_t *refused)
{
	size_t left = 0;
	int err;

	*refused = 0;
	if (!p->pending_cnt)
		return 0;
	err = read_appended(p);
	for (size_t i = 0; i < p->pending_cnt; i++) {
		const struct entry *e = find(p, p->pending[i]);

		if (e)
			report(p, e, fn, ctx);
		else
			p->pending[left++] = p->pending[i];
	}
	p->pending_cnt = left;
	*refused = p->refused;
	p->refused = 0;
	return err;
}

size_t perfmap__unresolved(const struct perfmap *p, const uint64_t **address)
{
	*address = p->pending;
	return p->pending_cnt;
}
