/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/text.h"
#include "record/cli/archive_output.h"

/* The opened file is not a terminal. */
static int take(struct output *out, int fd, const char **why)
{
	if (fd >= 0 && isatty(fd)) {
		*why = "a terminal; send it to a file or a pipe";
		close(fd);
		fd = -ENOTTY;
	}
	out->fd = fd;
	return fd < 0 ? fd : 0;
}

static void default_path(char *path, size_t sz)
{
	char host[65] = "host", when[32];
	time_t now = time(NULL);
	struct tm tm;

	gethostname(host, sizeof(host) - 1);
	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	snprintf(path, sz, "obrec-%s-%s.obz", host, when);
}

static void put_old_back(const struct place *p)
{
	char old[sizeof(p->name) + 8];

	strcpy(stpcpy(old, p->name), ".old");
	renameat(p->dir, old, p->dir, p->name);
}

/* Creates the file; an existing archive is renamed to FILE.old. */
static int make_file(struct output *out, const char **why)
{
	int err = place_keep_old(&out->place, why);

	if (err < 0)
		return err;
	out->kept = err;
	out->fd = openat(out->place.dir, out->place.name,
			 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
	out->made = out->fd >= 0 && !fstat(out->fd, &out->st);
	if (out->made)
		return 0;
	err = -errno;
	*why = strerror(-err);
	if (out->kept)
		put_old_back(&out->place);
	return err;
}

/* Writes to devices and pipes directly. */
static int open_place(struct output *out, const char **why)
{
	const struct place *p = &out->place;

	if (p->kind == PLACE_NEW || p->kind == PLACE_FILE)
		return make_file(out, why);
	return take(out, place_open_special(p, O_NONBLOCK, why), why);
}

int output_open(struct output *out, const char *path)
{
	const char *why;
	int err;

	*out = (struct output){.fd = -1, .place.dir = -1};
	if (path && strlen(path) >= sizeof(out->path)) {
		message_error("%s: name too long", path);
		return -ENAMETOOLONG;
	}
	if (path)
		strcpy(out->path, path);
	else
		default_path(out->path, sizeof(out->path));
	err = place_find(&out->place, strcmp(out->path, "-") ? out->path : "/dev/stdout", &why);
	if (!err)
		err = open_place(out, &why);
	if (err)
		message_error("%s: cannot write there: %s", out->path, why);
	return err;
}

/* Removes it only if it is still the file that was created. */
void output_discard(const struct output *out)
{
	const struct place *p = &out->place;
	struct stat st;

	if (!out->made || fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) ||
	    st.st_dev != out->st.st_dev || st.st_ino != out->st.st_ino)
		return;
	if (out->kept)
		put_old_back(p);
	else
		unlinkat(p->dir, p->name, 0);
}
