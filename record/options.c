/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../format/option.h"
#include "../bpf/net.h"
#include "../format/text.h"
#include "attach.h"
#include "memory.h"
#include "options.h"

enum { DEFAULT_PAYLOAD = 512, PAYLOAD_MANY = 16384, DEFAULT_FREQ = 99, MAX_FREQ = 20000 };
#define DEFAULT_OFFCPU_PERIOD_NS 10000000ULL

static const struct {
	const char *name;
	bool by_default;
} probes[] = {
#define PROBE(name, by_default, doc) {#name, by_default},
#include "probes.def"
#undef PROBE
};
#define PROBE_CNT (sizeof(probes) / sizeof(probes[0]))

static uint64_t default_probes(void)
{
	uint64_t set = 0;

	for (size_t i = 0; i < PROBE_CNT; i++)
		set |= (uint64_t)probes[i].by_default << i;
	return set;
}

void options_each_probe(uint64_t set, void (*fn)(void *ctx, const char *name), void *ctx)
{
	for (size_t i = 0; i < PROBE_CNT; i++)
		if (set >> i & 1)
			fn(ctx, probes[i].name);
}

/* Calls fn(word) for each part of a comma list; an empty part is an error (-EINVAL). */
static int each_word(const char *list, int (*fn)(void *ctx, const char *word, size_t len),
		     void *ctx)
{
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		int err = len ? fn(ctx, p, len) : -EINVAL;

		if (err)
			return err;
		p += len;
		if (!*p)
			return 0;
	}
}

static int add_pid(void *ctx, const char *word, size_t len)
{
	struct options *o = ctx;
	char buf[16];
	uint64_t pid;

	if (len >= sizeof(buf) || o->record.target.pid_cnt == OPTIONS_MAX_PIDS)
		return -EINVAL;
	memcpy(buf, word, len);
	buf[len] = 0;
	if (parse_u64(buf, &pid) || !pid || pid > INT32_MAX)
		return -EINVAL;
	o->pids[o->record.target.pid_cnt++] = pid;
	return 0;
}

enum { RING_MIN = 64 << 10, RING_MAX = 64 << 20 };

static int set_pid(void *ctx, const struct option_def *def, const char *arg)
{
	if (each_word(arg, add_pid, ctx))
		return option_error(def, "'%s' is not a list of at most %d process ids", arg,
				    OPTIONS_MAX_PIDS);
	return 0;
}

static uint64_t probe_bit(const char *name)
{
	for (size_t i = 0; i < PROBE_CNT; i++)
		if (!strcmp(probes[i].name, name))
			return 1ULL << i;
	return 0;
}

/* The first word without sign replaces the default set; +x and -x change what is there. */
struct probe_list {
	uint64_t set, named;
	bool replaced;
};

static int add_probe(void *ctx, const char *word, size_t len)
{
	struct probe_list *list = ctx;
	char sign = *word == '+' || *word == '-' ? *word : 0;

	word += !!sign;
	len -= !!sign;
	for (size_t i = 0; i < PROBE_CNT; i++) {
		if (strlen(probes[i].name) != len || memcmp(probes[i].name, word, len))
			continue;
		if (!sign && !list->replaced) {
			list->replaced = true;
			list->set = 0;
		}
		if (sign == '-') {
			list->set &= ~(1ULL << i);
		} else {
			list->set |= 1ULL << i;
			list->named |= 1ULL << i;
		}
		return 0;
	}
	return -EINVAL;
}

static int set_events(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	struct probe_list list = {.set = o->record.probes, .named = o->record.required};

	if (each_word(arg, add_probe, &list))
		return option_error(def, "'%s' names an unknown probe; obrec --list shows them",
				    arg);
	if (!list.set)
		return option_error(def, "'%s' leaves no probe", arg);
	/* Clear text is payload, payload belongs to connections. Who leaves out payload means both.
	 */
	if (list.set & probe_bit("tls") && !(list.set & probe_bit("l7"))) {
		if (list.named & probe_bit("tls"))
			list.set |= probe_bit("l7");
		else
			list.set &= ~probe_bit("tls");
	}
	if (list.set & probe_bit("l7"))
		list.set |= probe_bit("l4");
	o->record.probes = list.set;
	o->record.required = list.named & list.set;
	return 0;
}

