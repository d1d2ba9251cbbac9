/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "record/process/read_members.h"
#include "record/reader/reader_process.h"

enum { DEPTH_MAX = 64 };

struct walk {
	struct parcel members;
	unsigned left; /* directories */
	bool cut;
};

static void read_procs(struct walk *w, int dir)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	uint32_t pid;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (fscanf(f, "%u", &pid) == 1)
		if (pid) /* 0: a process in another pid namespace */
			parcel_put(&w->members, &pid, sizeof(pid));
	fclose(f);
}

/* Takes ownership of fd. A cgroup that disappears meanwhile is skipped. */
static void walk(struct walk *w, int fd, int depth)
{
	struct dirent *e;
	DIR *d;

	read_procs(w, fd);
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return;
	}
	while (!w->cut && (e = readdir(d))) {
		int sub;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		w->cut = depth == DEPTH_MAX || !w->left;
		if (w->cut)
			break;
		w->left--;
		sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			walk(w, sub, depth + 1);
	}
	closedir(d);
}

int read_members_serve(int proc, struct parcel *request, struct parcel *answer)
{
	struct walk w = {.left = MEMBERS_DIRS_MAX};

	parcel_init(&w.members, READING_members);
	while (request->at < request->len && !request->bad) {
		struct span name = parcel_get_span(request);
		char path[PATH_MAX];
		int fd;

		snprintf(path, sizeof(path), "%.*s", (int)(name.len < PATH_MAX ? name.len : 0),
			 name.p);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			walk(&w, fd, 0);
	}
	parcel_put_u64(answer, w.cut);
	parcel_put(answer, w.members.body, w.members.len);
	answer->bad |= w.members.bad;
	parcel_fini(&w.members);
	return request->bad ? -EBADMSG : 0;
}

void read_members_ask(struct parcel *m, char *const *dir, unsigned cnt)
{
	parcel_init(m, READING_members);
	for (unsigned i = 0; i < cnt; i++)
		parcel_put_string(m, dir[i]);
}

bool read_members_all(struct parcel *answer)
{
	return !parcel_get_u64(answer);
}

bool read_members_next(struct parcel *answer, uint32_t *pid)
{
	if (answer->at >= answer->len)
		return false;
	parcel_get(answer, pid, sizeof(*pid));
	return !answer->bad;
}
