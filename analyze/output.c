/* SPDX-License-Identifier: BSD-2-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../format/text.h"

static char *beside(const char *archive, const char *suffix)
{
	size_t len = strlen(archive);
	char *path;

	if (!strcmp(archive, "-"))
		archive = "obana", len = 5;
	else if (len > 4 && !strcmp(archive + len - 4, ".obz"))
		len -= 4;
	return asprintf(&path, "%.*s%s", (int)len, archive, suffix) < 0 ? NULL : path;
}

static int fail(struct output *o, int err)
{
	message_error("%s: %s", o->path ? o->path : "standard output", strerror(-err));
	return err;
}

/* A name that nobody else has, made by creating the file. */
static int make_temporary(struct output *o, bool stream)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (asprintf(&o->temporary, "%s.XXXXXX", o->path) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd < 0) {
		int err = -errno;

		free(o->temporary);
		o->temporary = NULL;
		return fail(o, err);
	}
	fchmod(fd, 0666 & ~mask);
	if (!stream) {
		close(fd);
		return 0;
	}
	o->file = fdopen(fd, "w");
	return o->file ? 0 : -ENOMEM;
}

int output_open(struct output *o, const char *path, const char *archive, const char *suffix,
		bool stream)
{
	int err;

	*o = (struct output){0};
	if (path && !strcmp(path, "-")) {
		o->file = stdout;
		return 0;
	}
	o->path = path ? strdup(path) : beside(archive, suffix);
	if (!o->path)
		return -ENOMEM;
	err = make_temporary(o, stream);
	if (err)
		output_close(o, err);
	return err;
}

static int put_in_place(struct output *o)
{
	char old[4096];
	struct stat st;
	bool kept = false;

	if (!lstat(o->path, &st)) {
		if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
			return fail(o, -EEXIST);
		if (snprintf(old, sizeof(old), "%s.old", o->path) >= (int)sizeof(old))
			return fail(o, -ENAMETOOLONG);
		if (rename(o->path, old))
			return fail(o, -errno);
		kept = true;
	}
	if (rename(o->temporary, o->path))
		return fail(o, -errno);
	message_warn("wrote %s%s", o->path, kept ? " (the previous one is kept as .old)" : "");
	return 0;
}

int output_close(struct output *o, int err)
{
	if (o->file) {
		bool failed = fflush(o->file) || ferror(o->file);
		int cause = errno;

		if (o->file != stdout && fclose(o->file)) {
			failed = true;
			cause = errno;
		}
		if (failed && !err)
			err = fail(o, cause ? -cause : -EIO);
	}
	if (o->temporary && !err)
		err = put_in_place(o);
	if (o->temporary && err)
		unlink(o->temporary);
	free(o->temporary);
	free(o->path);
	*o = (struct output){0};
	return err;
}
