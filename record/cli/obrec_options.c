/* SPDX-License-Identifier: BSD-2-Clause */
/* Option table of obrec. The setters are in options_value.c and options_probes.c; options of probes
 * are in the probes' files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "format/redact/redact_names.h"
#include "format/option_table.h"
#include "record/cli/probe_options.h"
#include "record/probe/attach.h"
#include "record/probe/probe.h"

#define AT(member) .data = offsetof(struct options, member)

/* Marks where the aliases of probe options are inserted. */
static int aliases_here(void *ctx, const struct option_def *def, const char *arg)
{
	return -EINVAL;
}

/* Words for completion, by make_words(). */
static char probe_words[16384], attach_words[4096];

static const struct option_def table[] = {
	{.help = "Targets"},
	{"pid", 'p', ARG_REQUIRED, "PID[,PID...]",
	 "record these processes with all their threads, and the children they fork later",
	 option_set_pid, 0},
	{"all", 'a', ARG_NONE, NULL, "record the whole system; the default without a target",
	 option_set_true, AT(record.target.all)},
	{"comm", 0, ARG_REQUIRED, "NAME",
	 "record processes whose name matches this glob pattern, including those that "
	 "start later",
	 option_set_string, AT(record.target.comm)},
	{"cgroup", 0, ARG_REQUIRED, "PATH",
	 "record processes in this cgroup (v1 or v2) and below, including those that "
	 "start later",
	 option_set_string, AT(record.target.cgroup)},
	{"no-inherit", 0, ARG_NONE, NULL, "do not follow the children of the targets",
	 option_set_false, AT(record.target.inherit)},
	{.help = "Probes and sampling"},
	{"events", 'e', ARG_REQUIRED, "PROBES",
	 "comma-separated list of probes (also by classic names: biolatency, or by set: @disk); +x and -x add "
	 "to and take from the default; x:opt=v,opt gives x options, up to the next probe; may be "
	 "repeated. An unavailable named probe is an error; unavailable defaults are skipped with a "
	 "warning",
	 option_set_events, 0, .values = probe_words, .list = true},
	{"list", 0, ARG_NONE, NULL,
	 "list the probes with their attach variants, and whether this kernel supports "
	 "them",
	 option_set_true, AT(list)},
	{"attach", 0, ARG_REQUIRED, "PROBE=VARIANT",
	 "attach a probe by this variant only (see --list); comma-separated, repeatable",
	 option_set_attach, 0, .values = attach_words, .list = true},
	{"duration", 'd', ARG_REQUIRED, "DURATION",
	 "stop after this time, as in 500ms 10s 5m 1h; default: on Ctrl-C, when COMMAND "
	 "exits, or when all targets have exited",
	 option_set_positive_duration, AT(record.duration_ns)},
	{"interval", 0, ARG_REQUIRED, "DURATION",
	 "aggregate identical samples per interval instead of storing the time of each; "
	 "for captures of hours",
	 option_set_duration, AT(record.interval_ns)},
	{.set = aliases_here},
	{"redact-names", 0, ARG_REQUIRED, "FILE",
	 "also mask the values of these names: header fields, parameters, form and JSON "
	 "fields, command-line options; one per line, * matches any characters, # starts "
	 "a comment",
	 option_set_redact_names, 0},
	{"no-tls", 0, ARG_NONE, NULL,
	 "do not capture plaintext of TLS connections; same as -e -tls", option_set_no_tls, 0},
	{.help = "Symbols"},
	{"debuginfo", 0, ARG_REQUIRED, "HOW",
	 "symbols to include: auto (default: DWARF of the functions that were hit), full, "
	 "symtab, none",
	 option_set_debuginfo, 0, .values = "auto, full, symtab, none"},
	{"exclude-buildids", 0, ARG_REQUIRED, "FILE",
	 "file of build-ids, one per line, whose symbols are not included", option_set_string,
	 AT(record.debuginfo.exclude_file)},
	{"debuginfo-cache", 0, ARG_REQUIRED, "DIR",
	 "cache symbols extracted as a whole (--debuginfo full or symtab) in this directory "
	 "for later captures", option_set_string,
	 AT(record.debuginfo.cache_dir)},
	{.help = "Output"},
	{"output", 'o', ARG_REQUIRED, "FILE",
	 "archive to write; - is stdout; default obrec-HOST-YYYYMMDD-HHMMSS.obz; an "
	 "existing FILE is renamed to FILE.old",
	 option_set_string, AT(output)},
	{"label", 0, ARG_REQUIRED, "K=V", "store this metadata in the archive; repeatable",
	 option_set_label, 0},
	{"label-env", 0, ARG_REQUIRED, "NAME",
	 "store this environment variable of each process as a label; repeatable",
	 option_set_label_env, 0},
	{.help = "Limits and behaviour"},
	{"max-size", 0, ARG_REQUIRED, "SIZE", "stop before the archive exceeds this size",
	 option_set_size, AT(max_sz)},
	{"max-mem", 0, ARG_REQUIRED, "SIZE",
	 "memory limit of obrec, its ring buffers and BPF maps (at least 64M; default: no "
	 "limit, maps of 256M); buffers are sized from it, unwind tables and symbols that "
	 "do not fit are skipped, and obrec stops cleanly when it is reached",
	 option_set_max_mem, 0},
	{"ring-size", 0, ARG_REQUIRED, "SIZE",
	 "size of the ring buffers of each CPU (one for events, one for payload), rounded "
	 "up to a power of two (default: derived from --max-mem); larger ones lose less "
	 "in bursts",
	 option_set_ring, 0},
	{"cpu-budget", 0, ARG_REQUIRED, "SHARE",
	 "CPU limit for recording and its BPF programs, in percent of one CPU, as in 5%; "
	 "above it samples and payload are throttled in recorded steps, and obana scales "
	 "by them (symbols are extracted at idle priority and do not count)",
	 option_set_budget, 0},
	{"btf", 0, ARG_REQUIRED, "FILE", "BTF of the running kernel, for kernels without their own",
	 option_set_string, AT(record.btf)},
	{"ready-fd", 0, ARG_REQUIRED, "N",
	 "write a byte to file descriptor N once all probes are attached", option_set_ready_fd, 0},
	{"stats", 0, ARG_NONE, NULL, "measure the run time of each BPF program", option_set_true,
	 AT(record.stats)},
	{"quiet", 'q', ARG_NONE, NULL, "print errors only", option_set_quiet, 0},
	{"verbose", 'v', ARG_NONE, NULL, "print more detail", option_set_verbose, 0},
	{0},
};

