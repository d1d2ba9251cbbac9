/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 200 */
/*
 * Runs the commands on a hostile archive: any JSON at both ends, any records between, complete or
 * truncated. There must be no crash or leak, and the output must be well-formed: text without
 * control characters, JSON, pages and images with only their own elements.
 *
 * Input: the command, flags, then header and end (each with a length of two bytes); with SCHEMA,
 * edits of the schema: their number, and for each an offset (two bytes) and the byte to store
 * there; then records as in row_bytes.h. Text that is not a JSON object is stored in the member
 * unchanged.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/cli/command.h"
#include "format/archive.h"
#include "format/record.h"
#include "format/text.h"
#include "../unit/row_bytes.h"
#include "markup.h"

enum { RAW_HEADER = 1, RAW_END = 2, CUT = 4, FLUSH_OFTEN = 8, SCHEMA = 16, ROWS_MAX = 3000 };

enum output { TEXT, TEXT_TABS, TEXT_CSV, JSON, PAGE, PICTURE, SCRIPTED, BINARY, ARCHIVE };

/* PATH is replaced by the archive's path, OTHER by that of another one. */
static const char PATH[] = "PATH", OTHER[] = "OTHER";

static const struct {
	const struct command *command;
	const char *args[6];
	enum output output;
} runs[] = {
	{&cmd_info_entry, {PATH}, TEXT},
	{&cmd_info_entry, {"--json", PATH}, JSON},
	{&cmd_report_entry, {"--limit=3", PATH}, TEXT},
	{&cmd_report_entry, {"--html=-", PATH}, PAGE},
	{&cmd_traffic_entry, {PATH}, TEXT},
	{&cmd_traffic_entry, {"--interval=1s", PATH}, TEXT},
	{&cmd_traffic_entry, {"--rare", PATH}, TEXT},
	{&cmd_traffic_entry, {"--csv", PATH}, TEXT_CSV},
	{&cmd_traffic_entry, {"--json", PATH}, JSON},
	{&cmd_messages_entry, {PATH}, TEXT},
	{&cmd_messages_entry, {"--csv", PATH}, TEXT_CSV},
	{&cmd_messages_entry, {"--json", PATH}, JSON},
	{&cmd_topology_entry, {PATH}, TEXT},
	{&cmd_topology_entry, {"--svg", PATH}, PICTURE},
	{&cmd_topology_entry, {"--json", PATH}, JSON},
	{&cmd_topology_entry, {"--dot", "--depth=2", PATH}, TEXT_TABS},
	{&cmd_flamegraph_entry, {"-o-", "--by=process,thread", PATH}, SCRIPTED},
	{&cmd_export_entry, {"prometheus", PATH, "-o-"}, TEXT},
	{&cmd_export_entry, {"pprof", PATH, "-o-"}, BINARY},
	{&cmd_export_entry, {"speedscope", PATH, "-o-"}, JSON},
	{&cmd_query_entry, {"SELECT * FROM hot_function", PATH, "--json"}, JSON},
	{&cmd_query_entry, {"SELECT * FROM capture, loss", PATH, "--csv"}, TEXT_CSV},
	{&cmd_query_entry, {"SELECT * FROM hot_process, label", PATH, "--box"}, TEXT},
	{&cmd_verify_entry, {PATH}, TEXT},
	{&cmd_recover_entry, {PATH, "-o-"}, ARCHIVE},
	{&cmd_diff_entry, {OTHER, PATH, "-o-"}, SCRIPTED},
	{&cmd_diff_entry, {PATH, OTHER, "--csv"}, TEXT_CSV},
	{&cmd_diff_entry, {PATH, OTHER, "--endpoints"}, TEXT},
	{&cmd_show_entry, {"block-latency", PATH, "--interval=1s"}, TEXT},
	{&cmd_show_entry, {"runq-time", PATH}, TEXT},
	{&cmd_show_entry, {"opens", PATH, "--json"}, JSON},
	{&cmd_query_entry, {"SELECT * FROM event", PATH, "--json"}, JSON},
	{&cmd_schema_entry, {PATH}, TEXT},
	{&cmd_export_entry, {"json", PATH, "-o-"}, JSON},
	{&cmd_show_entry, {"open-time", PATH}, TEXT},
	{&cmd_show_entry, {"functions", PATH}, TEXT},
	{&cmd_show_entry, {"services", PATH, "--csv"}, TEXT_CSV},
};

