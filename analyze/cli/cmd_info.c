/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * obana info: describes an archive. For a complete one it reads only the first and last member,
 * whatever the size. For a truncated one the chunks are decoded and counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "format/json.h"
#include "format/text.h"
#include "analyze/cli/command.h"
#include "analyze/load/end_record.h"

struct opts {
	bool json;
};

static int set_json(void *ctx, const struct option_def *def, const char *arg)
{
	((struct opts *)ctx)->json = true;
	return 0;
}

static const struct option_def options[] = {
	{"json", 0, ARG_NONE, NULL, "print one JSON object per archive, one per line", set_json, 0},
	{0},
};

static const struct cli cli = {
	.program = "obana info",
	.synopsis = "ARCHIVE.obz ... [--json]",
	.summary = "show host, time span, probes, sizes, losses, completeness",
	.details = "Reads only the headers, whatever the size of the archive; for a truncated "
		   "archive the totals are counted from its chunks.",
	.options = options,
	.exit_status = cli_exit_status,
};

/* First and last member of an archive. If the last is lost, `end` is counted from the chunks. */
struct info {
	const char *path;
	struct obz_reader *reader;
	struct json_object *header, *end;
	bool counted;
	struct obz_damage damage;
};

static int count_chunks(struct info *in)
{
	size_t cnt;
	const struct obz_member *m = obz_reader__members(in->reader, &cnt);
	struct tally *t;
	int err = tally__new(&t);

	for (size_t i = 0; i < cnt && !err; i++) {
		err = tally__add(t, in->reader, &m[i]);
		if (err == -EBADMSG)
			err = 0; /* already counted as damage */
	}
	if (!err)
		in->end = tally__json(t, in->reader);
	tally__free(t);
	in->counted = true;
	return err;
}

static int info_open(struct info *in, const char *path)
{
	const char *text;
	int err;

	*in = (struct info){.path = path};
	err = obz_reader__open(&in->reader, path);
	if (err) {
		message_error("%s: %s", path, obz_reader__error(in->reader));
		return err;
	}
	text = obz_reader__header(in->reader);
	in->header = text ? json_parse(text, strlen(text)) : NULL;
	/* counting scans the whole file and may find the end */
	if (!obz_reader__end(in->reader) && !obz_reader__parts(in->reader)) {
		err = count_chunks(in);
		if (err)
			message_error("%s: %s", path, strerror(-err));
	}
	text = obz_reader__end(in->reader);
	if (!err && text) {
		json_object_put(in->end);
		in->end = json_parse(text, strlen(text));
		in->counted = false;
	}
	in->damage = obz_reader__damage(in->reader);
	return err;
}

static void info_fini(struct info *in)
{
	json_object_put(in->header);
	json_object_put(in->end);
	obz_reader__close(in->reader);
}

static bool is_complete(const struct info *in)
{
	struct json_object *complete = json_get(in->end, "complete", json_type_boolean);

	return complete && json_object_get_boolean(complete);
}

/* ---- text ---- */

static void line(const char *name, const char *value)
{
	struct strbuf b = {0};

	if (!*value)
		return;
	strbuf_escape(&b, ESCAPE_TERMINAL, span_of(value));
	printf("%-10s %s\n", name, b.p ? b.p : "");
	strbuf_fini(&b);
}

/* Prints "a, b" for an array, "k=v, k=v" for an object. */
static void list_line(const char *name, struct json_object *o, const char *between)
{
	struct strbuf b = {0};

	if (json_object_is_type(o, json_type_array))
		for (size_t i = 0; i < json_object_array_length(o); i++)
			strbuf_addf(&b, "%s%s", b.len ? between : "",
				    json_object_get_string(json_object_array_get_idx(o, i)));
	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, key, value) strbuf_addf(
			&b, "%s%s=%s", b.len ? between : "", key, json_object_get_string(value));
	}
	line(name, b.p ? b.p : "");
	strbuf_fini(&b);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Formats an option's value by the unit in its name's suffix. Returns the length of the name
 * without the suffix. */
