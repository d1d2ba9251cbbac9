/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/cli/common_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/text.h"
#include "analyze/traffic/services.h"

const char common_kinds[] =
#define KIND(name, number, title, unit, count_name) #name ", "
#include "format/kinds.def"
	;

/* grpc is a kind of http2. */
const char common_protocols[] = "grpc, "
#define PROTOCOL(name, shown) shown ", "
#include "format/protocols.def"
#undef PROTOCOL
	;

const char common_kind_help[] = "only samples of these kinds:"
#define KIND(name, number, title, unit, count_name) " " #name
#include "format/kinds.def"
	;

/* Names are resolved when the archives are open, since archives may define kinds. */
static int set_kinds(struct common_opts *o, const struct option_def *def, const char *arg)
{
	if (!*arg)
		return option_error(def, "needs a kind");
	if (o->load.kind_list_cnt == LOAD_KIND_LISTS)
		return option_error(def, "given more than %d times", LOAD_KIND_LISTS);
	o->load.kind_lists[o->load.kind_list_cnt++] = arg;
	return 0;
}

/* Local wall-clock time. A time without a date is on the day on which the capture started. */
static bool parse_wall_clock(const char *arg, struct moment *m)
{
	static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
					    "%Y-%m-%d %H:%M"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(arg, forms[i], &tm);
		time_t t;

		if (!end || *end)
			continue;
		t = mktime(&tm);
		if (t == (time_t)-1 || t < 0)
			continue;
		m->ns = (uint64_t)t * 1000000000;
		return true;
	}
	return false;
}

static bool parse_time_of_day(const char *arg, struct moment *m)
{
	static const char *const forms[] = {"%H:%M:%S", "%H:%M"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = {0};
		const char *end = strptime(arg, forms[i], &tm);

		if (!end || *end)
			continue;
		m->of_day = true;
		m->ns = (tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * 1000000000ull;
		return true;
	}
	return false;
}

static int set_moment(struct moment *m, const struct option_def *def, const char *arg)
{
	*m = (struct moment){.set = true};
	if (!parse_duration_ns(arg, &m->ns)) {
		m->relative = true;
		return 0;
	}
	if (parse_wall_clock(arg, m) || parse_time_of_day(arg, m))
		return 0;
	return option_error(
		def, "'%s' is neither a time after the start (10s) nor one of the clock (15:04:05)",
		arg);
}

static int set_jobs(struct common_opts *o, const struct option_def *def, const char *arg)
{
	uint64_t n;

	if (parse_u64(arg, &n) || !n || n > 1024)
		return option_error(def, "'%s' is not a number of threads", arg);
	o->load.jobs = o->load.symbols.jobs = n;
	return 0;
}

static int set_names(struct common_opts *o, const struct option_def *def, const char *arg)
{
	int style = option_choice(def, arg, strlen(arg));

	if (style < 0)
		return style;
	o->load.names = NAMES_SHORT + style; /* the values are in the order of the enum */
	return 0;
}

static int set_services(struct common_opts *o, const char *path)
{
	int err;

	services__free(o->services);
	o->services = NULL;
	err = services__open(&o->services, path); /* reported */
	o->load.traffic.services = o->services;
	return err;
}

static bool is_word(const char *s)
{
	return *s &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] ==
		       0;
}

/* METHOD:PATH=NAME. A method may contain colons (multiplexed: Service:method), a map key an equals
 * sign. */
static int set_thrift_arg(struct common_opts *o, const struct option_def *def, const char *arg)
{
	const char *equals = strrchr(arg, '='),
		   *colon = equals ? memrchr(arg, ':', equals - arg) : NULL;
	struct l7_arg *a = &o->thrift_args[o->thrift_arg_cnt];
	char *copy;

	if (!colon || colon == arg || colon + 1 == equals || !is_word(equals + 1))
		return option_error(def, "'%s' is not METHOD:PATH=NAME, as in get:1.3=user", arg);
	if (colon[1] < '0' || colon[1] > '9')
		return option_error(def, "'%s': the path begins with an argument's number", arg);
	if (o->thrift_arg_cnt == MAX_THRIFT_ARGS)
		return option_error(def, "given more than %d times", MAX_THRIFT_ARGS);
	copy = strdup(arg);
	if (!copy)
		return -ENOMEM;
	copy[colon - arg] = copy[equals - arg] = 0;
	*a = (struct l7_arg){copy, copy + (colon - arg) + 1, copy + (equals - arg) + 1};
	o->thrift_arg_cnt++;
	o->load.traffic.args = o->thrift_args;
	o->load.traffic.arg_cnt = o->thrift_arg_cnt;
	return 0;
}