enum { RUNS = sizeof(runs) / sizeof(*runs) };

/* ---- the archive ---- */

static const char own_text[] = "{\"host\":\"h\",\"started_at_ns\":1700000000000000000,"
			       "\"stop_reason\":\"duration\",\"duration_ns\":5000000000}";

/* Overwrites the first bytes of a member's text. */
static void put_raw(int fd, const char *name, struct span text)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char block[512], number[13] = "";

	for (off_t at = 0; at + 512 <= end;) {
		size_t sz;

		if (pread(fd, block, sizeof(block), at) != sizeof(block))
			abort();
		memcpy(number, block + 124, 12);
		sz = strtoull(number, NULL, 8);
		if (!strcmp(block, name)) {
			if (pwrite(fd, text.p, text.len < sz ? text.len : sz, at + 512) < 0)
				abort();
			return;
		}
		at += 512 + (sz + 511) / 512 * 512;
	}
}

/* Changes letters, so that an event kind has a different name, stream, fields or units. */
static char *edited_schema(struct bytes *b)
{
	char *schema = schema_text(NULL);
	size_t len = strlen(schema), cnt = take(b, 1) % 32;

	while (cnt--) {
		size_t at = take(b, 2) % len;
		char to = take(b, 1);

		if (isalnum((unsigned char)schema[at]) && to > ' ' && to != '"' && to != '\\' &&
		    to < 127)
			schema[at] = to;
	}
	return schema;
}

static struct obz_writer *begin(int fd, const char *header, const char *uuid, const char *schema)
{
	struct obz_writer_opts opts = {.header_json = header, .uuid = uuid, .schema_json = schema};
	struct obz_writer *w;

	return obz_writer__new(&w, fd, &opts) ? NULL : w;
}

static void put_rows(struct obz_writer *w, struct bytes *b, bool often)
{
	struct row r;

	for (int i = 0; i < ROWS_MAX && take_row(b, &r); i++) {
		if (obz_writer__put(w, r.kind, &r.process))
			abort();
		if (often && i % 16 == 15)
			obz_writer__flush(w);
	}
}

static struct span take_end(struct bytes *b)
{
	return take_bytes(b, take(b, 2));
}

/* Writes the archive to an empty file. */
static void make_archive(int fd, const char *uuid, unsigned flags, struct bytes *b)
{
	struct span header = take_end(b), end = take_end(b);
	char *first = strndup(header.p, header.len), *last = strndup(end.p, end.len);
	char *schema = flags & SCHEMA ? edited_schema(b) : NULL;
	struct obz_writer *w = flags & RAW_HEADER ? NULL : begin(dup(fd), first, uuid, schema);
	bool plain_header = w, plain_end = !(flags & RAW_END);

	if (!w)
		w = begin(dup(fd), own_text, uuid, NULL);
	if (!w)
		abort();
	put_rows(w, b, flags & FLUSH_OFTEN);
	if (obz_writer__close(w, flags & CUT ? NULL : plain_end ? last : own_text))
		plain_end = false;
	if (!plain_header)
		put_raw(fd, "obz.json", header);
	if (!plain_end && !(flags & CUT))
		put_raw(fd, "obz.end.json", end);
	free(first);
	free(last);
	free(schema);
}

/* ---- the command ---- */

/* Checks that the archive written to stdout is complete. */
static void check_archive(void)
{
	struct obz_reader *r;
	struct obz_damage d;

	if (obz_reader__open(&r, "/proc/self/fd/1"))
		markup_fail("what was recovered cannot be read", "", "");
	d = obz_reader__damage(r);
	if (d.cut)
		markup_fail("what was recovered is cut", "", "");
	obz_reader__close(r);
}

