/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * obana merge: combines several archives in one file without changing them. Captures keep their
 * uuids, hosts, clocks, labels and damage, and all commands read the file as they read the separate
 * archives. The file is a tar: FORMAT.md, section 8.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/cli/command.h"
#include "analyze/cli/output.h"
#include "analyze/load/captures.h"
#include "format/json.h"
#include "format/text.h"
#include "format/ustar.h"

#define PART_MAX 077777777777ull /* maximum size in a tar header */

struct opts {
	const char *output;
};

static int set_output(void *ctx, const struct option_def *def, const char *arg)
{
	((struct opts *)ctx)->output = arg;
	return 0;
}

static const struct option_def options[] = {
	{"output", 'o', ARG_REQUIRED, "FILE", "where to; - is stdout", set_output, 0},
	{0},
};

static const struct cli cli = {
	.program = "obana merge",
	.synopsis = "ARCHIVE.obz ... -o FILE.obz",
	.summary = "many archives into one",
	.details =
		"Any command reads the merged archive as it reads those it was made of; a single "
		"one of them is FILE.obz#N, counted from 1. They are in it as they were: `tar xf` "
		"takes them out again. Merged archives can be merged with others.",
	.options = options,
	.exit_status = cli_exit_status,
};

static int write_all(int fd, const void *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p = (const char *)p + n;
		len -= n;
	}
	return 0;
}

static int write_padding(int fd, uint64_t sz)
{
	static const char zeros[2 * USTAR_BLOCK];

	return write_all(fd, zeros, ustar_padded(sz) - sz);
}

static int write_header(int fd, const char *name, uint64_t sz)
{
	struct ustar_header h = {.type = '0', .sz = sz};
	uint8_t block[USTAR_BLOCK];

	snprintf(h.name, sizeof(h.name), "%s", name);
	ustar_header_put(&h, block);
	return write_all(fd, block, sizeof(block));
}

/* Writes obz.json: the required features, so that an older obana refuses the file, and the
 * positions of the parts. */
static int write_list(int fd, const struct captures *c)
{
	struct json_object *o = json_object_new_object(), *format = json_object_new_object();
	struct json_object *required = json_object_new_array(), *list = json_object_new_array();
	char *text;
	size_t len;
	int err = -ENOMEM;

	json_object_array_add(required, json_object_new_string("captures"));
	json_object_object_add(format, "major", json_object_new_int(1));
	json_object_object_add(format, "minor", json_object_new_int(0));
	json_object_object_add(format, "required", required);
	json_object_object_add(o, "format", format);
	for (size_t i = 0; i < c->cnt; i++) {
		struct json_object *part = json_object_new_object();

		json_object_object_add(part, "uuid", json_object_new_string(c->v[i].uuid));
		json_object_object_add(part, "host", json_object_new_string(c->v[i].host));
		json_object_object_add(part, "bytes",
				       json_object_new_uint64(obz_reader__size(c->v[i].reader)));
		json_object_array_add(list, part);
	}
	json_object_object_add(o, "captures", list);
	text = json_seal(o, &len);
	if (text) {
		err = write_header(fd, "obz.json", len);
		if (!err)
			err = write_all(fd, text, len);
		if (!err)
			err = write_padding(fd, len);
	}
	free(text);
	json_object_put(o);
	return err;
}

static int write_part(int fd, const struct capture *c, size_t number)
{
	enum { PIECE = 1 << 18 };
	uint64_t sz = obz_reader__size(c->reader);
	char *piece = malloc(PIECE), name[64];
	int err = piece ? 0 : -ENOMEM;

	snprintf(name, sizeof(name), "captures/%zu.obz", number);
	if (!err)
		err = write_header(fd, name, sz);
	for (uint64_t at = 0; at < sz && !err; at += PIECE) {
		size_t n = sz - at < PIECE ? sz - at : PIECE;

		err = obz_reader__raw(c->reader, at, piece, n);
		if (!err)
			err = write_all(fd, piece, n);
	}
	free(piece);
	return err ? err : write_padding(fd, sz);
}

static int write_merged(int fd, const struct captures *c)
{
	static const char end[2 * USTAR_BLOCK];
	int err = write_list(fd, c);

	for (size_t i = 0; i < c->cnt && !err; i++)
		err = write_part(fd, &c->v[i], i + 1);
	return err ? err : write_all(fd, end, sizeof(end));
}

static int merge(const char *path, const struct captures *c)
{
	struct output out;
	int err;

	for (size_t i = 0; i < c->cnt; i++)
		if (obz_reader__size(c->v[i].reader) > PART_MAX) {
			message_error("%s: larger than 8 GiB, more than tar can hold",
				      c->v[i].path);
			return -EFBIG;
		}
	err = output_open(&out, path, NULL, NULL, OUTPUT_ARCHIVE);
	if (err)
		return err;
	err = write_merged(out.fd, c);
	if (!err && fsync(out.fd) && errno != EINVAL && errno != EROFS)
		err = -errno;
	if (err)
		message_error("%s: %s", path, strerror(-err));
	close(out.fd);
	return output_close(&out, err);
}

static int run(int argc, char **argv)
{
	struct opts o = {0};
	struct captures c;
	int rest, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);
	bool damaged;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (rest == argc || !o.output) {
		message_error("archives and -o FILE are needed; see obana merge --help");
		return EXIT_USAGE;
	}
	err = captures__open(&c, argv + rest, argc - rest);
	if (err)
		return EXIT_FAIL;
	damaged = captures_damaged(&c);
	err = merge(o.output, &c);
	captures__close(&c);
	return err ? EXIT_FAIL : damaged ? EXIT_PARTIAL : EXIT_OK;
}

const struct command cmd_merge_entry = {"merge", &cli, run};
