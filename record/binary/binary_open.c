/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/binary/binary_open.h"

bool binary_path_deleted(struct span *path)
{
	static const char suffix[] = " (deleted)";
	const size_t n = sizeof(suffix) - 1;

	if (path->len <= n || memcmp(path->p + path->len - n, suffix, n))
		return false;
	path->len -= n;
	return true;
}

static void map_files_name(const struct mapped *m, char name[96])
{
	snprintf(name, 96, "%u/map_files/%llx-%llx", m->pid, (unsigned long long)m->start,
		 (unsigned long long)m->end);
}

static struct span last_part(struct span path)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;

	binary_path_deleted(&path);
	if (slash)
		path.len -= slash + 1 - path.p, path.p = slash + 1;
	return path;
}

/* Whether another file is mapped at the place by now. The inode alone does not tell: for overlayfs
 * maps shows that of another layer; nor does the whole path: it depends on the root directory. */
static bool is_another(int proc, const char *name, const struct mapped *m, const struct stat *st)
{
	char link[PATH_MAX];
	struct span now, then = last_part(m->path);
	ssize_t n;

	if (!m->inode || st->st_ino == m->inode || !then.len)
		return false;
	n = readlinkat(proc, name, link, sizeof(link));
	if (n <= 0)
		return false;
	now = last_part((struct span){link, n});
	return now.len != then.len || memcmp(now.p, then.p, then.len);
}

int binary_stat_mapped(int proc, const struct mapped *m, struct stat *st)
{
	char name[96];

	map_files_name(m, name);
	if (fstatat(proc, name, st, 0))
		return -errno;
	return is_another(proc, name, m, st) ? -ESTALE : 0;
}

/* Reopens an O_PATH descriptor for reading, and closes it. */
static int reopen_regular(int path_fd, struct stat *st)
{
	char self[40];
	int fd;

	if (fstat(path_fd, st) || !S_ISREG(st->st_mode)) {
		close(path_fd);
		return -ENXIO;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
	fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(path_fd);
	return fd;
}

/* Opens by path below the process's root directory. Symbolic links must not leave it. */
static int open_by_path(int proc, const struct mapped *m, struct stat *st)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char root_name[32], path[PATH_MAX];
	struct span p = m->path;
	int root, fd;

	if (binary_path_deleted(&p))
		return -ENOENT;
	if (!p.len || p.p[0] != '/' || p.len >= sizeof(path))
		return -ENOENT;
	memcpy(path, p.p, p.len);
	path[p.len] = 0;
	snprintf(root_name, sizeof(root_name), "%u/root", m->pid);
	root = openat(proc, root_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(root);
	if (fd < 0)
		return fd;
	fd = reopen_regular(fd, st);
	/* The device is not compared: for btrfs and overlayfs maps shows a different one. */
	if (fd >= 0 && m->inode && st->st_ino != m->inode) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int open_map_file(int proc, const struct mapped *m, struct stat *st)
{
	char name[96];
	int fd;

	map_files_name(m, name);
	fd = openat(proc, name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno; /* EPERM without CAP_CHECKPOINT_RESTORE, ENOENT if the mapping has
				* changed since */
	fd = reopen_regular(fd, st);
	if (fd >= 0 && is_another(proc, name, m, st)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int binary_open_mapped(int proc, const struct mapped *m, struct stat *st)
{
	int fd = open_map_file(proc, m, st), by_path;

	if (fd >= 0)
		return fd;
	by_path = open_by_path(proc, m, st);
	return by_path == -ENOENT ? fd : by_path;
}

static bool read_memory(pid_t pid, uint64_t address, char *buf, size_t len)
{
	struct iovec to = {buf, len}, from = {(void *)(uintptr_t)address, len};

	return address && process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)len;
}

int binary_open_vdso(const struct mapped *m)
{
	size_t len = m->end - m->start;
	bool compat = m->end <= 1ULL << 32; /* a 32-bit process has a different vDSO */
	char *buf;
	int fd;

	if (len < 4096 || len > 1u << 20)
		return -ENOENT;
	buf = malloc(len);
	if (!buf)
		return -ENOMEM;
	if ((compat || !read_memory(getpid(), getauxval(AT_SYSINFO_EHDR), buf, len)) &&
	    !read_memory(m->pid, m->start, buf, len)) {
		free(buf);
		return -ENOENT;
	}
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
	} else if (write(fd, buf, len) != (ssize_t)len) {
		close(fd);
		fd = -ENOSPC;
	}
	free(buf);
	return fd;
}
