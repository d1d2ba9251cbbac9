/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/cli/probe_options.h"

#include <string.h>

#include "format/text.h"

static int parse_count(const struct probe_option *o, const char *word, uint64_t *value)
{
	if (parse_u64(word, value) || *value < o->min || (o->max && *value > o->max))
		return -EINVAL;
	return 0;
}

static int parse_share(const char *word, uint64_t *value)
{
	double share;

	if (parse_percent(word, &share) || share <= 0 || share > 1)
		return -EINVAL;
	*value = share * 65536 < 1 ? 1 : share * 65536;
	return 0;
}

int probe_option_parse(struct record_opts *opts, size_t i, size_t n, const char *word)
{
	const struct probe_option *o = &probes[i]->options[n];
	uint64_t value = probe_option(opts, probes[i], o->name);
	int err = -EINVAL;

	if (!word != (o->type == PROBE_FLAG))
		return -EINVAL;
	switch (o->type) {
	case PROBE_FLAG:
		value = 1;
		err = 0;
		break;
	case PROBE_COUNT:
		err = parse_count(o, word, &value);
		break;
	case PROBE_TIME:
		err = parse_duration_ns(word, &value);
		break;
	case PROBE_SHARE:
		err = parse_share(word, &value);
		break;
	case PROBE_WORD:
		err = o->parse(word, &value);
		break;
	}
	if (!err)
		probe_option_give(opts, probes[i], o->name, value);
	return err;
}

const char *probe_option_takes(const struct probe_option *o)
{
	static const char *const of_type[] = {
		[PROBE_FLAG] = "no value",
		[PROBE_COUNT] = "a number",
		[PROBE_TIME] = "a duration; a unit is required, as in 500ms 10s 5m 1h",
		[PROBE_SHARE] = "a share, as in 10%",
	};

	return o->takes ? o->takes : of_type[o->type];
}

/* ---- aliases ---- */

enum { ALIAS_BITS = 8 };

static long data_of(size_t i, size_t n, size_t a)
{
	return (long)((i << ALIAS_BITS | n) << ALIAS_BITS | a);
}

static int set_alias(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *to = ctx;
	size_t mask = (1 << ALIAS_BITS) - 1, a = def->data & mask;
	size_t n = def->data >> ALIAS_BITS & mask, i = def->data >> (2 * ALIAS_BITS);
	const struct probe_option *o = &probes[i]->options[n];

	if (!probe_option_parse(&to->record, i, n, arg ? arg : o->alias[a].given))
		return 0;
	return option_error(def, "'%s' is not %s", arg, probe_option_takes(o));
}

static struct option_def entry(size_t i, size_t n, size_t a)
{
	const struct probe_option *o = &probes[i]->options[n];
	const struct probe_alias *alias = &o->alias[a];

	return (struct option_def){
		.name = alias->name,
		.letter = alias->letter,
		.arg = !alias->metavar ? ARG_NONE
		       : alias->given  ? ARG_OPTIONAL
				       : ARG_REQUIRED,
		.metavar = alias->metavar,
		.help = alias->doc ? alias->doc : o->doc,
		.set = set_alias,
		.data = data_of(i, n, a),
		.values = alias->metavar ? o->values : NULL,
		.list = o->list,
	};
}

size_t probe_option_aliases(struct option_def *to, size_t room)
{
	size_t cnt = 0;

	for (size_t i = 0; probes[i]; i++) {
		const struct probe_option *o = probes[i]->options;

		for (size_t n = 0; o && o[n].name; n++) {
			if (o[n].heading && cnt < room)
				to[cnt++] = (struct option_def){.help = o[n].heading};
			for (size_t a = 0; a < 2 && o[n].alias[a].name && cnt < room; a++)
				to[cnt++] = entry(i, n, a);
		}
	}
	return cnt;
}

int probe_options_check(const struct record_opts *opts)
{
	for (size_t i = 0; probes[i]; i++) {
		const char *why = probes[i]->conflict ? probes[i]->conflict(opts) : NULL;

		if (!why)
			continue;
		message_error("%s", why);
		return -EINVAL;
	}
	return 0;
}
