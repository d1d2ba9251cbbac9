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
	{.help = "Whom to record"},
	{"pid", 'p', ARG_REQUIRED, "PID[,PID...]",
	 "these processes, all their threads, and the children they fork later", option_set_pid, 0},
	{"all", 'a', ARG_NONE, NULL, "the whole system; the default when no target is given",
	 option_set_true, AT(record.target.all)},
	{"comm", 0, ARG_REQUIRED, "NAME",
	 "processes of this name (a glob pattern), those that start later included",
	 option_set_string, AT(record.target.comm)},
	{"cgroup", 0, ARG_REQUIRED, "PATH",
	 "processes in this cgroup (v1 or v2) and those below it, those that start later included",
	 option_set_string, AT(record.target.cgroup)},
	{"no-inherit", 0, ARG_NONE, NULL, "leave out the children of the targets", option_set_false,
	 AT(record.target.inherit)},
	{.help = "What to record"},
	{"events", 'e', ARG_REQUIRED, "PROBES",
	 "comma list of probes; +x and -x add to and take from the default; those named must be "
	 "available, of the default the others may be left out with a warning",
	 option_set_events, 0},
	{"list", 0, ARG_NONE, NULL,
	 "print each probe, whether this kernel has what it needs, and its ways to attach",
	 option_set_true, AT(list)},
	{"attach", 0, ARG_REQUIRED, "PROBE=VARIANT",
	 "attach a probe in this way (--list shows them) and no other; a comma list, may be "
	 "repeated",
	 option_set_attach, 0},
	{"duration", 'd', ARG_REQUIRED, "DURATION",
	 "how long: 500ms 10s 5m 1h; default: until Ctrl-C, COMMAND's exit, or the exit of every "
	 "target",
	 option_set_positive_duration, AT(record.duration_ns)},
	{"freq", 'F', ARG_REQUIRED, "HZ", "samples per second and CPU (default 99)",
	 option_set_freq, 0},
	{"interval", 0, ARG_REQUIRED, "DURATION",
	 "count equal samples over this long instead of keeping the time of each; for captures of "
	 "hours",
	 option_set_duration, AT(record.interval_ns)},
	{"offcpu-period", 0, ARG_REQUIRED, "DURATION",
	 "a thread is recorded each time its waits add up to this (default 10ms; 0s: every wait)",
	 option_set_duration, AT(record.offcpu_period_ns)},
	{"offcpu-min", 0, ARG_REQUIRED, "DURATION", "leave out waits shorter than this",
	 option_set_duration, AT(record.offcpu_min_ns)},
	{"offcpu-max", 0, ARG_REQUIRED, "DURATION", "leave out waits longer than this",
	 option_set_duration, AT(record.offcpu_max_ns)},
	{.help = "Traffic"},
	{"payload", 0, ARG_REQUIRED, "HOW",
	 "what is kept of each call: none, head (default: 512 bytes, and up to 16 KiB of calls "
	 "that "
	 "carry many messages: pipelines, HTTP/2), or a byte count; of HTTP/2 also the heads of "
	 "frames and header blocks behind that",
	 option_set_payload, 0},
	{"l7", 0, ARG_REQUIRED, "NAME[,NAME...]",
	 "keep the payload of these protocols only, as far as the kernel can tell (http: HTTP/1 "
	 "and "
	 "HTTP/2; what is not known keeps its first 4 KiB each way); bytes and calls are counted "
	 "of all",
	 option_set_l7, 0},
	{"sample", 0, ARG_REQUIRED, "SHARE",
	 "keep the payload of this share of connections, as in 10%; byte counts stay complete",
	 option_set_sample, 0},
	{"direction", 0, ARG_REQUIRED, "WHICH",
	 "requests whose payload is kept: in (served), out (made), both (default)",
	 option_set_direction, 0},
	{"redact", 0, ARG_OPTIONAL, "sql",
	 "mask secrets before anything is written (default): credentials and cookies, values "
	 "with names such as password, token, api_key, the logins of protocols; with sql, literals "
	 "in statements as well",
	 option_set_redact, 0},
	{"redact-names", 0, ARG_REQUIRED, "FILE",
	 "mask the values of these names as well: header fields, parameters, fields of forms and "
	 "JSON, options; one a line, * stands for any characters, # begins a comment",
	 option_set_redact_names, 0},
	{"no-tls", 0, ARG_NONE, NULL, "no clear text of TLS connections; the same as -e -tls",
	 option_set_no_tls, 0},
	{"payload-unknown", 0, ARG_NONE, NULL,
	 "also write payload of unrecognized protocols, whose secrets cannot be masked; bytes and "
	 "calls are counted in any case",
	 option_set_true, AT(record.keep_unnamed)},
	{"no-redact", 0, ARG_NONE, NULL, "write payload as it was", option_set_false,
	 AT(record.redact)},
	{.help = "Symbols"},
	{"debuginfo", 0, ARG_REQUIRED, "HOW",
	 "symbols to carry: auto (default: DWARF within bounds), full, symtab, none",
	 option_set_debuginfo, 0},
	{"exclude-buildids", 0, ARG_REQUIRED, "FILE",
	 "build-ids, one a line, whose symbols stay on the host", option_set_string,
	 AT(record.debuginfo.exclude_file)},
	{"debuginfo-cache", 0, ARG_REQUIRED, "DIR",
	 "keep extracted symbols here for later captures", option_set_string,
	 AT(record.debuginfo.cache_dir)},
	{.help = "Where to"},
	{"output", 'o', ARG_REQUIRED, "FILE",
	 "default obrec-HOST-YYYYMMDD-HHMMSS.obz; - is stdout; an existing FILE is kept as "
	 "FILE.old",
	 option_set_string, AT(output)},
	{"label", 0, ARG_REQUIRED, "K=V", "metadata stored in the archive; may be repeated",
	 option_set_label, 0},
	{"label-env", 0, ARG_REQUIRED, "NAME",
	 "record this environment variable of each process as a label; may be repeated",
	 option_set_label_env, 0},
	{.help = "Bounds and behaviour"},
	{"max-size", 0, ARG_REQUIRED, "SIZE", "stop before the archive grows over this",
	 option_set_size, AT(max_sz)},
	{"max-mem", 0, ARG_REQUIRED, "SIZE",
	 "of obrec, its rings and its tables in the kernel (at least 64M; default: tables of "
	 "256M): sizes follow from it, unwind tables and symbols that take more than it leaves "
	 "are left out, and the recording stops in order before it takes more",
	 option_set_max_mem, 0},
	{"ring-size", 0, ARG_REQUIRED, "SIZE",
	 "bytes of each CPU's ring, and of its ring for payload, rounded up to a power of two "
	 "(default: by --max-mem); larger ones lose less in bursts",
	 option_set_ring, 0},
	{"cpu-budget", 0, ARG_REQUIRED, "SHARE",
	 "of one CPU, as in 5%: what obrec's recording and its BPF programs may use; above it "
	 "samples "
	 "and payload are thinned out in recorded steps, which figures are scaled by (symbols are "
	 "extracted beside it, in time that nothing else wants)",
	 option_set_budget, 0},
	{"btf", 0, ARG_REQUIRED, "FILE", "BTF for a kernel without its own", option_set_string,
	 AT(record.btf)},
	{"ready-fd", 0, ARG_REQUIRED, "N", "write a byte there once every probe is attached",
	 option_set_ready_fd, 0},
	{"stats", 0, ARG_NONE, NULL, "count what each BPF program costs", option_set_true,
	 AT(record.stats)},
	{"quiet", 'q', ARG_NONE, NULL, "only errors", option_set_quiet, 0},
	{"verbose", 'v', ARG_NONE, NULL, "say more", option_set_verbose, 0},
	{0},
};

