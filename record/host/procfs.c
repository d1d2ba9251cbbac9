/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/host/procfs.h"

int procfs_open(const char *root)
{
	int fd = open(root ? root : "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_entry(int proc, uint32_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%u/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

long procfs_read(int proc, uint32_t pid, const char *name, char *buf, size_t cap)
{
	int fd = open_entry(proc, pid, name);
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return fd;
	while (len < cap - 1 && (n = read(fd, buf + len, cap - 1 - len)) > 0)
		len += n;
	if (n < 0 && !len)
		len = -errno;
	close(fd);
	if ((long)len >= 0)
		buf[len] = 0;
	return len;
}

long procfs_link(int proc, uint32_t pid, const char *name, char *buf, size_t cap)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%u/%s", pid, name);
	n = readlinkat(proc, path, buf, cap - 1);
	if (n < 0)
		return -errno;
	buf[n] = 0;
	return n;
}

/* proc(5): "PID (COMM) STATE PPID ..."; COMM may contain any character including parentheses, so it
 * ends at the last one. */
int procfs_stat_parse(const char *text, size_t len, struct procfs_stat *st)
{
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len);
	unsigned long long start = 0;
	unsigned ppid = 0, flags = 0;
	long threads = 0;
	size_t n;

	if (!open || !close || close < open)
		return -EBADMSG;
	*st = (struct procfs_stat){0};
	n = close - open - 1;
	if (n >= sizeof(st->comm))
		n = sizeof(st->comm) - 1;
	memcpy(st->comm, open + 1, n);
	if (sscanf(close + 1,
		   " %c %u %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
		   &st->state, &ppid, &flags, &threads, &start) != 5)
		return -EBADMSG;
	st->ppid = ppid;
	st->flags = flags;
	st->threads = threads < 0 ? 0 : threads;
	st->start_ticks = start;
	return 0;
}

int procfs_stat(int proc, uint32_t pid, struct procfs_stat *st)
{
	char buf[1024];
	long n = procfs_read(proc, pid, "stat", buf, sizeof(buf));

	return n < 0 ? (int)n : procfs_stat_parse(buf, n, st);
}

bool procfs_gone(int proc, uint32_t pid)
{
	struct procfs_stat st;
	int err = procfs_stat(proc, pid, &st);

	/* An exited leader is a zombie that counts as one thread until it is reaped. */
	return err ? err == -ENOENT || err == -ESRCH
		   : (st.state == 'Z' || st.state == 'X') && st.threads <= 1;
}

int procfs_status_parse(const char *text, uint32_t *tgid, uint32_t *ns_pid)
{
	const char *t = strstr(text, "\nTgid:"), *ns = strstr(text, "\nNSpid:");
	char *end;

	if (!t)
		return -EBADMSG;
	*tgid = *ns_pid = strtoul(t + 6, NULL, 10);
	if (!ns) /* kernel without CONFIG_PID_NS */
		return 0;
	/* One number per nested namespace, innermost last. */
	for (ns += 7; *ns == '\t' || *ns == ' '; ns = end) {
		unsigned long v = strtoul(ns, &end, 10);

		if (end == ns)
			break;
		*ns_pid = v;
	}
	return 0;
}

int procfs_status(int proc, uint32_t pid, uint32_t *tgid, uint32_t *ns_pid)
{
	char buf[4096];
	long n = procfs_read(proc, pid, "status", buf, sizeof(buf));

	return n < 0 ? (int)n : procfs_status_parse(buf, tgid, ns_pid);
}

bool procfs_in_initial_ns(const char *kind)
{
	/* PROC_*_INIT_INO of include/linux/proc_ns.h; unchanged since namespaces were added. */
	static const struct {
		const char *kind;
		ino_t inode;
	} initial[] = {{"time", 0xeffffffa},
		       {"cgroup", 0xeffffffb},
		       {"pid", 0xeffffffc},
		       {"user", 0xeffffffd}};
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (stat(path, &st)) /* missing: kernel without this namespace */
		return true;
	for (size_t i = 0; i < sizeof(initial) / sizeof(*initial); i++)
		if (!strcmp(initial[i].kind, kind))
			return st.st_ino == initial[i].inode;
	return false;
}

/* ---- maps ---- */

struct cursor {
	const char *p, *end;
};

static bool number(struct cursor *c, unsigned base, char stop, uint64_t *v)
{
	const char *begin = c->p;

	*v = 0;
	for (; c->p < c->end; c->p++) {
		char ch = *c->p;
		unsigned d = ch >= '0' && ch <= '9'   ? ch - '0'
			     : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
						      : 99;

		if (d >= base)
			break;
		if (*v > (UINT64_MAX - d) / base)
			return false;
		*v = *v * base + d;
	}
	if (c->p == begin)
		return false;
	if (c->p == c->end)
		return stop == 0;
	return *c->p++ == stop;
}

