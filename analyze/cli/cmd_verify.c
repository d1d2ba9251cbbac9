/* SPDX-License-Identifier: BSD-2-Clause */
/* obana verify: checks every checksum and every column of every member, and reports what is damaged
 * and where. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/cli/command.h"
#include "format/archive.h"

struct opts {
	bool quiet;
};

static int set_quiet(void *ctx, const struct option_def *def, const char *arg)
{
	((struct opts *)ctx)->quiet = true;
	return 0;
}

static const struct option_def options[] = {
	{"quiet", 'q', ARG_NONE, NULL, "print nothing; only set the exit status", set_quiet, 0},
	{0},
};

static const struct cli cli = {
	.program = "obana verify",
	.synopsis = "ARCHIVE.obz ... [-q]",
	.summary = "verify checksums and columns",
	.details = "Prints one line per defect with its position in the file, and one per "
		   "archive. The exit status is 3 if anything is damaged or missing.",
	.options = options,
	.exit_status = cli_exit_status,
};

struct verify {
	const struct opts *opts;
	const char *path;
	uint64_t damages;
};

static void safe_line(const char *text)
{
	struct strbuf b = {0};

	strbuf_escape(&b, ESCAPE_TERMINAL, span_of(text));
	puts(b.p ? b.p : "");
	strbuf_fini(&b);
}

static void on_damage(void *arg, uint64_t offset, const char *member, const char *what)
{
	struct verify *v = arg;
	struct strbuf b = {0};

	v->damages++;
	strbuf_addf(&b, "%s: offset %" PRIu64 "%s%s: %s", v->path, offset, *member ? ": " : "",
		    member, what);
	if (!v->opts->quiet)
		safe_line(b.p ? b.p : "");
	strbuf_fini(&b);
}

static int verify(const struct opts *o, const char *path);

static int worse(int a, int b)
{
	return a == EXIT_FAIL || b == EXIT_OK ? a : b;
}

/* Verifies the parts of a merged archive and closes it. */
static int verify_parts(const struct opts *o, const char *path, struct obz_reader *r)
{
	int rc = EXIT_OK;

	for (size_t i = 1; i <= obz_reader__parts(r); i++) {
		char *part;

		if (asprintf(&part, "%s#%zu", path, i) < 0)
			return EXIT_FAIL;
		rc = worse(rc, verify(o, part));
		free(part);
	}
	obz_reader__close(r);
	return rc;
}

static int verify(const struct opts *o, const char *path)
{
	struct verify v = {o, path, 0};
	struct obz_reader *r;
	const struct obz_member *m;
	struct obz_damage d;
	struct strbuf b = {0};
	size_t cnt, chunks = 0;
	int err = obz_reader__open(&r, path);

	if (err) {
		message_error("%s: %s", path, obz_reader__error(r));
		obz_reader__close(r);
		return EXIT_FAIL;
	}
	if (obz_reader__parts(r))
		return verify_parts(o, path, r);
	obz_reader__on_damage(r, on_damage, &v);
	m = obz_reader__members(r, &cnt);
	for (size_t i = 0; i < cnt && (!err || err == -EBADMSG); i++) {
		err = obz_reader__check(r, &m[i]);
		chunks += m[i].type == OBZ_CHUNK;
	}
	d = obz_reader__damage(r);
	if (err && err != -EBADMSG)
		message_error("%s: %s", path, strerror(-err));
	else if (!o->quiet) {
		strbuf_addf(&b, "%s: %zu members, %zu of them chunks", path, cnt, chunks);
		if (!obz_reader__header(r))
			strbuf_addf(&b, ", no obz.json");
		if (d.cut)
			strbuf_addf(&b, ", cut: no obz.end.json");
		if (v.damages)
			strbuf_addf(&b, ", damaged in %" PRIu64 " place%s", v.damages,
				    v.damages == 1 ? "" : "s");
		else if (!d.cut)
			strbuf_addf(&b, ", whole");
		safe_line(b.p ? b.p : "");
	}
	strbuf_fini(&b);
	obz_reader__close(r);
	return err && err != -EBADMSG ? EXIT_FAIL : obz_damage_any(&d) ? EXIT_PARTIAL : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct opts o = {0};
	int rest, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL), rc = EXIT_OK;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (rest == argc) {
		message_error("no archive named; see obana verify --help");
		return EXIT_USAGE;
	}
	for (int i = rest; i < argc; i++) {
		rc = worse(rc, verify(&o, argv[i]));
	}
	if (fflush(stdout) || ferror(stdout)) {
		message_error("writing to stdout: %s", strerror(errno));
		return EXIT_FAIL;
	}
	return rc;
}

const struct command cmd_verify_entry = {"verify", &cli, run};
