/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of obrec's options; what they do is in options_value.c, options_probes.c and
 * options_traffic.c. */
#include <stddef.h>

#include "format/text.h"
#include "format/redact/redact_names.h"
#include "record/cli/options_set.h"

enum { DEFAULT_FREQ = 99 };
#define DEFAULT_OFFCPU_PERIOD_NS 10000000ULL

#define AT(member) .data = offsetof(struct options, member)

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
	 option_set_events, 0},
	{"list", 0, ARG_NONE, NULL,
	 "list the probes with their attach variants, and whether this kernel supports "
	 "them",
	 option_set_true, AT(list)},
	{"attach", 0, ARG_REQUIRED, "PROBE=VARIANT",
	 "attach a probe by this variant only (see --list); comma-separated, repeatable",
	 option_set_attach, 0},
	{"duration", 'd', ARG_REQUIRED, "DURATION",
	 "stop after this time, as in 500ms 10s 5m 1h; default: on Ctrl-C, when COMMAND "
	 "exits, or when all targets have exited",
	 option_set_positive_duration, AT(record.duration_ns)},
	{"freq", 'F', ARG_REQUIRED, "HZ", "samples per second and CPU (default 99)",
	 option_set_freq, 0},
	{"interval", 0, ARG_REQUIRED, "DURATION",
	 "aggregate identical samples per interval instead of storing the time of each; "
	 "for captures of hours",
	 option_set_duration, AT(record.interval_ns)},
	{"offcpu-period", 0, ARG_REQUIRED, "DURATION",
	 "off-CPU sampling period: take one sample per DURATION of accumulated blocked "
	 "time of a thread (default 10ms; 0s: every wait)",
	 option_set_duration, AT(record.offcpu_period_ns)},
	{"offcpu-min", 0, ARG_REQUIRED, "DURATION", "ignore waits shorter than this",
	 option_set_duration, AT(record.offcpu_min_ns)},
	{"offcpu-max", 0, ARG_REQUIRED, "DURATION", "ignore waits longer than this",
	 option_set_duration, AT(record.offcpu_max_ns)},
	{.help = "Traffic"},
	{"payload", 0, ARG_REQUIRED, "HOW",
	 "bytes captured per call: none, head (default: 512 bytes, and up to 16 KiB of "
	 "calls that carry many messages: pipelines, HTTP/2), or a byte count; for HTTP/2 "
	 "also frame headers and header blocks beyond the limit",
	 option_set_payload, 0},
	{"l7", 0, ARG_REQUIRED, "NAME[,NAME...]",
	 "capture the payload of these protocols only, as far as the kernel can detect "
	 "them (http: HTTP/1 and HTTP/2; undetected ones: the first 4 KiB in each "
	 "direction); bytes and calls are counted for all",
	 option_set_l7, 0},
	{"sample", 0, ARG_REQUIRED, "SHARE",
	 "capture the payload of this share of connections, as in 10%; byte counts stay "
	 "complete",
	 option_set_sample, 0},
	{"direction", 0, ARG_REQUIRED, "WHICH",
	 "capture the payload of requests served (in), made (out), or both (default)",
	 option_set_direction, 0},
	{"redact", 0, ARG_OPTIONAL, "sql",
	 "mask secrets before anything is written (default): credentials, cookies, "
	 "logins, and values with names such as password, token, api_key; with sql also "
	 "literals in SQL statements",
	 option_set_redact, 0},
	{"redact-names", 0, ARG_REQUIRED, "FILE",
	 "also mask the values of these names: header fields, parameters, form and JSON "
	 "fields, command-line options; one per line, * matches any characters, # starts "
	 "a comment",
	 option_set_redact_names, 0},
	{"no-tls", 0, ARG_NONE, NULL,
	 "do not capture plaintext of TLS connections; same as -e -tls", option_set_no_tls, 0},
	{"payload-unknown", 0, ARG_NONE, NULL,
	 "also capture payload of unrecognized protocols, whose secrets cannot be masked; "
	 "bytes and calls are always counted",
	 option_set_true, AT(record.keep_unnamed)},
	{"no-redact", 0, ARG_NONE, NULL, "do not mask secrets in payload", option_set_false,
	 AT(record.redact)},
	{.help = "Symbols"},
	{"debuginfo", 0, ARG_REQUIRED, "HOW",
	 "symbols to include: auto (default: DWARF of the functions that were hit), full, "
	 "symtab, none",
	 option_set_debuginfo, 0},
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
		"COMMAND gets SIGTERM.\n\n"
		"Ctrl-C stops the capture cleanly; a second Ctrl-C skips what is left to do.\n\n"
		"obrec needs root, or CAP_BPF and CAP_PERFMON; see CAPABILITIES in obrec(1).",
	.options = table,
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
	choices = !!t->pid_cnt + t->all + !!t->comm + !!t->cgroup + !!o->command;
	if (choices > 1) {
		message_error("-p, -a, --comm, --cgroup and COMMAND exclude each other");
		return -EINVAL;
	}
	if (!choices)
		t->all = true;
	if (o->record.offcpu_max_ns && o->record.offcpu_max_ns < o->record.offcpu_min_ns) {
		message_error("--offcpu-max is less than --offcpu-min");
		return -EINVAL;
	}
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	bool after_dashes = false;
	int rest = argc, err;

	*o = (struct options){
		.record = {.probes = options_default_probes(),
			   .payload_max = DEFAULT_PAYLOAD,
			   .payload_many = PAYLOAD_MANY,
			   .sample_per_64k = 65536,
			   .direction = 3,
			   .redact = true,
			   .freq = DEFAULT_FREQ,
			   .offcpu_period_ns = DEFAULT_OFFCPU_PERIOD_NS},
		.ready_fd = -1,
	};
	o->record.target.inherit = true;
	o->record.target.pids = o->pids;
	o->record.target.label_env = o->label_env;
	err = cli_parse(&cli, o, argc, argv, false, &rest, &after_dashes);
	if (!err)
		err = check(o, argv, rest, after_dashes);
	return err ? err : options_check_probes(o);
}