int maps_line_parse(struct span line, struct maps_line *m)
{
	struct cursor c = {line.p, line.p + line.len};
	uint64_t major, minor;

	if (!number(&c, 16, '-', &m->start) || !number(&c, 16, ' ', &m->end) || c.end - c.p < 5)
		return -EBADMSG;
	m->exec = c.p[2] == 'x';
	if (c.p[4] != ' ' || m->end <= m->start)
		return -EBADMSG;
	c.p += 5;
	if (!number(&c, 16, ' ', &m->offset) || !number(&c, 16, ':', &major) ||
	    !number(&c, 16, ' ', &minor) || major > UINT32_MAX || minor > UINT32_MAX)
		return -EBADMSG;
	m->major = major;
	m->minor = minor;
	if (!number(&c, 10, ' ', &m->inode) && c.p != c.end)
		return -EBADMSG;
	while (c.p < c.end && *c.p == ' ')
		c.p++;
	m->path = (struct span){c.p, c.end - c.p};
	return 0;
}

size_t maps_path_unescape(char *path, size_t len)
{
	size_t o = 0;

	for (size_t i = 0; i < len; i++, o++) {
		if (len - i >= 4 && !memcmp(path + i, "\\012", 4)) {
			path[o] = '\n';
			i += 3;
		} else {
			path[o] = path[i];
		}
	}
	return o;
}

/* A line has at most PATH_MAX bytes and about 80 more; the kernel escapes a newline in a path as 4
 * bytes. */
#define MAPS_BUF (4 * PATH_MAX + 65536)

int procfs_each_map(int proc, uint32_t pid, int (*fn)(void *ctx, const struct maps_line *m),
		    void *ctx)
{
	int fd = open_entry(proc, pid, "maps"), err = 0;
	char *buf = fd < 0 ? NULL : malloc(MAPS_BUF);
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (!buf) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && have < MAPS_BUF && (n = read(fd, buf + have, MAPS_BUF - have)) != 0) {
		struct span text, line;
		const char *last;

		if (n < 0) {
			err = -errno;
			break;
		}
		have += n;
		last = memrchr(buf, '\n', have);
		if (!last)
			continue;
		text = (struct span){buf, last + 1 - buf};
		while (!err && next_line(&text, &line)) {
			struct maps_line m;

			if (maps_line_parse(line, &m) == 0)
				err = fn(ctx, &m);
		}
		have -= last + 1 - buf;
		memmove(buf, last + 1, have);
	}
	free(buf);
	close(fd);
	return err;
}

/* ---- cgroup ---- */

bool next_line(struct span *text, struct span *line)
{
	const char *nl;

	if (!text->len)
		return false;
	nl = memchr(text->p, '\n', text->len);
	line->p = text->p;
	line->len = nl ? (size_t)(nl - text->p) : text->len;
	text->len -= line->len + (nl != NULL);
	text->p += line->len + (nl != NULL);
	return true;
}

/*
 * cgroups(7): "HIERARCHY:CONTROLLERS:PATH". A path may contain colons, a controller name may not.
 */
int cgroup_line_parse(struct span line, struct cgroup_line *c)
{
	const char *a = memchr(line.p, ':', line.len), *b, *end = line.p + line.len;

	if (!a)
		return -EBADMSG;
	b = memchr(a + 1, ':', end - a - 1);
	if (!b || b + 1 == end || b[1] != '/')
		return -EBADMSG;
	c->controllers = (struct span){a + 1, b - a - 1};
	c->path = (struct span){b + 1, end - b - 1};
	return 0;
}

struct span cgroup_pick(struct span text)
{
	struct span best = {"", 0}, line;
	int best_rank = 0;

	while (next_line(&text, &line)) {
		struct cgroup_line c;
		int rank;

		if (cgroup_line_parse(line, &c))
			continue;
		rank = c.path.len == 1					? 1
		       : !c.controllers.len				? 4
		       : !strncmp(c.controllers.p, "name=systemd:", 13) ? 3
									: 2;
		if (rank > best_rank) {
			best_rank = rank;
			best = c.path;
		}
	}
	return best;
}

int procfs_each_id(int proc, const char *dir, int (*fn)(void *ctx, uint32_t id), void *ctx)
{
	int fd = openat(proc, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(d))) {
		char *end;
		unsigned long id = strtoul(e->d_name, &end, 10);

		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && !*end && id <= INT_MAX)
			err = fn(ctx, id);
	}
	closedir(d);
	return err;
}
