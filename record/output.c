/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../format/text.h"
#include "output.h"

static int open_stdout(struct output *out)
{
	if (isatty(STDOUT_FILENO)) {
		message_error("-o -: stdout is a terminal; send it to a file or a pipe");
		return -ENOTTY;
	}
	out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return out->fd < 0 ? -errno : 0;
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

/* An earlier archive becomes FILE.old; devices and pipes are written to as they are. */
static int keep_old(struct output *out)
{
	struct stat st;

	if (lstat(out->path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (snprintf(out->old, sizeof(out->old), "%s.old", out->path) >= (int)sizeof(out->old))
		return -ENAMETOOLONG;
	if (rename(out->path, out->old)) {
		out->old[0] = 0;
		return -errno;
	}
	return 0;
}

int output_open(struct output *out, const char *path)
{
	int err;

	*out = (struct output){.fd = -1};
	if (path && strlen(path) >= sizeof(out->path)) {
		message_error("%s: name too long", path);
		return -ENAMETOOLONG;
	}
	if (path)
		strcpy(out->path, path);
	else
		default_path(out->path, sizeof(out->path));
	if (!strcmp(out->path, "-"))
		return open_stdout(out);
	err = keep_old(out);
	if (!err) {
		out->fd = open(out->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
		err = out->fd < 0 ? -errno : 0;
	}
	if (err)
		message_error("%s: cannot write there: %s", out->path, strerror(-err));
	return err;
}

void output_discard(const struct output *out)
{
	struct stat st;

	if (!strcmp(out->path, "-") || lstat(out->path, &st) || !S_ISREG(st.st_mode))
		return;
	if (out->old[0])
		rename(out->old, out->path);
	else
		unlink(out->path);
}
