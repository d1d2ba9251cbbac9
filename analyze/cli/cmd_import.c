/* SPDX-License-Identifier: BSD-2-Clause */
/* obana import: converts a packet capture to an archive, as if obrec had recorded its servers. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/load/analysis.h"
#include "format/archive.h"
#include "format/json.h"
#include "format/redact/redact_names.h"
#include "format/text.h"
#include "analyze/cli/command.h"
#include "analyze/cli/common_options.h"
#include "analyze/cli/output.h"
#include "analyze/pcap/pcap_import.h"
#include "version.h"

struct opts {
	const char *output;
	uint64_t payload;
	bool redact, redact_sql;
	char **argv;
	int argc;
};

static int set_output(void *ctx, const struct option_def *def, const char *arg)
{
	((struct opts *)ctx)->output = arg;
	return 0;
}

static int set_payload(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	if (!strcmp(arg, "none"))
		o->payload = 0;
	else if (!strcmp(arg, "all"))
		o->payload = UINT32_MAX;
	else if (parse_size(arg, &o->payload) || o->payload > UINT32_MAX)
		return option_error(def, "'%s' is not all, none, or a number of bytes", arg);
	return 0;
}

static int set_redact(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	if (arg && strcmp(arg, "sql"))
		return option_error(def, "'%s' is not sql", arg);
	o->redact = true;
	o->redact_sql |= arg != NULL;
	return 0;
}

static int set_no_redact(void *ctx, const struct option_def *def, const char *arg)
{
	((struct opts *)ctx)->redact = false;
	return 0;
}

static const struct option_def options[] = {
	{"output", 'o', ARG_REQUIRED, "FILE",
	 "archive to write (default: FILE.obz beside the input); - is stdout", set_output, 0},
	{"payload", 0, ARG_REQUIRED, "BYTES",
	 "payload bytes stored per segment or datagram: all (default), none, or a count",
	 set_payload, 0},
	{"redact", 0, ARG_OPTIONAL, "sql",
	 "mask secrets (default): credentials, cookies, logins, and values with names such as "
	 "password, token, api_key; with sql also literals in SQL statements",
	 set_redact, 0},
	{"redact-names", 0, ARG_REQUIRED, "FILE",
	 "also mask the values of these names; one per line, * matches any characters, # starts "
	 "a comment",
	 option_set_redact_names, 0},
	{"no-redact", 0, ARG_NONE, NULL, "do not mask secrets in payload", set_no_redact, 0},
	{0},
};

static const struct cli cli = {
	.program = "obana import",
	.synopsis = "FILE.pcap [-o FILE.obz] [options]",
	.summary = "convert a packet capture to an archive",
	.details = "Reads pcap and pcapng files of tcpdump, Wireshark and others, also compressed "
		   "with gzip, zstd or xz; - is stdin. TCP streams and IP fragments are "
		   "reassembled, and every command works on the archive as on one of obrec. A "
		   "packet capture has no processes: each connection is shown from the side of its "
		   "server, and all servers are one process with the name of the file. Connections "
		   "inside a tunnel (GRE, ERSPAN, IP-in-IP, PPPoE, MPLS, VXLAN, Geneve, GTP-U) are "
		   "read; their process has the name of the tunnel. Where the capture lacks the "
		   "beginning of a connection, its content tells which end is the server, else its "
		   "ports. What is left out is counted by kind. Exit status 3: the capture is "
		   "truncated; what could be read is in the archive.",
	.options = options,
	.exit_status = cli_exit_status,
};

/* The archive being written. */
struct target {
	const struct opts *opts;
	const char *host;
	struct obz_writer *w;
	int fd;
	const char *path; /* as given by the user, for errors */
};

static void add_string(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value));
}

