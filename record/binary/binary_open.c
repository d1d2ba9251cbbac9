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

int binary_stat_mapped(int proc, const struct mapped *m, struct stat *st)
{
	char name[96];

	map_files_name(m, name);
	return fstatat(proc, name, st, 0) ? -errno : 0;
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

int binary_open_mapped(int proc, const struct mapped *m, struct stat *st)
{
	char name[96];
	int fd, by_path;

	map_files_name(m, name);
	fd = openat(proc, name, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		return reopen_regular(fd, st);
	fd = -errno; /* EPERM without CAP_CHECKPOINT_RESTORE, ENOENT if the mapping has changed
		      * since */
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
