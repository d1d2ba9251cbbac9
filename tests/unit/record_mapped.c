/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of a mapping is opened through the mapping; where another file is mapped there by now, by
 * its path; and never another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/text.h"
#include "record/binary/binary_open.h"

static char dir[] = "/tmp/mapped.XXXXXX";
static int proc, failed;

static void path_in(char path[64], const char *name)
{
	snprintf(path, 64, "%s/%s", dir, name);
}

static ino_t make(const char *name)
{
	char path[64];
	struct stat st;
	int fd;

	path_in(path, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, 4096) || fstat(fd, &st))
		perror(path), exit(1);
	close(fd);
	return st.st_ino;
}

static void *map(const char *name)
{
	char path[64];
	void *p;
	int fd;

	path_in(path, name);
	fd = open(path, O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (fd < 0 || p == MAP_FAILED)
		perror(path), exit(1);
	close(fd);
	return p;
}

/* want: inode that opening gives, or negative errno. */
static void is(const char *what, void *at, const char *name, ino_t inode, long want)
{
	char path[64];
	struct mapped m = {.pid = getpid(),
			   .start = (uintptr_t)at,
			   .end = (uintptr_t)at + 4096,
			   .inode = inode};
	struct stat st = {0};
	long got;
	int fd;

	path_in(path, name);
	m.path = span_of(path);
	fd = binary_open_mapped(proc, &m, &st);
	got = fd < 0 ? fd : (long)st.st_ino;
	if (fd >= 0)
		close(fd);
	if (got != want)
		failed++, printf("FAIL %s: opened %ld, expected %ld\n", what, got, want);
	fd = binary_stat_mapped(proc, &m, &st);
	got = fd ? fd : (long)st.st_ino;
	if (got != want && got != -ESTALE)
		failed++, printf("FAIL %s: stat tells %ld, expected %ld\n", what, got, want);
}

int main(void)
{
	ino_t before, now, other;
	char path[64];
	void *at;

	proc = open("/proc", O_PATH | O_DIRECTORY);
	if (proc < 0 || !mkdtemp(dir))
		return perror(dir), 1;
	before = make("before.so");
	now = make("now.so");
	at = map("now.so");
	if (access("/proc/self/map_files", X_OK))
		return puts("no permission for /proc/PID/map_files"), 77;

	is("the file itself", at, "now.so", now, now);
	is("another file is there by now", at, "before.so", before, before);
	is("its inode in maps is of another layer", at, "now.so", before, now);
	is("no inode is known", at, "before.so", 0, now);
	path_in(path, "before.so");
	unlink(path);
	is("another file, and the first is gone", at, "before.so", before, -ESTALE);
	other = make("before.so");
	if (other != before)
		is("another file, and the first replaced", at, "before.so", before, -ESTALE);
	path_in(path, "now.so");
	unlink(path);
	is("a deleted file", at, "now.so (deleted)", now, now);
	path_in(path, "before.so");
	unlink(path);
	rmdir(dir);
	return failed != 0;
}