static void add_u64(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static void add_list(struct json_object *o, const char *key, char *const *v, int cnt)
{
	struct json_object *list = json_object_new_array();

	for (int i = 0; i < cnt; i++)
		json_object_array_add(list, json_object_new_string(v[i]));
	json_object_object_add(o, key, list);
}

/* Packets have only real time, so the archive's monotonic clock is set to real time. */
static struct json_object *header_json(const struct target *t, uint64_t first_ns)
{
	char *const probes[] = {"l4", "l7"};
	struct json_object *o = json_object_new_object(), *clock = json_object_new_object(),
			   *options = json_object_new_object();

	add_string(o, "version", OBREC_VERSION);
	add_string(o, "host", t->host);
	add_string(o, "kernel", "");
	add_string(o, "arch", "");
	add_u64(o, "cpus", 0);
	add_u64(clock, "monotonic_ns", first_ns);
	add_u64(clock, "realtime_ns", first_ns);
	add_u64(clock, "boottime_ns", first_ns);
	json_object_object_add(o, "clock", clock);
	add_u64(o, "started_at_ns", first_ns);
	add_list(o, "argv", t->opts->argv, t->opts->argc);
	add_list(o, "probes", probes, 2);
	if (t->opts->payload != UINT32_MAX)
		add_u64(options, "payload", t->opts->payload);
	json_object_object_add(o, "options", options);
	json_object_object_add(o, "labels", json_object_new_object());
	return o;
}

static int on_begin(void *ctx, uint64_t first_ns)
{
	struct target *t = ctx;
	struct json_object *header = header_json(t, first_ns);
	const struct obz_writer_opts wo = {.header_json = json_object_to_json_string(header)};
	int err = obz_writer__new(&t->w, t->fd, &wo);

	json_object_put(header);
	if (err) {
		t->w = NULL;
		message_error("%s: %s", t->path, strerror(-err));
	} else {
		t->fd = -1; /* owned by the writer now */
	}
	return err;
}

static int on_put(void *ctx, enum rec_kind kind, const void *rec)
{
	struct target *t = ctx;
	int err = obz_writer__put(t->w, kind, rec);

	if (err)
		message_error("%s: %s", t->path, obz_writer__error(t->w));
	return err;
}

static void add_loss(struct json_object *list, const char *cause, uint64_t count)
{
	struct json_object *loss = json_object_new_object();

	if (count)
		message_warn("%" PRIu64 " %s", count, cause);
	add_string(loss, "source", "pcap");
	add_string(loss, "cause", cause);
	add_u64(loss, "count", count);
	if (!count || json_object_array_add(list, loss))
		json_object_put(loss);
}

static char *end_json(const struct import_counts *c, const char *stop_reason)
{
	struct json_object *o = json_object_new_object(), *losses = json_object_new_array();
	char *text;

	add_string(o, "stop_reason", stop_reason);
	add_u64(o, "duration_ns", c->last_ns - c->first_ns);
#define X(name, cause) add_loss(losses, cause, c->name);
	IMPORT_LOSSES(X)
#undef X
	json_object_object_add(o, "losses", losses);
	text = strdup(json_object_to_json_string(o));
	json_object_put(o);
	return text;
}

static int finish(struct target *t, struct import *im, const char *stop_reason)
{
	char *end;
	int err = import__finish(im);

	if (err)
		return err;
	end = end_json(import__counts(im), stop_reason);
	err = obz_writer__close(t->w, end);
	t->w = NULL;
	free(end);
	if (err)
		message_error("%s: %s", t->path, strerror(-err));
	return err;
}

static void summary(const struct import_counts *c)
{
	char packets[24], connections[24], flows[24];

	for (uint32_t i = 0; i < c->left_out.cnt; i++) {
		const struct left_out_row *row = &c->left_out.rows[i];
		char text[48];

		message_warn("left out: %" PRIu64 " %s", row->cnt,
			     left_out_text(&row->kind, text, sizeof(text)));
	}
	message_warn("%s packets: %s TCP connections, %s datagram flows",
		     format_count(packets, c->packets), format_count(connections, c->connections),
		     format_count(flows, c->flows));
}

/* *cut: the capture is truncated; what it contains was written. */
static int convert(struct target *t, struct pcap_file *p, const char *input, bool *cut)
{
	const struct import_sink sink = {on_begin, on_put, t};
	const struct import_opts o = {t->host, t->opts->payload, import_limits, t->opts->redact,
				      t->opts->redact_sql};
	struct import *im;
	int err = import__new(&im, &o, &sink);

	if (err) {
		message_error("import: %s", strerror(-err));
		return err;
	}
	err = import__read(im, p);
	*cut = err == -EBADMSG;
	if (*cut)
		message_error("%s: %s", input, pcap_file__error(p));
	if (!err || *cut)
		err = finish(t, im, *cut ? "capture file truncated" : "end of capture file");
	if (!err)
		summary(import__counts(im));
	if (t->w)
		obz_writer__close(t->w, NULL);
	import__free(im);
	return err;
}

static struct pcap_file *open_capture(const char *input)
{
	char text[256];
	FILE *f = strcmp(input, "-") ? fopen(input, "rbe") : fdopen(dup(STDIN_FILENO), "rb");
	struct stat st;
	struct pcap_file *p;

	if (f && !fstat(fileno(f), &st) && S_ISDIR(st.st_mode))
		errno = EISDIR;
	if (!f || S_ISDIR(st.st_mode)) {
		message_error("%s: %s", input, strerror(errno));
		if (f)
			fclose(f);
		return NULL;
	}
	if (!pcap_file__open(&p, f, text, sizeof(text)))
		return p;
	message_error("%s: %s", input, text);
	return NULL;
}

/* File name of the input without directories. */
static const char *base_name(const char *input)
{
	const char *slash = strrchr(input, '/');

	return !strcmp(input, "-") ? "stdin" : slash && slash[1] ? slash + 1 : input;
}

static int import(const struct opts *o, const char *input)
{
	bool cut = false;
	struct target t = {.opts = o, .host = base_name(input), .fd = -1, .path = o->output};
	struct output out;
	struct pcap_file *p = open_capture(input);
	int err;

	if (!p)
		return EXIT_FAIL;
	err = output_open(&out, o->output, input, ".obz", OUTPUT_ARCHIVE);
	if (!err) {
		t.path = out.path;
		t.fd = out.fd;
		err = convert(&t, p, input, &cut);
		if (t.fd >= 0)
			close(t.fd);
		err = output_close(&out, err);
	}
	pcap_file__free(p);
	return err ? EXIT_FAIL : cut ? EXIT_PARTIAL : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct opts o = {.payload = UINT32_MAX, .redact = true, .argc = argc + 1};
	int rest, code, err;

	/* Copied before parsing reorders the operands. */
	o.argv = malloc((argc + 1) * sizeof(*o.argv));
	if (!o.argv)
		return EXIT_FAIL;
	o.argv[0] = (char *)"obana";
	memcpy(o.argv + 1, argv, argc * sizeof(*o.argv));
	err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);
	if (err) {
		code = exit_code(err);
	} else if (argc - rest != 1) {
		message_error("import: one capture file is needed; see obana import --help");
		code = EXIT_USAGE;
	} else if (o.output && !strcmp(o.output, "-") && isatty(STDOUT_FILENO)) {
		message_error("import: not writing an archive to a terminal");
		code = EXIT_USAGE;
	} else {
		code = import(&o, argv[rest]);
	}
	free(o.argv);
	return code;
}

const struct command cmd_import_entry = {"import", &cli, run};