static size_t option_text(const char *name, struct json_object *value, char text[24])
{
	static const char *const bytes[] = {"_size", "payload_max", "payload_many"};
	uint64_t n = json_object_get_uint64(value);
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++)
		if (ends_with(name, bytes[i])) {
			format_bytes(text, n);
			return len;
		}
	if (ends_with(name, "_ns")) {
		format_duration(text, n);
		return len - strlen("_ns");
	}
	if (ends_with(name, "_per_64k")) {
		snprintf(text, 24, "%.4g %%", 100.0 * n / 65536);
		return len - strlen("_per_64k");
	}
	snprintf(text, 24, "%" PRIu64 "%s", n, strcmp(name, "freq") ? "" : " Hz");
	return len;
}

/* Prints the options in use: "name 6.00 s, name 512 B". A value of 0 means not used. */
static void options_line(struct json_object *o)
{
	struct strbuf b = {0};

	if (!o)
		return;
	json_object_object_foreach(o, name, value)
	{
		const char *comma = b.len ? ", " : "";
		char text[24];
		int len;

		if (!json_object_is_type(value, json_type_int)) {
			strbuf_addf(&b, "%s%s %s", comma, name, json_object_get_string(value));
		} else if (json_object_get_uint64(value)) {
			len = option_text(name, value, text);
			strbuf_addf(&b, "%s%.*s %s", comma, len, name, text);
		}
	}
	line("options", b.p ? b.p : "");
	strbuf_fini(&b);
}

static void damage_text(struct strbuf *b, const struct obz_damage *d)
{
	const struct {
		uint64_t cnt;
		const char *what;
	} kinds[] = {
		{d->bad_chunks, "damaged chunks"},   {d->lost_chunks, "missing chunks"},
		{d->bad_members, "damaged members"}, {d->skipped_bytes, "unaccounted bytes"},
		{d->refused, "invalid members"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].cnt)
			strbuf_addf(b, ", %" PRIu64 " %s", kinds[i].cnt, kinds[i].what);
}

static void print_state(const struct info *in)
{
	struct strbuf b = {0};
	char size[24];

	strbuf_addf(&b, "%s, %s", in->path, format_bytes(size, obz_reader__size(in->reader)));
	if (in->damage.cut)
		strbuf_addf(&b, ", TRUNCATED: its end is missing; totals are counted from the "
				"remaining chunks");
	else
		strbuf_addf(&b, is_complete(in) ? ", complete"
						: ", INCOMPLETE: recovered from a damaged archive");
	damage_text(&b, &in->damage);
	line("archive", b.p ? b.p : "");
	strbuf_fini(&b);
}

