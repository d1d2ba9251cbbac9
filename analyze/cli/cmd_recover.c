/* SPDX-License-Identifier: BSD-2-Clause */
/* obana recover: copies the intact parts of a damaged archive unchanged into a new, complete
 * archive. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/json.h"
#include "format/place.h"
#include "format/text.h"
#include "analyze/cli/command.h"
#include "analyze/load/end_record.h"

struct opts {
	const char *output;
};

static int set_output(void *ctx, const struct option_def *def, const char *arg)
{
	((struct opts *)ctx)->output = arg;
	return 0;
}

static const struct option_def options[] = {
	{"output", 'o', ARG_REQUIRED, "FILE", "archive to write; - is stdout", set_output, 0},
	{0},
};

static const struct cli cli = {
	.program = "obana recover",
	.synopsis = "CUT.obz -o FIXED.obz",
	.summary = "copy the intact part of a damaged archive",
	.details = "Copies every intact chunk and debug member unchanged. The end record is "
		   "recomputed and marks the archive as recovered: stop_reason \"recovered\", "
		   "complete false. An existing FILE is not overwritten.",
	.options = options,
	.exit_status = cli_exit_status,
};

/* Totals of the copied chunks, and the number of chunks lost. */
static char *end_json(const struct tally *t, struct obz_reader *r)
{
	struct obz_damage d = obz_reader__damage(r);
	struct json_object *o = tally__json(t, r), *loss;
	uint64_t chunks = d.bad_chunks + d.lost_chunks;
	char *text;

	json_object_object_add(o, "complete", json_object_new_boolean(false));
	json_object_object_add(o, "stop_reason", json_object_new_string("recovered"));
	if (chunks) {
		loss = json_object_new_object();
		json_object_object_add(loss, "source", json_object_new_string("archive"));
		json_object_object_add(loss, "cause",
				       json_object_new_string("chunks damaged or missing"));
		json_object_object_add(loss, "count", json_object_new_uint64(chunks));
		json_object_array_add(json_get(o, "losses", json_type_array), loss);
	}
	text = strdup(json_object_to_json_string(o));
	json_object_put(o);
	return text;
}

/* Copies intact members and counts them in t and *copied. Damage is counted by the reader. */
static int copy_members(struct obz_reader *r, struct obz_writer *w, struct tally *t, size_t *copied)
{
	size_t cnt;
	const struct obz_member *m = obz_reader__members(r, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		int err;

		if (m[i].type != OBZ_CHUNK && m[i].type != OBZ_DEBUG)
			continue;
		/* chunks are checked by decoding them */
		err = m[i].type == OBZ_DEBUG ? obz_reader__check(r, &m[i]) : 0;
		if (!err)
			err = tally__add(t, r, &m[i]);
		if (err == -EBADMSG)
			continue;
		if (!err) {
			err = obz_writer__copy(w, r, &m[i]);
			if (err)
				message_error("%s", obz_writer__error(w));
		}
		if (err)
			return err;
		++*copied;
	}
	return 0;
}

static int copy_archive(struct obz_reader *r, int fd, const char *output)
{
	const char *header = obz_reader__header(r);
	struct obz_writer_opts wo = {
		.header_json = header ? header : "{\"beginning\":\"lost\"}",
		.uuid = obz_reader__uuid(r),
		.schema_json = obz_reader__schema(r),
	};
	struct obz_writer *w;
	struct tally *t;
	size_t copied = 0;
	char *end = NULL;
	int err;

	if (!*wo.uuid)
		wo.uuid = NULL; /* only debuginfo is left */
	err = obz_writer__new(&w, fd, &wo);
	if (err) {
		message_error("%s: %s", output, strerror(-err));
		close(fd);
		return err;
	}
	err = tally__new(&t);
	if (!err)
		err = copy_members(r, w, t, &copied);
	if (!err && !(end = end_json(t, r)))
		err = -ENOMEM;
	tally__free(t);
	if (err)
		obz_writer__close(w, NULL);
	else if ((err = obz_writer__close(w, end)))
		message_error("%s: %s", output, strerror(-err));
	free(end);
	if (!err)
		message_warn("%zu chunks and debug members recovered", copied);
	return err;
}

/* Creates a new file, or opens a special file as it is. */
static int open_output(struct place *p, const char *output)
{
	const char *why;
	int fd = place_find(p, strcmp(output, "-") ? output : "/dev/stdout", &why);

	if (!fd && (p->kind == PLACE_SPECIAL || p->kind == PLACE_FD))
		fd = place_open_special(p, 0, &why);
	else if (!fd) {
		fd = openat(p->dir, p->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		why = strerror(errno);
	}
	if (fd < 0)
		message_error("%s: %s", output, why);
	return fd;
}

static int recover(const char *input, const char *output)
{
	struct place place;
	struct obz_reader *r;
	struct obz_damage d;
	int fd, err = obz_reader__open(&r, input);

	if (err) {
		message_error("%s: %s", input, obz_reader__error(r));
		obz_reader__close(r);
		return EXIT_FAIL;
	}
	if (obz_reader__parts(r)) {
		message_error("%s: a merged archive; name one of its parts, as in %s#1", input,
			      input);
		obz_reader__close(r);
		return EXIT_FAIL;
	}
	fd = open_output(&place, output);
	if (fd < 0) {
		place_close(&place);
		obz_reader__close(r);
		return EXIT_FAIL;
	}
	err = copy_archive(r, fd, output);
	if (err && place.kind == PLACE_NEW)
		unlinkat(place.dir, place.name, 0);
	place_close(&place);
	d = obz_reader__damage(r);
	if (!err &&
	    (d.bad_chunks || d.lost_chunks || d.bad_members || d.refused || d.skipped_bytes))
		message_warn("not recovered: %" PRIu64 " damaged and %" PRIu64
			     " missing chunks, %" PRIu64 " other members, %" PRIu64 " bytes",
			     d.bad_chunks, d.lost_chunks, d.bad_members + d.refused,
			     d.skipped_bytes);
	obz_reader__close(r);
	return err ? EXIT_FAIL : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct opts o = {0};
	int rest, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (argc - rest != 1 || !o.output) {
		message_error("one archive and -o FILE are needed; see obana recover --help");
		return EXIT_USAGE;
	}
	if (!strcmp(o.output, "-") && isatty(STDOUT_FILENO)) {
		message_error("not writing an archive to a terminal");
		return EXIT_USAGE;
	}
	return recover(argv[rest], o.output);
}

const struct command cmd_recover_entry = {"recover", &cli, run};
