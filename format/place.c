/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

struct walk {
	int dir;
	char rest[PATH_MAX]; /* remaining path, relative to dir */
	unsigned links;	     /* number of links followed */
};

bool place_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/*
 * Applies Linux's rule for sticky directories (may_follow_link() in fs/namei.c) to all directories
 * writable by others. There, a link owned by a trusted user may be a hard link created by somebody
 * else. The last component determines which file is overwritten; links of others are never followed
 * there.
 */
static bool may_follow(const struct stat *dir, const struct stat *link, bool last)
{
	if (place_trusted(link))
		return link->st_nlink == 1 || !(dir->st_mode & (S_IWGRP | S_IWOTH));
	return !last && link->st_uid == dir->st_uid && !(dir->st_mode & S_IWOTH);
}

/* The file descriptor of the caller that an absolute path names, or -1. */
static int own_fd(const char *path)
{
	static const char *const dirs[] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};
	char *end;
	long n;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		size_t len = strlen(dirs[i]);

		if (strncmp(path, dirs[i], len) || path[len] < '0' || path[len] > '9')
			continue;
		n = strtol(path + len, &end, 10);
		return *end || n > INT_MAX ? -1 : (int)n;
	}
	return -1;
}

/* Sets the starting directory. 1: the path is one of the caller's descriptors, stored in p. */
static int start(struct walk *w, struct place *p)
{
	bool absolute = w->rest[0] == '/';
	int fd = absolute ? own_fd(w->rest) : -1;

	if (fd >= 0) {
		p->kind = PLACE_FD;
		p->fd = fd;
		return fcntl(fd, F_GETFD) < 0 ? -errno : 1;
	}
	if (!absolute && w->dir >= 0)
		return 0;
	if (w->dir >= 0)
		close(w->dir);
	w->dir = open(absolute ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->dir < 0 ? -errno : 0;
}

/* Whether a link is a magic link of /proc, whose text does not name its target. */
static bool is_magic(int dir, const struct stat *st)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC && st->st_ino != 1;
}

/* Prepends a link's target to the rest. */
static int follow(struct walk *w, const char *name, const struct stat *link, bool last,
		  const char **why)
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	struct stat dir;
	ssize_t n;

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (fstat(w->dir, &dir))
		return -errno;
	if (!may_follow(&dir, link, last)) {
		*why = "a symbolic link of another user is not followed";
		return -EACCES;
	}
	if (is_magic(w->dir, &dir)) {
		*why = "a link of /proc is not followed";
		return -ELOOP;
	}
	n = readlinkat(w->dir, name, target, sizeof(target) - 1);
	if (n <= 0)
		return n ? -errno : -ENOENT;
	target[n] = 0;
	snprintf(joined, sizeof(joined), "%s%s%s", target, last ? "" : "/", w->rest);
	if (strlen(joined) >= sizeof(w->rest))
		return -ENAMETOOLONG;
	strcpy(w->rest, joined);
	return 0;
}

/* Removes the first name from the rest; *last: nothing follows, not even a slash. */
static int next_name(struct walk *w, char *name, bool *last)
{
	size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");
	const char *after = w->rest + skip + len;

	if (!len)
		return -EISDIR;
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, w->rest + skip, len);
	name[len] = 0;
	*last = !*after;
	memmove(w->rest, after + strspn(after, "/"), strlen(after + strspn(after, "/")) + 1);
	return 0;
}

static int enter(struct walk *w, const char *name)
{
	int fd = openat(w->dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(w->dir);
	w->dir = fd;
	return 0;
}

/* Resolves one name. 1: done, p describes the result. */
static int step(struct walk *w, struct place *p, const char **why)
{
	bool last;
	int err = next_name(w, p->name, &last);

	if (err)
		return err;
	if (fstatat(w->dir, p->name, &p->st, AT_SYMLINK_NOFOLLOW)) {
		p->kind = PLACE_NEW;
		return last && errno == ENOENT ? 1 : -errno;
	}
	if (S_ISLNK(p->st.st_mode)) {
		err = follow(w, p->name, &p->st, last, why);
		return err ? err : start(w, p);
	}
	if (!last)
		return enter(w, p->name);
	if (S_ISDIR(p->st.st_mode))
		return -EISDIR;
	p->kind = S_ISREG(p->st.st_mode) ? PLACE_FILE : PLACE_SPECIAL;
	return 1;
}

/* Sets the path after following links; without /proc, the path as given. */
static void name_place(struct place *p)
{
	char self[40], dir[PATH_MAX];
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", p->dir);
	n = readlink(self, dir, sizeof(dir) - 1);
	if (n <= 0 || n + strlen(p->name) + 2 > sizeof(p->path))
		return;
	dir[n] = 0;
	strcpy(stpcpy(stpcpy(p->path, dir), n > 1 ? "/" : ""), p->name);
}

int place_find(struct place *p, const char *path, const char **why)
{
	struct walk w = {.dir = -1};
	int err;

	*p = (struct place){.dir = -1, .fd = -1};
	*why = NULL;
	if (strlen(path) >= sizeof(w.rest))
		err = -ENAMETOOLONG;
	else if (!*path)
		err = -ENOENT;
	else {
		strcpy(w.rest, path);
		strcpy(p->path, path);
		for (err = start(&w, p); !err;)
			err = step(&w, p, why);
	}
	p->dir = w.dir;
	if (err > 0) {
		if (p->kind != PLACE_FD && w.links)
			name_place(p);
		return 0;
	}
	if (!*why)
		*why = strerror(-err);
	place_close(p);
	return err;
}

void place_close(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	p->dir = -1;
}

static int refuse(const char **why, const char *text, int err)
{
	*why = text ? text : strerror(-err);
	return err;
}

int place_open_special(const struct place *p, int flags, const char **why)
{
	struct stat st;
	int fd, err;

	if (p->kind == PLACE_SPECIAL && !place_trusted(&p->st))
		return refuse(why, "it belongs to another user", -EACCES);
	if (p->kind == PLACE_FD)
		fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 3);
	else
		fd = openat(p->dir, p->name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | flags);
	if (fd < 0) {
		err = -errno;
		return refuse(why,
			      err == -ENXIO && S_ISFIFO(p->st.st_mode) ? "no process reads from "
									 "this FIFO"
								       : NULL,
			      err);
	}
	if (p->kind == PLACE_FD ||
	    (!fstat(fd, &st) && st.st_dev == p->st.st_dev && st.st_ino == p->st.st_ino))
		return fd;
	close(fd); /* the file was replaced meanwhile */
	return refuse(why, NULL, -EAGAIN);
}

int place_keep_old(const struct place *p, const char **why)
{
	char old[NAME_MAX + 8];
	struct stat dir, now, st;

	if (fstat(p->dir, &dir))
		return refuse(why, NULL, -errno);
	if (fstatat(p->dir, p->name, &now, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : refuse(why, NULL, -errno);
	if (!S_ISREG(now.st_mode))
		return refuse(why, "it was replaced by another file type", -EEXIST);
	if (!place_trusted(&now) && now.st_uid != dir.st_uid)
		return refuse(why, "the existing file belongs to another user", -EACCES);
	snprintf(old, sizeof(old), "%s.old", p->name);
	if (!fstatat(p->dir, old, &st, AT_SYMLINK_NOFOLLOW) &&
	    (!S_ISREG(st.st_mode) || (!place_trusted(&st) && st.st_uid != dir.st_uid)))
		return refuse(why, "the existing .old is not a regular file of the same user",
			      -EEXIST);
	return renameat(p->dir, p->name, p->dir, old) ? refuse(why, NULL, -errno) : 1;
}
