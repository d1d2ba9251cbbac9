/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/traffic/datagrams.h"
#include "record/base/idmap.h"

static FILE *open_table(int proc, uint32_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%u/net/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* Counts one more. */
static bool is_enough(struct datagrams *d)
{
	return d->looked >= DATAGRAMS_LOOKED_MAX || ++d->looked >= DATAGRAMS_LOOKED_MAX;
}

/*
 * proc(5), /proc/net/udp:  sl  local_address rem_address   st tx:rx tr:tm retrnsmt uid timeout inode
 *                          0: 0100007F:0035 00000000:0000 07  ...
 *
 * 07 is TCP_CLOSE, what all are that have no peer.
 */
static void read_table(struct datagrams *d, uint32_t pid, const char *name)
{
	FILE *f = open_table(d->proc, pid, name);
	char line[512];

	if (!f)
		return;
	while (!is_enough(d) && fgets(line, sizeof(line), f)) {
		unsigned remote, state;
		unsigned long inode;

		if (sscanf(line,
			   " %*u: %*[0-9A-Fa-f]:%*x %*[0-9A-Fa-f]:%x %x %*s %*s %*s %*u %*u %lu",
			   &remote, &state, &inode) == 3 &&
		    state == 7 && !remote && inode)
			idmap_put(&d->inodes, inode, d);
	}
	fclose(f);
}

static bool holds_one(struct datagrams *d, uint32_t pid)
{
	char path[64], to[64];
	struct dirent *e;
	bool found = false;
	DIR *fds;
	int fd;

	snprintf(path, sizeof(path), "%u/fd", pid);
	fd = openat(d->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fds = fd < 0 ? NULL : fdopendir(fd);
	while (fds && !found && !is_enough(d) && (e = readdir(fds))) {
		ssize_t n = readlinkat(fd, e->d_name, to, sizeof(to) - 1);
		unsigned long inode;

		to[n < 0 ? 0 : n] = 0;
		found = sscanf(to, "socket:[%lu]", &inode) == 1 && idmap_get(&d->inodes, inode);
	}
	if (fds)
		closedir(fds);
	return found;
}

static bool read_tables(struct datagrams *d, uint32_t pid)
{
	size_t before = d->inodes.cnt;

	read_table(d, pid, "udp");
	read_table(d, pid, "udp6");
	return d->inodes.cnt > before;
}

/* Returns true if the process's network namespace has such a socket. */
static bool space_has_one(struct datagrams *d, uint32_t pid)
{
	char path[32];
	struct stat st;
	void *which;

	snprintf(path, sizeof(path), "%u/ns/net", pid);
	if (fstatat(d->proc, path, &st, 0))
		return false; /* the process is gone, or its descriptors are unreadable too */
	which = idmap_get(&d->spaces, st.st_ino);
	if (!which) {
		which = read_tables(d, pid) ? &d->spaces : &d->inodes;
		idmap_put(&d->spaces, st.st_ino, which);
	}
	return which == &d->spaces;
}

bool datagrams_received(struct datagrams *d, uint32_t pid)
{
	return (space_has_one(d, pid) && holds_one(d, pid)) || d->looked >= DATAGRAMS_LOOKED_MAX;
}

void datagrams_fini(struct datagrams *d)
{
	idmap_fini(&d->spaces);
	idmap_fini(&d->inodes);
}