static int set_connection(struct message_filter *f, const struct option_def *def, const char *arg)
{
	uint64_t n;

	if (parse_u64(arg, &n) || n > INT64_MAX)
		return option_error(def, "'%s' is not a connection's number", arg);
	f->one_connection = true;
	f->connection = n;
	return 0;
}

static int set_role(struct message_filter *f, const struct option_def *def, const char *arg)
{
	if (option_choice(def, arg, strlen(arg)) < 0)
		return -EINVAL;
	f->role = arg;
	return 0;
}

static int set_message_filter(struct message_filter *f, const struct option_def *def,
			      const char *arg)
{
	switch ((enum common_option)def->data) {
	case OPTION_PROTOCOL:
		f->protocol = arg;
		return 0;
	case OPTION_METHOD:
		f->method = arg;
		return 0;
	case OPTION_TARGET:
		f->target = arg;
		return 0;
	case OPTION_STATUS:
		f->status = arg;
		return 0;
	case OPTION_PEER:
		f->peer = arg;
		return 0;
	case OPTION_DETAIL:
		f->detail = arg;
		return 0;
	case OPTION_SERVICE:
		f->service = arg;
		return 0;
	case OPTION_ERRORS:
		f->errors = true;
		return 0;
	case OPTION_SLOWER:
		if (parse_duration_ns(arg, &f->slower_ns) || !f->slower_ns)
			return option_error(def, "'%s' is not a time with a unit, as in 10ms", arg);
		return 0;
	case OPTION_ROLE:
		return set_role(f, def, arg);
	case OPTION_CONNECTION:
		return set_connection(f, def, arg);
	default:
		return -EINVAL;
	}
}

static int set_expression(regex_t **re, const char **text, const struct option_def *def,
			  const char *arg)
{
	char why[128];
	int err = sample_filter_compile(re, arg, why, sizeof(why));

	*text = arg;
	return err == -EINVAL ? option_error(def, "'%s': %s", arg, why) : err;
}

static int set_sample_filter(struct sample_filter *f, const struct option_def *def, const char *arg)
{
	switch ((enum common_option)def->data) {
	case OPTION_PID:
		f->pid = arg;
		return 0;
	case OPTION_COMM:
		f->comm = arg;
		return 0;
	case OPTION_THREAD:
		f->thread = arg;
		return 0;
	case OPTION_EXE:
		f->exe = arg;
		return 0;
	case OPTION_CGROUP:
		f->cgroup = arg;
		return 0;
	case OPTION_FOCUS:
		return set_expression(&f->focus, &f->focus_text, def, arg);
	case OPTION_IGNORE:
		return set_expression(&f->ignore, &f->ignore_text, def, arg);
	case OPTION_CALLERS:
		f->callers = arg;
		return 0;
	case OPTION_CALLEES:
		f->callees = arg;
		return 0;
	default:
		return -EINVAL;
	}
}

static const char *const caller_keys[] = {
#define CALLER_KEY(name, help) #name,
#include "analyze/load/caller_keys.def"
};
enum { CALLER_KEY_CNT = sizeof(caller_keys) / sizeof(*caller_keys) };

static bool is_thrift(struct span word)
{
	return word.len > 7 && !memcmp(word.p, "thrift:", 7);
}

static int caller_key(struct span word)
{
	for (int i = 0; i < CALLER_KEY_CNT; i++)
		if (strlen(caller_keys[i]) == word.len && !memcmp(caller_keys[i], word.p, word.len))
			return i;
	return -1;
}

bool common_is_caller_key(struct span word)
{
	return is_thrift(word) || caller_key(word) >= 0;
}

