/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latency of functions (bpf/probe/func.bpf.c). Attaches uprobes to the functions that -e
 * func:BINARY:SYMBOL names, in every file of that name that a target maps, and beforehand in those
 * that programs still to be started would map; and kprobes to functions of the kernel. Calls in
 * progress at the end are reported here.
 */
#include <bpf/bpf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/event.h"
#include "bpf/probe/func.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/base/loss.h"
#include "record/binary/read_file.h"
#include "record/binary/read_functions.h"
#include "record/host/uprobe_multi.h"
#include "record/host/uprobes.h"
#include "record/probe/func_kernel.h"
#include "record/probe/hooks.h"
#include "record/probe/metrics.h"
#include "record/probe/probe.h"
#include "record/probe/probed_files.h"
#include "record/reader/readers.h"

extern const struct probe probe_func_entry;

_Static_assert((int)RECORD_OPERANDS <= (int)FUNC_PATTERNS_MAX, "each may match the same file");

enum { THREADS = 4096 /* with a call in progress or past, at a time */, PLACES_MAX = 65536 };

struct funcs {
	struct probed_files files;
	struct func_name *names; /* of FUNC_MAX functions */
	uint32_t cnt;
	bool file_seen[RECORD_OPERANDS], found[RECORD_OPERANDS];
	int err; /* of the first file that could not be attached before the start */
};

static struct funcs *state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_func_entry);
}

/* ---- BINARY:SYMBOL */

static const char *symbol_of(const char *operand)
{
	return strrchr(operand, ':') + 1;
}

static size_t binary_len(const char *operand)
{
	return symbol_of(operand) - 1 - operand;
}

static const char *operand_error(const char *word)
{
	const char *colon = strrchr(word, ':');

	if (!colon || colon == word || !colon[1])
		return "functions are named as BINARY:SYMBOL, as in libc:malloc or "
		       "/usr/sbin/nginx:ngx_http_*";
	return NULL;
}

static bool is_kernel(const char *operand)
{
	return binary_len(operand) == 6 && !memcmp(operand, "kernel", 6);
}

static bool any_kernel(const struct record_opts *opts)
{
	for (unsigned i = 0; i < opts->operand_cnt; i++)
		if (is_kernel(opts->operand[i]))
			return true;
	return false;
}

/* libc stands for libc.so.6 and libc-2.31.so too. */
static bool is_named(const char *operand, const char *path)
{
	size_t len = binary_len(operand);
	const char *base = strrchr(path, '/');

	if (memchr(operand, '/', len))
		return !strncmp(path, operand, len) && !path[len];
	base = base ? base + 1 : path;
	if (strncmp(base, operand, len))
		return false;
	base += len;
	return !*base || !strncmp(base, ".so", 3) ||
	       (*base == '-' && isdigit((unsigned char)base[1]) && strstr(base, ".so"));
}

/* Operands that a file of this path is meant by, as bits. */
static uint32_t operands_of(const struct probe_env *env, const char *path)
{
	uint32_t set = 0;

	for (unsigned i = 0; i < env->opts->operand_cnt; i++)
		if (!is_kernel(env->opts->operand[i]) && is_named(env->opts->operand[i], path))
			set |= 1u << i;
	return set;
}

static void describe(const struct record_opts *opts, struct json_object *to)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < opts->operand_cnt; i++)
		json_object_array_add(list, json_object_new_string(opts->operand[i]));
	if (opts->operand_cnt)
		json_object_object_add(to, "functions", list);
	else
		json_object_put(list);
}

/* ---- attaching */

struct places {
	uint64_t *offsets, *cookies;
	uint32_t cnt;
};

/* What is attached in a file. */
struct attaching {
	struct probe_env *env;
	const char *path;
	uint32_t set;
	struct places entries, by_return, returns, jumps;
	struct places patched; /* all of these, in order, where places are told by their code */
	bool full;
};