static void print_time(const struct info *in)
{
	uint64_t started = json_u64(in->header, "started_at_ns");
	time_t seconds = started / 1000000000;
	struct strbuf b = {0};
	char text[64] = "", duration[24];
	struct tm tm;

	if (started && gmtime_r(&seconds, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		line("started", text);
	strbuf_addf(&b, "%s", format_duration(duration, json_u64(in->end, "duration_ns")));
	if (*json_string(in->end, "stop_reason") && is_complete(in))
		strbuf_addf(&b, ", stopped by %s", json_string(in->end, "stop_reason"));
	line("duration", b.p ? b.p : "");
	strbuf_fini(&b);
}

static void print_host(const struct info *in)
{
	struct strbuf b = {0};
	uint64_t cpus = json_u64(in->header, "cpus");

	if (!in->header) {
		line("host", "unknown: the start of the archive is missing");
		return;
	}
	strbuf_addf(&b, "%s, Linux %s %s", json_string(in->header, "host"),
		    json_string(in->header, "kernel"), json_string(in->header, "arch"));
	if (cpus)
		strbuf_addf(&b, ", %" PRIu64 " CPU%s", cpus, cpus == 1 ? "" : "s");
	line("host", b.p ? b.p : "");
	strbuf_fini(&b);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* Prints counts by name under a heading, as shares of `whole` if that is not 0. */
static void print_counts(const char *heading, struct json_object *o, uint64_t whole, bool bytes)
{
	if (!o || !json_object_object_length(o))
		return;
	printf("\n%s\n", heading);
	json_object_object_foreach(o, key, value)
	{
		uint64_t n = json_u64(o, key);
		struct strbuf b = {0};
		char text[24];

		(void)value;
		strbuf_escape(&b, ESCAPE_TERMINAL, span_of(key));
		if (bytes)
			format_bytes(text, n);
		else
			snprintf(text, sizeof(text), "%" PRIu64, n);
		printf("  %-40s %12s", b.p ? b.p : "", text);
		if (whole)
			printf("  %6.2f %%", share(n, whole));
		putchar('\n');
		strbuf_fini(&b);
	}
}

static void print_stacks(struct json_object *stacks)
{
	if (!stacks)
		return;
	json_object_object_foreach(stacks, kind, o)
	{
		uint64_t total = json_u64(o, "total");
		struct strbuf heading = {0};

		if (!total || !json_object_is_type(o, json_type_object))
			continue;
		strbuf_addf(&heading, "user stacks of %" PRIu64 " ", total);
		strbuf_escape(&heading, ESCAPE_TERMINAL, span_of(kind));
		strbuf_addf(&heading, " samples");
		json_object_object_del(o, "total");
		print_counts(heading.p ? heading.p : "", o, total, false);
		strbuf_fini(&heading);
	}
}

/* Kind of symbols at the leaves of user stacks. The recorder counts them, so no chunk has to be
 * read. */
static void print_symbols(struct json_object *symbols)
{
	uint64_t total = symbols ? json_u64(symbols, "samples") : 0;
	struct json_object *list = symbols ? json_get(symbols, "binaries", json_type_array) : NULL;
	size_t cnt = list ? json_object_array_length(list) : 0;

	if (!total || !cnt)
		return;
	printf("\nno symbols for %" PRIu64 " of %" PRIu64 " samples (%.2f %%)\n",
	       json_u64(symbols, "without"), total, share(json_u64(symbols, "without"), total));
	for (size_t i = 0; i < cnt; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		struct strbuf safe = {0};

		strbuf_escape(&safe, ESCAPE_TERMINAL, span_of(json_string(o, "path")));
		printf("  %-40s %12" PRIu64 "  %6.2f %%\n", safe.p ? safe.p : "",
		       json_u64(o, "samples"), share(json_u64(o, "samples"), total));
		strbuf_fini(&safe);
	}
	if (json_u64(symbols, "count") > cnt)
		printf("  (%" PRIu64 " more)\n", json_u64(symbols, "count") - cnt);
}

static void print_losses(struct json_object *losses)
{
	size_t cnt = losses ? json_object_array_length(losses) : 0;

	printf("\nlosses%s\n", cnt ? "" : "\n  none");
	for (size_t i = 0; i < cnt; i++) {
		struct json_object *o = json_object_array_get_idx(losses, i);
		struct strbuf b = {0}, safe = {0};

		strbuf_addf(&b, "%s: %s", json_string(o, "source"), json_string(o, "cause"));
		strbuf_escape(&safe, ESCAPE_TERMINAL, span_of(b.p));
		printf("  %-40s %12" PRIu64 "\n", safe.p ? safe.p : "", json_u64(o, "count"));
		strbuf_fini(&safe);
		strbuf_fini(&b);
	}
}

static void print_programs(struct json_object *programs)
{
	size_t cnt = programs ? json_object_array_length(programs) : 0;

	if (cnt)
		printf("\n%-42s %12s  %10s  %10s\n", "BPF programs", "runs", "time", "a run");
	for (size_t i = 0; i < cnt; i++) {
		struct json_object *o = json_object_array_get_idx(programs, i);
		uint64_t runs = json_u64(o, "runs"), ns = json_u64(o, "run_ns");
		struct strbuf b = {0};
		char total[24], each[24];

		strbuf_escape(&b, ESCAPE_TERMINAL, span_of(json_string(o, "name")));
		printf("  %-40s %12" PRIu64 "  %10s  %10s\n", b.p ? b.p : "", runs,
		       format_duration(total, ns), format_duration(each, runs ? ns / runs : 0));
		strbuf_fini(&b);
	}
}

static void print_unnamed(struct json_object *of)
{
	struct strbuf b = {0};
	char bytes[24], calls[24];

	if (!of)
		return;
	strbuf_addf(
		&b, "payload of %s calls, %s: unknown protocols",
		format_count(calls, json_object_get_uint64(json_get(of, "calls", json_type_int))),
		format_bytes(bytes, json_object_get_uint64(json_get(of, "bytes", json_type_int))));
	line("not captured", b.p ? b.p : "");
	strbuf_fini(&b);
}

static void print_text(const struct info *in)
{
	struct json_object *sizes = json_get(in->end, "sizes", json_type_object);

	print_state(in);
	line("uuid", obz_reader__uuid(in->reader));
	print_host(in);
	line("obrec", json_string(in->header, "version"));
	list_line("command", json_get(in->header, "argv", json_type_array), " ");
	print_time(in);
	list_line("probes", json_get(in->header, "probes", json_type_array), ", ");
	list_line("attached", json_get(in->header, "attach", json_type_object), ", ");
	options_line(json_get(in->header, "options", json_type_object));
	list_line("labels", json_get(in->header, "labels", json_type_object), ", ");
	print_counts("size by stream", sizes, obz_reader__size(in->reader), true);
	print_counts("records", json_get(in->end, "records", json_type_object), 0, false);
	print_stacks(json_get(in->end, "stacks", json_type_object));
	print_symbols(json_get(in->end, "symbols", json_type_object));
	print_unnamed(json_get(in->end, "payload_unnamed", json_type_object));
	print_losses(json_get(in->end, "losses", json_type_array));
	print_programs(json_get(in->end, "programs", json_type_array));
}

/* ---- JSON ---- */

static void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void print_json(const struct info *in)
{
	struct json_object *o = json_object_new_object(), *damage = json_object_new_object();
	struct strbuf path = {0}, text = {0};

	strbuf_escape(&path, ESCAPE_TERMINAL,
		      span_of(in->path)); /* JSON is UTF-8, file names may not be */
	json_object_object_add(o, "archive", json_object_new_string(path.p ? path.p : ""));
	strbuf_fini(&path);
	add_u64(o, "size", obz_reader__size(in->reader));
	json_object_object_add(o, "complete", json_object_new_boolean(is_complete(in)));
	json_object_object_add(o, "cut", json_object_new_boolean(in->damage.cut));
	json_object_object_add(o, "counted", json_object_new_boolean(in->counted));
	add_u64(damage, "bad_chunks", in->damage.bad_chunks);
	add_u64(damage, "lost_chunks", in->damage.lost_chunks);
	add_u64(damage, "bad_members", in->damage.bad_members);
	add_u64(damage, "skipped_bytes", in->damage.skipped_bytes);
	add_u64(damage, "refused", in->damage.refused);
	json_object_object_add(o, "damage", damage);
	json_object_object_add(o, "header", json_object_get(in->header));
	json_object_object_add(o, "end", json_object_get(in->end));
	/* json-c copies bytes that are not ASCII unchanged */
	strbuf_escape(&text, ESCAPE_JSON_TEXT,
		      span_of(json_object_to_json_string_ext(
			      o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)));
	puts(text.p ? text.p : "");
	strbuf_fini(&text);
	json_object_put(o);
}

/* The parts of a merged archive, one by one. Returns the exit code so far. */
static int show(const struct opts *o, const char *path, bool more, int rc)
{
	struct info in;
	size_t parts;

	if (info_open(&in, path)) {
		info_fini(&in);
		return EXIT_FAIL;
	}
	parts = obz_reader__parts(in.reader);
	for (size_t i = 1; i <= parts; i++) {
		char *part;

		if (asprintf(&part, "%s#%zu", path, i) < 0)
			break;
		rc = show(o, part, more || i > 1, rc);
		free(part);
	}
	if (!parts) {
		if (more && !o->json)
			putchar('\n');
		(o->json ? print_json : print_text)(&in);
		if (obz_damage_any(&in.damage) && rc == EXIT_OK)
			rc = EXIT_PARTIAL;
	}
	info_fini(&in);
	return rc;
}

static int run(int argc, char **argv)
{
	struct opts o = {0};
	int rest, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL), rc = EXIT_OK;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (rest == argc) {
		message_error("no archive named; see obana info --help");
		return EXIT_USAGE;
	}
	for (int i = rest; i < argc; i++)
		rc = show(&o, argv[i], i > rest, rc);
	if (fflush(stdout) || ferror(stdout)) {
		message_error("writing to stdout: %s", strerror(errno));
		return EXIT_FAIL;
	}
	return rc;
}

const struct command cmd_info_entry = {"info", &cli, run};