static int set_no_tls(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	o->record.probes &= ~probe_bit("tls");
	o->record.required &= ~probe_bit("tls");
	return 0;
}

/* Numbers with units: def->data is the field's offset in struct options. */
static void *field(void *ctx, const struct option_def *def)
{
	return (char *)ctx + def->data;
}

static int set_duration(void *ctx, const struct option_def *def, const char *arg)
{
	if (parse_duration_ns(arg, field(ctx, def)))
		return option_error(
			def, "'%s' is not a duration; a unit is required, as in 500ms 10s 5m 1h",
			arg);
	return 0;
}

static int set_positive_duration(void *ctx, const struct option_def *def, const char *arg)
{
	int err = set_duration(ctx, def, arg);

	if (!err && !*(uint64_t *)field(ctx, def))
		return option_error(def, "must be longer than 0");
	return err;
}

static int set_size(void *ctx, const struct option_def *def, const char *arg)
{
	if (parse_size(arg, field(ctx, def)) || !*(uint64_t *)field(ctx, def))
		return option_error(def, "'%s' is not a size, as in 500K 64M 2G", arg);
	return 0;
}

static int set_max_mem(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (parse_size(arg, &o->record.max_mem) || o->record.max_mem < MEMORY_MIN)
		return option_error(def, "'%s' is not a size from %lluM, as in 128M", arg,
				    MEMORY_MIN >> 20);
	o->record.bound_mem = true;
	return 0;
}

static int set_ring(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	uint64_t size;

	if (parse_size(arg, &size) || size < RING_MIN || size > RING_MAX)
		return option_error(def, "'%s' is not a size from 64K to 64M", arg);
	for (o->record.ring_sz = RING_MIN; o->record.ring_sz < size;)
		o->record.ring_sz *= 2;
	return 0;
}

static int set_string(void *ctx, const struct option_def *def, const char *arg)
{
	if (!*arg)
		return option_error(def, "must not be empty");
	*(const char **)field(ctx, def) = arg;
	return 0;
}

static int set_true(void *ctx, const struct option_def *def, const char *arg)
{
	*(bool *)field(ctx, def) = true;
	return 0;
}

static int set_false(void *ctx, const struct option_def *def, const char *arg)
{
	*(bool *)field(ctx, def) = false;
	return 0;
}

static int set_freq(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	uint64_t v;

	if (parse_u64(arg, &v) || !v || v > MAX_FREQ)
		return option_error(def, "'%s' is not a number of samples per second from 1 to %d",
				    arg, MAX_FREQ);
	o->record.freq = v;
	return 0;
}

static int set_ready_fd(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	uint64_t v;

	if (parse_u64(arg, &v) || v > INT32_MAX)
		return option_error(def, "'%s' is not a file descriptor", arg);
	o->ready_fd = v;
	return 0;
}

static int set_debuginfo(void *ctx, const struct option_def *def, const char *arg)
{
	static const char *const names[] = {
		[DEBUGINFO_AUTO] = "auto",
		[DEBUGINFO_FULL] = "full",
		[DEBUGINFO_SYMTAB] = "symtab",
		[DEBUGINFO_NONE] = "none",
	};
	struct options *o = ctx;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arg, names[i])) {
			o->record.debuginfo.mode = i;
			return 0;
		}
	return option_error(def, "'%s' is not one of auto, full, symtab, none", arg);
}

static int set_label(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (!strchr(arg, '=') || *arg == '=')
		return option_error(def, "'%s' is not KEY=VALUE", arg);
	if (o->label_cnt == OPTIONS_MAX_LABELS)
		return option_error(def, "more than %d labels", OPTIONS_MAX_LABELS);
	o->labels[o->label_cnt++] = arg;
	return 0;
}