static void check(enum output kind, const char *text, size_t len)
{
	switch (kind) {
	case TEXT:
		check_text(text, len, "\n");
		break;
	case TEXT_TABS:
		check_text(text, len, "\n\t");
		break;
	case TEXT_CSV:
		check_text(text, len, "\n\r\t");
		break;
	case JSON:
		check_json(text, len);
		break;
	case PAGE:
		check_markup(text, len, len ? 2 : 0);
		break;
	case PICTURE:
		check_markup(text, len, 0);
		break;
	case SCRIPTED:
		check_markup(text, len, len ? 1 : 0);
		break;
	case BINARY:
		break;
	case ARCHIVE:
		check_archive();
	}
}

static void empty(int fd)
{
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
		abort();
}

/* Checks the messages on stderr. */
static void check_messages(void)
{
	static char text[1 << 16];
	ssize_t n = pread(STDERR_FILENO, text, sizeof(text), 0);

	if (n > 0 && n < (ssize_t)sizeof(text))
		check_text(text, n, "\n");
	empty(STDERR_FILENO);
}

static char archive_path[32], other_path[32];

static void run(unsigned which)
{
	char *argv[8] = {(char *)runs[which].command->name}, *text;
	FILE *terminal = stdout;
	int argc = 1, code;
	size_t len;

	for (; argc <= 6 && runs[which].args[argc - 1]; argc++) {
		const char *arg = runs[which].args[argc - 1];

		argv[argc] = arg == PATH ? archive_path : arg == OTHER ? other_path : (char *)arg;
	}
	empty(STDOUT_FILENO);
	stdout = open_memstream(&text, &len);
	code = runs[which].command->run(argc, argv);
	fclose(stdout);
	stdout = terminal;
	if (code == EXIT_USAGE)
		markup_fail("a command is called in a wrong way", argv[0],
			    argv[0] + strlen(argv[0]));
	if (code == EXIT_OK || code == EXIT_PARTIAL)
		check(runs[which].output, text, len);
	free(text);
	check_messages();
}

/* Captures the commands' messages on stderr; keeps those of the fuzzer. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char mask[] = "-close_fd_mask=2";
	char **longer = calloc(*argc + 2, sizeof(*longer));

	markup_report = fdopen(dup(STDERR_FILENO), "w");
	memcpy(longer, *argv, *argc * sizeof(*longer));
	longer[(*argc)++] = mask;
	*argv = longer;
	unsetenv("HOME");
	unsetenv("XDG_CACHE_HOME");
	setenv("TZ", "UTC", 1);
	message_init("obana", 0);
	return 0;
}

static int make_file(const char *name, char path[32])
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/* Writes an archive with a process, a thread, a stack and a sample. */
static void make_other(void)
{
	static const uint8_t rows[] = {0, 0, 0,	 0, 1, 1, 1, 1, 1, 1, 2,  2, 2, 2, 2, 1, 3, 1, 1,
				       1, 6, 16, 1, 2, 1, 5, 1, 6, 0, 17, 1, 1, 1, 1, 0, 5, 10};
	struct bytes b = {rows, sizeof(rows)};

	make_archive(make_file("other", other_path), "10112233-4455-4677-8899-aabbccddeeff",
		     RAW_END, &b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct bytes b = {data, size};
	unsigned which = take(&b, 1), flags = take(&b, 1);

	if (fd < 0) {
		fd = make_file("archive", archive_path);
		dup2(memfd_create("messages", MFD_CLOEXEC), STDERR_FILENO);
		dup2(memfd_create("output", MFD_CLOEXEC), STDOUT_FILENO);
		make_other();
	}
	empty(fd);
	make_archive(fd, "00112233-4455-4677-8899-aabbccddeeff", flags, &b);
	run(which % RUNS);
	return 0;
}