static const struct cli cli = {
	.program = "obrec",
	.synopsis = "[-d DURATION] [-p PID[,PID...] | -a | --comm NAME | --cgroup PATH] [-e "
		    "PROBES] [-o FILE]\n"
		    "[options] [-- COMMAND ARG...]",
	.summary = "record what processes do into one archive, to be analysed elsewhere by obana",
	.details = "obrec watches the chosen processes with eBPF and writes one compressed archive "
		   "that holds all the "
		   "analysis needs: stacks unwound in the kernel, what was mapped, symbols keyed "
		   "by build-id. Copy it off "
		   "the host and read it with obana; neither the host nor its binaries are needed "
		   "again.\n\n"
		   "With -- COMMAND, it is started and recorded from its first instruction; obrec "
		   "stops when it ends and exits "
		   "with its status. A COMMAND that outlives the recording (-d, Ctrl-C) is ended "
		   "with SIGTERM.\n\n"
		   "Ctrl-C stops the recording in order; a second one hurries what is left.\n\n"
		   "obrec needs root, or the capabilities CAP_BPF and CAP_PERFMON; CAP_SYS_PTRACE "
		   "for processes of other users, CAP_DAC_READ_SEARCH and CAP_CHECKPOINT_RESTORE "
		   "for their files, CAP_SYSLOG for kernel symbols under kernel.kptr_restrict=1, "
		   "before Linux 5.11 CAP_SYS_RESOURCE (or ulimit -l unlimited). Where the kernel "
		   "has kernel.perf_event_paranoid above 2 (Debian, Ubuntu), CAP_PERFMON counts up "
		   "to 2 only. "
		   "Once everything is attached it gives up what it does not need any more.",
	.options = table,
	.exit_status = "0 complete, 1 failure, 2 usage, 3 usable but cut short (disk full), 4 "
		       "missing privilege or kernel "
		       "support; with COMMAND its status, 128+N when signal N ended it or "
		       "interrupted obrec before the capture began.",
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