int common_set_by(struct common_opts *o, const struct option_def *def, struct span word)
{
	enum caller_key *by = &o->load.traffic.by;
	int i = caller_key(word);

	if (is_thrift(word)) {
		if (o->by_cnt == MAX_THRIFT_ARGS)
			return option_error(def, "names more than %d arguments", MAX_THRIFT_ARGS);
		o->by_names[o->by_cnt] = word.p + 7;
		o->by_lens[o->by_cnt++] = word.len - 7;
		return 0;
	}
	if (i < 0)
		return option_error(def, "'%.*s' is none of %s", (int)word.len, word.p,
				    def->values);
	if (*by && *by != BY_NAME + 1 + (enum caller_key)i)
		return option_error(def, "takes one of process, unit, client");
	*by = BY_NAME + 1 + i;
	return 0;
}

static int set_by(struct common_opts *o, const struct option_def *def, const char *arg)
{
	int err = *arg ? 0 : option_error(def, "needs a name");

	for (size_t len; *arg && !err; arg += len + (arg[len] == ',')) {
		len = strcspn(arg, ",");
		err = common_set_by(o, def, (struct span){arg, len});
	}
	return err;
}

int common_check_by(struct common_opts *o, const char *command)
{
	for (size_t i = 0; i < o->by_cnt; i++) {
		uint32_t found = 0;

		for (size_t k = 0; k < o->thrift_arg_cnt; k++)
			if (strlen(o->thrift_args[k].name) == o->by_lens[i] &&
			    !memcmp(o->thrift_args[k].name, o->by_names[i], o->by_lens[i]))
				found |= 1u << k;
		if (!found) {
			message_error("%s: --by: no --thrift-arg is named '%.*s'", command,
				      (int)o->by_lens[i], o->by_names[i]);
			return -EINVAL;
		}
		o->load.traffic.by_args |= found;
	}
	return 0;
}

int common_option_set(void *ctx, const struct option_def *def, const char *arg)
{
	struct common_opts *o = ctx;

	switch ((enum common_option)def->data) {
	case OPTION_DEBUG_DIR:
		if (o->debug_dir_cnt == MAX_DEBUG_DIRS)
			return option_error(def, "given more than %d times", MAX_DEBUG_DIRS);
		o->debug_dirs[o->debug_dir_cnt++] = arg;
		return 0;
	case OPTION_DEBUGINFOD:
		o->load.symbols.debuginfod = true;
		return 0;
	case OPTION_NO_INLINES:
		o->load.symbols.inlines = false;
		return 0;
	case OPTION_CACHE_DIR:
		o->cache_dir = arg;
		return 0;
	case OPTION_NO_CACHE:
		o->no_cache = true;
		return 0;
	case OPTION_JOBS:
		return set_jobs(o, def, arg);
	case OPTION_NAMES:
		return set_names(o, def, arg);
	case OPTION_KIND:
		return set_kinds(o, def, arg);
	case OPTION_WAKERS:
		o->load.wakers = true;
		return 0;
	case OPTION_FROM:
		return set_moment(&o->load.from, def, arg);
	case OPTION_TO:
		return set_moment(&o->load.to, def, arg);
	case OPTION_SERVICES:
		return set_services(o, arg);
	case OPTION_BY:
		return set_by(o, def, arg);
	case OPTION_THRIFT_ARG:
		return set_thrift_arg(o, def, arg);
	default:
		return def->data >= OPTION_PID
			       ? set_sample_filter(&o->load.samples, def, arg)
			       : set_message_filter(&o->load.traffic.filter, def, arg);
	}
}

int common_opts_finish(struct common_opts *o)
{
	o->debug_dirs[o->debug_dir_cnt] = "/usr/lib/debug";
	o->debug_dirs[o->debug_dir_cnt + 1] = NULL;
	o->load.symbols.debug_dirs = o->debug_dirs;
	if (!o->no_cache && !o->cache_dir)
		o->default_cache_dir = symbol_cache_dir();
	o->load.symbols.cache_dir = o->no_cache	   ? NULL
				    : o->cache_dir ? o->cache_dir
						   : o->default_cache_dir;
	return 0;
}

void common_opts_fini(struct common_opts *o)
{
	free(o->default_cache_dir);
	services__free(o->services);
	sample_filter_fini(&o->load.samples);
	while (o->thrift_arg_cnt)
		free((char *)o->thrift_args[--o->thrift_arg_cnt].method);
	o->services = NULL;
	o->default_cache_dir = NULL;
}