static int set_label_env(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (!*arg || strchr(arg, '='))
		return option_error(def, "'%s' is not the name of an environment variable", arg);
	if (o->record.target.label_env_cnt == OPTIONS_MAX_LABELS)
		return option_error(def, "more than %d names", OPTIONS_MAX_LABELS);
	o->label_env[o->record.target.label_env_cnt++] = arg;
	return 0;
}

struct attach_words {
	unsigned char *forced;
	char why[512];
};

static int add_attach(void *ctx, const char *word, size_t len)
{
	struct attach_words *a = ctx;

	return attach_parse(a->forced, word, len, a->why, sizeof(a->why));
}

static int set_attach(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	struct attach_words a = {.forced = o->record.attach, .why = "an empty word in the list"};

	if (each_word(arg, add_attach, &a))
		return option_error(def, "%s", a.why);
	return 0;
}

static int set_quiet(void *ctx, const struct option_def *def, const char *arg)
{
	((struct options *)ctx)->verbosity = -1;
	return 0;
}

static int set_verbose(void *ctx, const struct option_def *def, const char *arg)
{
	((struct options *)ctx)->verbosity = 1;
	return 0;
}

#define AT(member) .data = offsetof(struct options, member)
static int set_payload(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	bool head = !strcmp(arg, "head");
	uint64_t v;

	if (!strcmp(arg, "none"))
		v = 0;
	else if (head)
		v = DEFAULT_PAYLOAD;
	else if (parse_size(arg, &v) || v >= NET_MAX_PAYLOAD)
		return option_error(def, "'%s' is not none, head, or a byte count under %u", arg,
				    NET_MAX_PAYLOAD);
	o->record.payload_max = v;
	o->record.payload_many = head ? PAYLOAD_MANY : 0;
	return 0;
}

/* Names of --l7. obana shows gRPC by its own name, the kernel sees HTTP/2. */
#define BIT(name) (1ull << NET_PROTO_##name)
static const struct {
	const char *name;
	uint64_t bits;
} l7_names[] = {
	{"http", BIT(http1) | BIT(http2)},
	{"grpc", BIT(http2)},
#define PROTOCOL(name) {#name, BIT(name)},
#include "../format/protocols.def"
#undef PROTOCOL
};
#undef BIT
#define L7_NAME_CNT (sizeof(l7_names) / sizeof(l7_names[0]))

static int add_l7(void *ctx, const char *word, size_t len)
{
	uint64_t *set = ctx;

	for (size_t i = 0; i < L7_NAME_CNT; i++)
		if (strlen(l7_names[i].name) == len && !memcmp(l7_names[i].name, word, len)) {
			*set |= l7_names[i].bits;
			return 0;
		}
	return -EINVAL;
}

static int set_l7(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	char known[512] = "";

	o->l7 = arg;
	if (!each_word(arg, add_l7, &o->record.l7))
		return 0;
	for (size_t i = 0, at = 0; i < L7_NAME_CNT && at < sizeof(known); i++)
		at += snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "",
			       l7_names[i].name);
	return option_error(def, "'%s' is not a list of: %s", arg, known);
}

static int set_sample(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	double share;

	if (parse_percent(arg, &share) || share <= 0 || share > 1)
		return option_error(def, "'%s' is not a share of connections, as in 10%%", arg);
	o->record.sample_per_64k = share * 65536 < 1 ? 1 : share * 65536;
	return 0;
}

static int set_budget(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	double share;

	if (parse_percent(arg, &share) || share < 0.001)
		return option_error(
			def, "'%s' is not a share of one CPU from 0.1%% to 100%%, as in 5%%", arg);
	o->record.budget_per_64k = share * 65536;
	return 0;
}

static int set_direction(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (!strcmp(arg, "out"))
		o->record.direction = 1;
	else if (!strcmp(arg, "in"))
		o->record.direction = 2;
	else if (!strcmp(arg, "both"))
		o->record.direction = 3;
	else
		return option_error(def, "'%s' is not one of in, out, both", arg);
	return 0;
}

