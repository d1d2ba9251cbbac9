/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that take a number, a word, or a list of these. */
#include <stddef.h>
#include <string.h>

#include "format/text.h"
#include "record/host/memory.h"
#include "record/cli/options_set.h"

enum { RING_MIN = 64 << 10, RING_MAX = 64 << 20 };

int option_each_word(const char *list, int (*fn)(void *ctx, const char *word, size_t len),
		     void *ctx)
{
	for (const char *p = list;; p++) {
		size_t len = text_word_len(p);
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

int option_set_pid(void *ctx, const struct option_def *def, const char *arg)
{
	if (option_each_word(arg, add_pid, ctx))
		return option_error(def, "'%s' is not a list of at most %d process ids", arg,
				    OPTIONS_MAX_PIDS);
	return 0;
}

/* Numbers with units: def->data is the field's offset in struct options. */
static void *field(void *ctx, const struct option_def *def)
{
	return (char *)ctx + def->data;
}

int option_set_duration(void *ctx, const struct option_def *def, const char *arg)
{
	if (parse_duration_ns(arg, field(ctx, def)))
		return option_error(
			def, "'%s' is not a duration; a unit is required, as in 500ms 10s 5m 1h",
			arg);
	return 0;
}

int option_set_positive_duration(void *ctx, const struct option_def *def, const char *arg)
{
	int err = option_set_duration(ctx, def, arg);

	if (!err && !*(uint64_t *)field(ctx, def))
		return option_error(def, "must be longer than 0");
	return err;
}

int option_set_size(void *ctx, const struct option_def *def, const char *arg)
{
	if (parse_size(arg, field(ctx, def)) || !*(uint64_t *)field(ctx, def))
		return option_error(def, "'%s' is not a size, as in 500K 64M 2G", arg);
	return 0;
}

int option_set_max_mem(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (parse_size(arg, &o->record.max_mem) || o->record.max_mem < MEMORY_MIN)
		return option_error(def, "'%s' is not a size from %lluM, as in 128M", arg,
				    MEMORY_MIN >> 20);
	o->record.bound_mem = true;
	return 0;
}

int option_set_ring(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	uint64_t size;

	if (parse_size(arg, &size) || size < RING_MIN || size > RING_MAX)
		return option_error(def, "'%s' is not a size from 64K to 64M", arg);
	for (o->record.ring_sz = RING_MIN; o->record.ring_sz < size;)
		o->record.ring_sz *= 2;
	return 0;
}

int option_set_string(void *ctx, const struct option_def *def, const char *arg)
{
	if (!*arg)
		return option_error(def, "must not be empty");
	*(const char **)field(ctx, def) = arg;
	return 0;
}

int option_set_true(void *ctx, const struct option_def *def, const char *arg)
{
	*(bool *)field(ctx, def) = true;
	return 0;
}

int option_set_false(void *ctx, const struct option_def *def, const char *arg)
{
	*(bool *)field(ctx, def) = false;
	return 0;
}

int option_set_ready_fd(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	uint64_t v;

	if (parse_u64(arg, &v) || v > INT32_MAX)
		return option_error(def, "'%s' is not a file descriptor", arg);
	o->ready_fd = v;
	return 0;
}

int option_set_debuginfo(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	int mode = option_choice(def, arg, strlen(arg));

	if (mode < 0)
		return mode;
	o->record.debuginfo.mode = mode; /* the values are in the order of the enum */
	return 0;
}

int option_set_label(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (!strchr(arg, '=') || *arg == '=')
		return option_error(def, "'%s' is not KEY=VALUE", arg);
	if (o->label_cnt == OPTIONS_MAX_LABELS)
		return option_error(def, "more than %d labels", OPTIONS_MAX_LABELS);
	o->labels[o->label_cnt++] = arg;
	return 0;
}

int option_set_label_env(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (!*arg || strchr(arg, '='))
		return option_error(def, "'%s' is not the name of an environment variable", arg);
	if (o->record.target.label_env_cnt == OPTIONS_MAX_LABELS)
		return option_error(def, "more than %d names", OPTIONS_MAX_LABELS);
	o->label_env[o->record.target.label_env_cnt++] = arg;
	return 0;
}

int option_set_quiet(void *ctx, const struct option_def *def, const char *arg)
{
	((struct options *)ctx)->verbosity = -1;
	return 0;
}

int option_set_verbose(void *ctx, const struct option_def *def, const char *arg)
{
	((struct options *)ctx)->verbosity = 1;
	return 0;
}

int option_set_budget(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	double share;

	if (parse_percent(arg, &share) || share < 0.001)
		return option_error(
			def, "'%s' is not a share of one CPU from 0.1%% to 100%%, as in 5%%", arg);
	o->record.budget_per_64k = share * 65536;
	return 0;
}
