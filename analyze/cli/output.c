/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/text.h"

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

static int fail(struct output *o, int err, const char *why)
{
	message_error("%s: %s", o->path ? o->path : "standard output", why ? why : strerror(-err));
	return err;
}

/* Stores the descriptor in the requested form. */
static int take(struct output *o, int fd, enum output_as as)
{
	if (as == OUTPUT_ARCHIVE && isatty(fd)) {
		close(fd);
		return fail(o, -ENOTTY, "not writing an archive to a terminal");
	}
	if (as == OUTPUT_ARCHIVE)
		o->fd = fd;
	if (as == OUTPUT_STREAM)
		o->file = fdopen(fd, "w");
	if (o->fd == fd || o->file)
		return 0;
	close(fd);
	return as == OUTPUT_DATABASE ? 0 : -ENOMEM;
}

/* Finds a unique name by creating the file. */
static int make_temporary(struct output *o, enum output_as as)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (asprintf(&o->temporary, "%s.XXXXXX", o->place.path) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd < 0) {
		int err = -errno;

		free(o->temporary);
		o->temporary = NULL;
		return fail(o, err, NULL);
	}
	fchmod(fd, 0666 & ~mask);
	return take(o, fd, as);
}

/* Devices, FIFOs and descriptors are written directly. */
static int open_special(struct output *o, enum output_as as)
{
	const char *why;
	int fd;

	if (as == OUTPUT_DATABASE)
		return fail(o, -EINVAL, "a database cannot be written there: not a regular file");
	fd = place_open_special(&o->place, 0, &why);
	return fd < 0 ? fail(o, fd, why) : take(o, fd, as);
}

int output_open(struct output *o, const char *path, const char *archive, const char *suffix,
		enum output_as as)
{
	bool to_stdout = path && !strcmp(path, "-");
	const char *why;
	int err;

	*o = (struct output){.place.dir = -1, .fd = -1};
	if (to_stdout && as != OUTPUT_ARCHIVE) {
		o->file = stdout;
		return 0;
	}
	o->path = to_stdout ? strdup("standard output")
		  : path    ? strdup(path)
			    : beside(archive, suffix);
	if (!o->path)
		return -ENOMEM;
	err = place_find(&o->place, to_stdout ? "/dev/stdout" : o->path, &why);
	if (err)
		fail(o, err, why);
	else if (o->place.kind == PLACE_SPECIAL || o->place.kind == PLACE_FD)
		err = open_special(o, as);
	else
		err = make_temporary(o, as);
	if (err)
		output_close(o, err);
	return err;
}

/* Renames the file to the place that a link referred to when it was opened. */
static int put_in_place(struct output *o)
{
	const char *why;
	int kept = place_keep_old(&o->place, &why);

	if (kept < 0)
		return fail(o, kept, why);
	if (renameat(AT_FDCWD, o->temporary, o->place.dir, o->place.name))
		return fail(o, -errno, NULL);
	message_warn("wrote %s%s", o->path, kept ? " (the previous file is renamed to .old)" : "");
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
			err = fail(o, cause ? -cause : -EIO, NULL);
	}
	if (o->temporary && !err)
		err = put_in_place(o);
	if (o->temporary && err)
		unlink(o->temporary);
	place_close(&o->place);
	free(o->temporary);
	free(o->path);
	*o = (struct output){.place.dir = -1, .fd = -1};
	return err;
}