static int set_redact(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (arg && strcmp(arg, "sql"))
		return option_error(def, "'%s' is not sql", arg);
	o->record.redact = true;
	o->record.redact_sql |= arg != NULL;
	return 0;
}

static const struct option_def table[] = {
	{.help = "Whom to record"},
	{"pid", 'p', ARG_REQUIRED, "PID[,PID...]",
	 "these processes, all their threads, and the children they fork later", set_pid, 0},
	{"all", 'a', ARG_NONE, NULL, "the whole system; the default when no target is given",
	 set_true, AT(record.target.all)},
	{"comm", 0, ARG_REQUIRED, "NAME",
	 "processes of this name (a glob pattern), those that start later included", set_string,
	 AT(record.target.comm)},
	{"cgroup", 0, ARG_REQUIRED, "PATH",
	 "processes in this cgroup (v1 or v2) and those below it, those that start later included",
	 set_string, AT(record.target.cgroup)},
	{"no-inherit", 0, ARG_NONE, NULL, "leave out the children of the targets", set_false,
	 AT(record.target.inherit)},
	{.help = "What to record"},
	{"events", 'e', ARG_REQUIRED, "PROBES",
	 "comma list of probes; +x and -x add to and take from the default; those named must be "
	 "available, of the default the others may be left out with a warning",
	 set_events, 0},
	{"list", 0, ARG_NONE, NULL,
	 "print each probe, whether this kernel has what it needs, and its ways to attach",
	 set_true, AT(list)},
	{"attach", 0, ARG_REQUIRED, "PROBE=VARIANT",
	 "attach a probe in this way (--list shows them) and no other; a comma list, may be "
	 "repeated",
	 set_attach, 0},
	{"duration", 'd', ARG_REQUIRED, "DURATION",
	 "how long: 500ms 10s 5m 1h; default: until Ctrl-C, COMMAND's exit, or the exit of every "
	 "target",
	 set_positive_duration, AT(record.duration_ns)},
	{"freq", 'F', ARG_REQUIRED, "HZ", "samples per second and CPU (default 99)", set_freq, 0},
	{"interval", 0, ARG_REQUIRED, "DURATION",
	 "count equal samples over this long instead of keeping the time of each; for captures of "
	 "hours",
	 set_duration, AT(record.interval_ns)},
	{"offcpu-period", 0, ARG_REQUIRED, "DURATION",
	 "a thread is recorded each time its waits add up to this (default 10ms; 0s: every wait)",
	 set_duration, AT(record.offcpu_period_ns)},
	{"offcpu-min", 0, ARG_REQUIRED, "DURATION", "leave out waits shorter than this",
	 set_duration, AT(record.offcpu_min_ns)},
	{"offcpu-max", 0, ARG_REQUIRED, "DURATION", "leave out waits longer than this",
	 set_duration, AT(record.offcpu_max_ns)},
	{.help = "Traffic"},
	{"payload", 0, ARG_REQUIRED, "HOW",
	 "what is kept of each call: none, head (default: 512 bytes, and up to 16 KiB of calls "
	 "that "
	 "carry many messages: pipelines, HTTP/2), or a byte count",
	 set_payload, 0},
	{"l7", 0, ARG_REQUIRED, "NAME[,NAME...]",
	 "keep the payload of these protocols only, as far as the kernel can tell (http: HTTP/1 "
	 "and "
	 "HTTP/2; what is not known keeps its first 4 KiB each way); bytes and calls are counted "
	 "of all",
	 set_l7, 0},
	{"sample", 0, ARG_REQUIRED, "SHARE",
	 "keep the payload of this share of connections, as in 10%; byte counts stay complete",
	 set_sample, 0},
	{"direction", 0, ARG_REQUIRED, "WHICH",
	 "requests whose payload is kept: in (served), out (made), both (default)", set_direction,
	 0},
	{"redact", 0, ARG_OPTIONAL, "sql",
	 "mask secrets before anything is written (default); with sql, literals in statements as "
	 "well",
	 set_redact, 0},
	{"no-tls", 0, ARG_NONE, NULL, "no clear text of TLS connections; the same as -e -tls",
	 set_no_tls, 0},
	{"no-redact", 0, ARG_NONE, NULL, "write payload as it was", set_false, AT(record.redact)},
	{.help = "Symbols"},
	{"debuginfo", 0, ARG_REQUIRED, "HOW",
	 "symbols to carry: auto (default: DWARF within bounds), full, symtab, none", set_debuginfo,
	 0},
	{"exclude-buildids", 0, ARG_REQUIRED, "FILE",
	 "build-ids, one a line, whose symbols stay on the host", set_string,
	 AT(record.debuginfo.exclude_file)},
	{"debuginfo-cache", 0, ARG_REQUIRED, "DIR",
	 "keep extracted symbols here for later captures", set_string,
	 AT(record.debuginfo.cache_dir)},
	{.help = "Where to"},
	{"output", 'o', ARG_REQUIRED, "FILE",
	 "default obrec-HOST-YYYYMMDD-HHMMSS.obz; - is stdout; an existing FILE is kept as "
	 "FILE.old",
	 set_string, AT(output)},
	{"label", 0, ARG_REQUIRED, "K=V", "metadata stored in the archive; may be repeated",
	 set_label, 0},
	{"label-env", 0, ARG_REQUIRED, "NAME",
	 "record this environment variable of each process as a label; may be repeated",
	 set_label_env, 0},
	{.help = "Bounds and behaviour"},
	{"max-size", 0, ARG_REQUIRED, "SIZE", "stop before the archive grows over this", set_size,
	 AT(max_sz)},
	{"max-mem", 0, ARG_REQUIRED, "SIZE",
	 "of obrec, its rings and its tables in the kernel (at least 64M; default: tables of "
	 "256M): "
	 "sizes follow from it, and the recording stops in order before it takes more",
	 set_max_mem, 0},
	{"ring-size", 0, ARG_REQUIRED, "SIZE",
	 "bytes of each CPU's ring, rounded up to a power of two (default: by --max-mem); larger "
	 "ones lose less in bursts",
	 set_ring, 0},
	{"cpu-budget", 0, ARG_REQUIRED, "SHARE",
	 "of one CPU, as in 5%: what obrec's recording and its BPF programs may use; above it "
	 "samples "
	 "and payload are thinned out in recorded steps, which figures are scaled by (symbols are "
	 "extracted beside it, in time that nothing else wants)",
	 set_budget, 0},
	{"btf", 0, ARG_REQUIRED, "FILE", "BTF for a kernel without its own", set_string,
	 AT(record.btf)},
	{"ready-fd", 0, ARG_REQUIRED, "N", "write a byte there once every probe is attached",
	 set_ready_fd, 0},
	{"stats", 0, ARG_NONE, NULL, "count what each BPF program costs", set_true,
	 AT(record.stats)},
	{"quiet", 'q', ARG_NONE, NULL, "only errors", set_quiet, 0},
	{"verbose", 'v', ARG_NONE, NULL, "say more", set_verbose, 0},
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
		   "for their files, CAP_SYSLOG for kernel symbols under kernel.kptr_restrict=1. "
		   "Once everything is attached it gives up what it does not need any more.",
	.options = table,
	.exit_status = "0 complete, 1 failure, 2 usage, 3 usable but cut short (disk full), 4 "
		       "missing privilege or kernel "
		       "support; with COMMAND its status, 128+N when signal N ended it.",
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
	for (size_t i = 0; i < PROBE_CNT && !o->list; i++) {
		if (o->record.attach[i] && !(o->record.probes >> i & 1)) {
			message_error("--attach: probe '%s' is not on", probes[i].name);
			return -EINVAL;
		}
		o->record.required |= (uint64_t) !!o->record.attach[i] << i;
	}
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
		.record = {.probes = default_probes(),
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
	return err ? err : check(o, argv, rest, after_dashes);
}