static void add_place(struct attaching *a, struct places *p, uint64_t offset, uint64_t cookie)
{
	if (!p->offsets) {
		p->offsets = malloc(PLACES_MAX * sizeof(*p->offsets));
		p->cookies = malloc(PLACES_MAX * sizeof(*p->cookies));
	}
	if (!p->offsets || !p->cookies || p->cnt == PLACES_MAX) {
		a->full = true;
		return;
	}
	p->offsets[p->cnt] = offset;
	p->cookies[p->cnt++] = cookie;
}

static bool is_multi(const struct probe_env *env)
{
	return !probe_env__variant(env, &probe_func_entry);
}

static int attach_places(const struct attaching *a, int fd, const struct bpf_program *multi,
			 const struct bpf_program *each, const struct places *p, bool at_return)
{
	bool many = is_multi(a->env);
	const struct uprobe_places at = {.prog_fd = bpf_program__fd(many ? multi : each),
					 .offsets = p->offsets,
					 .cookies = p->cookies,
					 .cnt = p->cnt,
					 .at_return = at_return,
					 .multi = many};

	return p->cnt ? uprobes__attach(a->env->uprobes, a->set, fd, &at) : 0;
}

/* Returns first: a call whose return is missed would never end. */
static int attach_all(const struct attaching *a, int fd)
{
	struct obrec_bpf *skel = a->env->skel;
	int err;

	err = attach_places(a, fd, skel->progs.func_returns, skel->progs.func_return, &a->by_return,
			    true);
	err = err
		      ?: attach_places(a, fd, skel->progs.func_exits, skel->progs.func_exit,
				       &a->returns, false);
	err = err
		      ?: attach_places(a, fd, skel->progs.func_exits, skel->progs.func_exit,
				       &a->jumps, false);
	return err
		       ?: attach_places(a, fd, skel->progs.func_entries, skel->progs.func_entry,
					&a->entries, false);
}

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Notes where probes will be. Reads the answer to its end. */
static void find_patched(struct attaching *a, struct parcel *answer, struct func_site *site)
{
	size_t from = answer->at;

	while (!is_multi(a->env) && read_functions_next(answer, site)) {
		add_place(a, &a->patched, site->entry, 0);
		for (uint32_t i = 0; i < site->exits.returns + site->exits.jumps; i++)
			add_place(a, &a->patched, site->exits.at[i], 0);
	}
	answer->at = from;
	if (a->patched.cnt)
		qsort(a->patched.offsets, a->patched.cnt, sizeof(*a->patched.offsets), by_offset);
}

/* The code as it will be in memory: uprobes are breakpoints. */
static struct func_place patched_place(const struct attaching *a, const struct func_site *site)
{
#if defined(__x86_64__)
	static const uint8_t breakpoint[] = {0xcc};
#else
	static const uint8_t breakpoint[] = {0xa0, 0x00, 0x20, 0xd4};
#endif
	struct func_place place = site->place;
	uint8_t *code = (uint8_t *)place.code;

	for (size_t i = 0; i < sizeof(place.code) && a->patched.cnt; i++) {
		uint64_t at = site->entry + FUNC_CODE_AT + i;

		if (bsearch(&at, a->patched.offsets, a->patched.cnt, sizeof(at), by_offset))
			for (size_t n = 0; n < sizeof(breakpoint) && i + n < sizeof(place.code);
			     n++)
				code[i + n] = breakpoint[n];
	}
	return place;
}

/* Without cookies the place is known by its code. */
static bool tell_place(const struct attaching *a, const struct func_site *site, uint32_t cookie)
{
	struct probe_env *env = a->env;
	const struct func_place place = patched_place(a, site);
	int err = is_multi(env) ? 0
				: bpf_map_update_elem(bpf_map__fd(env->skel->maps.func_places),
						      &place, &cookie, BPF_NOEXIST);

	if (err)
		loss__add(env->loss, "func",
			  err == -EEXIST ? "function: its code is like that of another one"
					 : "function: too many",
			  1);
	return !err;
}

/* Parts of keys are separated by tabs. */
static void set_name(char *to, size_t sz, const char *name)
{
	snprintf(to, sz, "%s", name);
	for (; *to; to++)
		if ((unsigned char)*to < ' ')
			*to = '?';
}