enum { TABLE_MAX = 128 };
static struct option_def whole[TABLE_MAX + 1]; /* the last one is the terminator */

static void add_words(char *to, size_t sz, const char *fmt, ...)
{
	size_t len = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to + len, sz - len, fmt, ap);
	va_end(ap);
}

/* "block:stack", "block:min=", "l7:direction=in". */
static void add_option_words(const char *probe, const struct probe_option *o)
{
	const char *at = o->values, *word;
	size_t len;

	if (!at)
		add_words(probe_words, sizeof(probe_words), ",%s:%s%s", probe, o->name,
			  o->type == PROBE_FLAG ? "" : "=");
	while (at && (word = option_next_word(&at, &len)))
		add_words(probe_words, sizeof(probe_words), ",%s:%s=%.*s", probe, o->name, (int)len,
			  word);
}

/* Probes, their aliases, sets and options; and their attach variants. */
static void make_words(void)
{
	strcpy(probe_words, "@all");
	for (size_t i = 0; probes[i]; i++) {
		const struct probe *p = probes[i];

		if (!*p->name)
			continue;
		add_words(probe_words, sizeof(probe_words), ",%s,%s", p->name,
			  probe_infos[i].aliases);
		for (const struct probe_option *o = p->options; o && o->name; o++)
			add_option_words(p->name, o);
		for (const struct variant *v = p->variants; v && v->name; v++)
			add_words(attach_words, sizeof(attach_words), "%s%s=%s",
				  *attach_words ? "," : "", p->name, v->name);
	}
}

static void make_whole(void)
{
	size_t cnt = 0;

	for (const struct option_def *d = table; d < table + sizeof(table) / sizeof(*table) - 1;
	     d++)
		if (d->set == aliases_here)
			cnt += probe_option_aliases(whole + cnt, TABLE_MAX - cnt);
		else if (cnt < TABLE_MAX)
			whole[cnt++] = *d;
}

static const struct cli cli = {
	.program = "obrec",
	.synopsis = "[-d DURATION] [-p PID[,PID...] | -a | --comm NAME | --cgroup PATH] [-e "
		    "PROBES] [-o FILE]\n"
		    "[options] [-- COMMAND ARG...]",
	.summary = "record profiles and network traffic of processes with eBPF into one archive",
	.details =
		"obrec records on-CPU and off-CPU stacks, network traffic and the requests in it. "
		"It "
		"writes one compressed archive that contains everything the analysis needs: stacks "
		"unwound in the kernel, mappings, and symbols keyed by build-id. Copy the archive "
		"off the host and analyse it with obana(1); neither the host nor its binaries are "
		"needed again.\n\n"
		"With -- COMMAND, obrec starts COMMAND, records it from its first instruction, "
		"stops "
		"when it exits, and exits with its status. If the capture ends first (-d, Ctrl-C), "
		"COMMAND gets SIGTERM. With -a, the whole system is recorded while COMMAND "
		"runs.\n\n"
		"Ctrl-C stops the capture cleanly; a second Ctrl-C skips what is left to do.\n\n"
		"obrec needs root, or CAP_BPF and CAP_PERFMON; see CAPABILITIES in obrec(1).",
	.options = whole,
	.exit_status = obrec_exit_status,
	.sections = obrec_manual,
};

static int check(struct options *o, char **argv, int rest, bool after_dashes)
{
	struct target_spec *t = &o->record.target;
	int choices;

	if (argv[rest]) {
		o->command = &argv[rest];
	} else if (after_dashes) {
		message_error("no COMMAND after --");
		return -EINVAL;
	}
	/* With -a, COMMAND only bounds the capture, as with perf. */
	choices = !!t->pid_cnt + t->all + !!t->comm + !!t->cgroup + (o->command && !t->all);
	if (choices > 1) {
		message_error("-p, -a, --comm, --cgroup and COMMAND exclude each other; only -a "
			      "goes with COMMAND");
		return -EINVAL;
	}
	if (!choices)
		t->all = true;
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	bool after_dashes = false;
	int rest = argc, err;

	*o = (struct options){
		.record = {.probes = options_default_probes()},
		.ready_fd = -1,
	};
	o->record.target.inherit = true;
	o->record.target.pids = o->pids;
	o->record.target.label_env = o->label_env;
	make_words();
	make_whole();
	err = cli_parse(&cli, o, argc, argv, false, &rest, &after_dashes);
	if (!err)
		err = check(o, argv, rest, after_dashes);
	return err ? err : options_check_probes(o);
}