/* Gives a function the next number. */
static bool number_function(struct probe_env *env, const char *function, const char *binary,
			    uint32_t *number)
{
	struct funcs *f = state(env);
	struct func_name *name;

	if (f->cnt == FUNC_MAX) {
		loss__add(env->loss, "func", "function: too many", 1);
		return false;
	}
	*number = f->cnt++;
	name = &f->names[*number];
	set_name(name->function, sizeof(name->function), function);
	set_name(name->binary, sizeof(name->binary), binary);
	bpf_map_update_elem(bpf_map__fd(env->skel->maps.func_names), number, name, BPF_ANY);
	return true;
}

static void add_function(struct attaching *a, const struct func_site *site)
{
	const char *base = strrchr(a->path, '/');
	uint32_t number, cookie;

	if (!number_function(a->env, site->name, base ? base + 1 : a->path, &number))
		return;
	cookie = FUNC_COOKIE(number, site->below) | (site->by_return ? FUNC_SHARES_FRAME : 0);
	if (!tell_place(a, site, cookie))
		return;
	message_verbose("%s: %s at %#llx, %s%s", a->path, site->name,
			(unsigned long long)site->entry,
			site->by_return ? "uretprobe" : "return instructions",
			site->step ? "; entry single-stepped" : "");
	add_place(a, &a->entries, site->entry, cookie);
	if (site->by_return)
		add_place(a, &a->by_return, site->entry, cookie);
	for (uint32_t i = 0; i < site->exits.returns + site->exits.jumps; i++)
		add_place(a, i < site->exits.returns ? &a->returns : &a->jumps, site->exits.at[i],
			  cookie);
}

static void places_fini(struct places *p)
{
	free(p->offsets);
	free(p->cookies);
}

/* The operands of the patterns that were asked for, in their order. */
static void mark_found(struct funcs *f, uint32_t operands, uint32_t pattern)
{
	for (unsigned i = 0; i < RECORD_OPERANDS; i++)
		if (operands >> i & 1 && !pattern--)
			f->found[i] = true;
}

static void attach_found(struct probe_env *env, struct probed_file *to, int fd, const char *path,
			 uint32_t operands, struct parcel *answer)
{
	struct attaching a = {.env = env, .path = path, .set = to->uprobes};
	struct func_site *site = malloc(sizeof(*site));
	uint64_t left_out;
	int err = 0;

	if (answer->rc || !site) {
		loss__add(env->loss, "func",
			  answer->rc == -ETIMEDOUT ? "binary: reading timed out"
						   : "binary: cannot be read",
			  1);
		free(site);
		return;
	}
	find_patched(&a, answer, site);
	while (read_functions_next(answer, site)) {
		mark_found(state(env), operands, site->pattern);
		add_function(&a, site);
	}
	left_out = read_functions_left_out(answer);
	if (left_out)
		loss__add(env->loss, "func", "function: too many", left_out);
	if (!a.full)
		err = attach_all(&a, fd);
	if (err || a.full) {
		loss__add(env->loss, "func",
			  err == -ETIMEDOUT ? "binary: attaching timed out"
					    : "binary: cannot attach",
			  1);
		message_verbose("%s: cannot attach: %s", path,
				a.full ? "too many places" : strerror(-err));
		if (!state(env)->err)
			state(env)->err = err ?: -E2BIG;
	}
	places_fini(&a.entries);
	places_fini(&a.by_return);
	places_fini(&a.returns);
	places_fini(&a.jumps);
	places_fini(&a.patched);
	free(site);
}

struct late_file {
	struct probe_env *env;
	struct stat st;
	int fd;
	uint32_t operands;
	char path[];
};

static void on_late(void *ctx, struct reading_request *r)
{
	struct late_file *late = ctx;
	struct probed_file *f =
		state(late->env) ? probed_files_find(&state(late->env)->files, &late->st) : NULL;

	if (f)
		attach_found(late->env, f, late->fd, late->path, late->operands, &r->m);
	close(late->fd);
	free(late);
}

static void finish_later(struct probe_env *env, int fd, const struct stat *st, const char *path,
			 uint32_t operands, struct reading_request *r)
{
	size_t sz = strlen(path) + 1;
	struct late_file *late = malloc(sizeof(*late) + sz);

	if (!late) {
		readers__later(r, NULL, NULL);
		return;
	}
	*late = (struct late_file){env, *st, fcntl(fd, F_DUPFD_CLOEXEC, 3), operands};
	memcpy(late->path, path, sz);
	readers__later(r, on_late, late);
}

static void attach_file(struct probe_env *env, struct probed_file *f, int fd, const struct stat *st,
			const char *path, uint32_t operands)
{
	const char *patterns[RECORD_OPERANDS];
	struct reading_request *r;
	struct parcel m;
	size_t cnt = 0;

	for (unsigned i = 0; i < env->opts->operand_cnt; i++)
		if (operands >> i & 1) {
			patterns[cnt++] = symbol_of(env->opts->operand[i]);
			state(env)->file_seen[i] = true;
		}
	read_functions_ask(&m, fd, patterns, cnt,
			   probe_env__option(env, &probe_func_entry, "uretprobe"));
	r = readers__ask(env->readers, &m, 0, 0);
	if (r && readers__await(env->readers, r)) {
		attach_found(env, f, fd, path, operands, &r->m);
		readers__done(r);
	} else if (r) {
		finish_later(env, fd, st, path, operands, r);
	}
}

/* The kernel reads the file when it attaches. */
static bool may_hang(struct probe_env *env, const struct file_facts *facts, const char *path)
{
	if (facts && facts->remote) {
		loss__add(env->loss, "func", "binary: on a FUSE or network file system", 1);
		message_verbose("%s: not attached: its file system may block", path);
	}
	return facts && facts->remote;
}

static bool add_file(struct probe_env *env, const struct file_facts *facts, int fd,
		     const struct stat *st, const char *path, uint32_t operands)
{
	struct probed_file *f = probed_files_find(&state(env)->files, st);

	if (!f && operands && !may_hang(env, facts, path) &&
	    (f = probed_files_add(env, &state(env)->files, st))) {
		f->users = 1; /* attaching may report other files */
		attach_file(env, f, fd, st, path, operands);
		return true;
	}
	if (f)
		f->users++;
	return f;
}

static bool file(struct probe_env *env, const struct file_facts *facts, int fd,
		 const struct stat *st, const char *path)
{
	return add_file(env, facts, fd, st, path, operands_of(env, path));
}

static void file_gone(struct probe_env *env, const struct stat *st)
{
	probed_files_gone(env, &state(env)->files, st);
}

/* ---- programs still to be started */

/* The file keeps a reference until the end. */
static int attach_path(struct probe_env *env, const char *path, uint32_t operands)
{
	int fd = open(path, O_PATH | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		err = -ENOENT;
	else
		add_file(env, NULL, fd, &st, path, operands);
	close(fd);
	return err;
}

static void attach_glob(struct probe_env *env, const char *pattern, unsigned operand)
{
	glob_t g = {0};

	if (!glob(pattern, 0, NULL, &g))
		for (size_t i = 0; i < g.gl_pathc; i++)
			attach_path(env, g.gl_pathv[i], 1u << operand);
	globfree(&g);
}

/* A name without a directory: as the shell and the dynamic linker would look it up. */
static void attach_named(struct probe_env *env, const char *name, unsigned operand)
{
	static const char *const places[] = {
		"/usr/lib/*/%s",     "/usr/lib64/%s",	"/usr/lib/%s",	       "/usr/lib/*/%s.so*",
		"/usr/lib64/%s.so*", "/usr/lib/%s.so*", "/usr/lib/*/%s-*.so*",
	};
	const char *at = getenv("PATH");
	char path[2 * PATH_MAX];
	bool found = false;

	for (; at && *at && !found; at += strspn(at, ":")) {
		size_t len = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, name);
		found = !access(path, X_OK) && !attach_path(env, path, 1u << operand);
		at += len;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), places[i], name);
		attach_glob(env, path, operand);
	}
}

/* ---- functions of the kernel */

static bool name_kernel(struct probe_env *env, const char *function, uint32_t *cookie)
{
	uint32_t number;

	if (!number_function(env, function, "[kernel]", &number))
		return false;
	*cookie = number | FUNC_SHARES_FRAME;
	return true;
}

static int attach_kernel(struct probe_env *env, unsigned i)
{
	const char *symbol = symbol_of(env->opts->operand[i]);
	char why[256] = "";
	size_t left_out;
	int err = func_kernel_attach(env, symbol, name_kernel, &left_out, why, sizeof(why));

	state(env)->found[i] = !err;
	if (err == -ENOENT) {
		message_error("func: no function of the kernel is called '%s'", symbol);
		return -PROBE_NOT_THERE;
	}
	if (err)
		message_error("func: functions of the kernel cannot be recorded: %s", why);
	else if (left_out)
		message_warn("func: %zu of the kernel's functions '%s' are not recorded: they "
			     "cannot be probed, or are too many",
			     left_out, symbol);
	return err;
}

static int attach_operand(struct probe_env *env, unsigned i)
{
	const struct target_spec *to = &env->opts->target;
	const char *command = env->opts->command, *operand = env->opts->operand[i];
	char name[PATH_MAX];
	int err;

	if (is_kernel(operand))
		return attach_kernel(env, i);
	snprintf(name, sizeof(name), "%.*s", (int)binary_len(operand), operand);
	if (strchr(name, '/')) {
		err = attach_path(env, name, operands_of(env, name));
		if (!err || state(env)->file_seen[i])
			return 0;
		message_error("func: %s: %s", name, strerror(-err));
		return -PROBE_NOT_THERE;
	}
	if (to->pid_cnt && !env->opts->command_pid)
		return 0;
	if (command && strchr(command, '/') && is_named(operand, command))
		attach_path(env, command, operands_of(env, command));
	attach_named(env, name, i);
	return 0;
}

static int attach(struct probe_env *env)
{
	struct funcs *f = state(env);
	int err = 0;

	for (unsigned i = 0; i < env->opts->operand_cnt && !err; i++)
		err = attach_operand(env, i);
	if (!err && f->err) {
		message_error("func: cannot attach uprobes: %s", strerror(-f->err));
		return f->err;
	}
	for (unsigned i = 0; i < env->opts->operand_cnt && !err; i++) {
		const char *operand = env->opts->operand[i];

		if (f->found[i])
			continue;
		if (f->file_seen[i])
			message_error("func: no function in %.*s is called '%s'",
				      (int)binary_len(operand), operand, symbol_of(operand));
		else
			message_error("func: no target maps a file '%.*s'; its path can be given "
				      "instead",
				      (int)binary_len(operand), operand);
		err = -PROBE_NOT_THERE;
	}
	return err;
}

/* ---- */

static bool multi_possible(const struct features *f, char *why, size_t why_sz)
{
	if (f->uprobe_multi)
		return uprobes__possible(why, why_sz);
	snprintf(why, why_sz, "one link cannot attach many uprobes (added in Linux 6.6)");
	return false;
}

static bool each_possible(const struct features *f, char *why, size_t why_sz)
{
	return uprobes__possible(why, why_sz);
}

static const struct hook hooks[] = {
	HOOK("func_thread_exit", "sched:sched_process_exit", HOOK_TRACEPOINT),
	HOOK("func_thread_exec", "sched:sched_process_exec", HOOK_TRACEPOINT),
	{0},
};

static const struct variant variants[] = {
	{"multi", "uprobes, one link for many (functions of the kernel: kprobes)", multi_possible,
	 hooks},
	{"each", "uprobes, one link for each (functions of the kernel: kprobes)", each_possible,
	 hooks},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(200),
	OPTION("min", PROBE_TIME, 10000000,
	       "calls from this on are recorded singly, with their user stacks (default 10ms)"),
	OPTION("uretprobe", PROBE_FLAG, 0,
	       "see returns by uretprobes, not by return instructions: cheaper on many machines, "
	       "but a C++ exception that passes such a function ends its program",
	       .key = "func_uretprobe"),
	{0},
};

static void function_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz)
{
	const struct func_name *name =
		&state(env)->names[part[FUNC_PART_FUNCTION] & (FUNC_MAX - 1)];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, name->function);
	series_key_add(text, sz, name->binary);
}

static void reason_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		       size_t sz)
{
	static const char *const reasons[] = {
#define X(name, text) [FUNC_##name] = text,
		FUNC_REASONS(X)
#undef X
	};
	uint64_t reason = part[FUNC_PART_REASON];

	function_key(env, part, text, sz);
	series_key_add(text, sz,
		       reason < sizeof(reasons) / sizeof(*reasons) ? reasons[reason] : "other");
}

static const struct series series[] = {
	[SERIES_func_latency - SERIES_OWN] = {"latency", "ns", SERIES_HISTOGRAM,
					      "process\tfunction\tbinary", function_key},
	[SERIES_func_unfinished - SERIES_OWN] = {"unfinished", "ns", SERIES_COUNTER,
						 "process\tfunction\tbinary\treason", reason_key},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	bool multi = is_multi(env), kernel = any_kernel(env->opts);
	int err;

	state(env)->names = calloc(FUNC_MAX, sizeof(struct func_name));
	if (!state(env)->names)
		return -ENOMEM;
	skel->rodata->func_min_ns = probe_env__option(env, &probe_func_entry, "min");
	if (multi) {
		uprobe_multi__choose(skel->progs.func_entries);
		uprobe_multi__choose(skel->progs.func_returns);
		uprobe_multi__choose(skel->progs.func_exits);
	} else {
		bpf_program__set_autoload(skel->progs.func_entry, true);
		bpf_program__set_autoload(skel->progs.func_return, true);
		bpf_program__set_autoload(skel->progs.func_exit, true);
	}
	if (kernel)
		func_kernel_prepare(env);
	err = bpf_map__set_max_entries(skel->maps.func_threads, THREADS);
	err = err ?: bpf_map__set_max_entries(skel->maps.func_names, FUNC_MAX);
	return err
		       ?: bpf_map__set_max_entries(skel->maps.func_places,
						   multi && !kernel ? 1 : FUNC_MAX);
}

/* ---- calls in progress at the end */

static void report(struct probe_env *env, const struct func_thread *t)
{
	struct metric_key key = {
		.series = SERIES_NUMBER(PROBE_func, SERIES_func_unfinished),
		.part[FUNC_PART_REASON] = FUNC_RUNNING,
	};

	memcpy(key.part, t->comm, sizeof(t->comm));
	for (uint64_t i = 0; i < t->depth && i < FUNC_DEPTH; i++) {
		const struct func_call *c = &t->call[i];

		key.part[FUNC_PART_FUNCTION] = c->function;
		metrics_add(env, &key, env->stop_ns > c->begin_ns ? env->stop_ns - c->begin_ns : 0);
	}
}

static void finish(struct probe_env *env)
{
	int threads = bpf_map__fd(env->skel->maps.func_threads);
	struct func_thread *t = malloc(sizeof(*t));
	uint32_t key;

	/* Threads that end meanwhile are removed, after which the next key would be the first
	 * again.
	 */
	while (t && !bpf_map_get_next_key(threads, NULL, &key)) {
		if (!bpf_map_lookup_elem(threads, &key, t))
			report(env, t);
		bpf_map_delete_elem(threads, &key);
	}
	free(t);
}

static void free_state(struct probe_env *env)
{
	if (!state(env))
		return;
	probed_files_fini(&state(env)->files);
	free(state(env)->names);
}

const struct probe probe_func_entry = {
	.name = "func",
	.event = REC_func,
	.variants = variants,
	.series = series,
	.options = options,
	.operand = "BINARY:SYMBOL",
	.operand_doc = "functions of a program or library, by its path or name, or of the "
		       "kernel (kernel:SYMBOL); SYMBOL may have "
		       "wildcards; several may be given",
	.operand_error = operand_error,
	.describe = describe,
	.urgent = true,
	.attaches_files = true,
	.state_sz = sizeof(struct funcs),
	.prepare = prepare,
	.attach = attach,
	.file = file,
	.file_gone = file_gone,
	.finish = finish,
	.free = free_state,
};
