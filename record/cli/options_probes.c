/* SPDX-License-Identifier: BSD-2-Clause */
/* Selection of probes, their options and their attach variants. */
#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "record/cli/probe_options.h"
#include "record/probe/attach.h"
#include "record/probe/probe.h"

uint64_t options_default_probes(void)
{
	uint64_t set = 0;

	for (size_t i = 0; probes[i]; i++)
		set |= (uint64_t)probe_infos[i].by_default << i;
	return set;
}

void options_each_probe(uint64_t set, void (*fn)(void *ctx, const char *name), void *ctx)
{
	for (size_t i = 0; probes[i]; i++)
		if (set >> i & 1)
			fn(ctx, probes[i]->name);
}

/* Returns the probes that a name, an alias or a set stands for. */
static uint64_t probes_called(const char *word, size_t len)
{
	bool all = len == 4 && !memcmp(word, "@all", len);
	uint64_t set = 0;

	for (size_t i = 0; probes[i]; i++)
		if (*probes[i]->name &&
		    ((all && !probes[i]->costly) || probe_is_called(i, word, len)))
			set |= 1ULL << i;
	return set;
}

static uint64_t probe_bit(const char *name)
{
	return probes_called(name, strlen(name));
}

/* The first word without a sign replaces the default set; +x and -x modify the set. */
struct probe_list {
	struct record_opts *opts;
	uint64_t set, named, required; /* a set takes what this kernel has of it */
	uint64_t current;	       /* the probes to which following options apply */
	char called[16];	       /* the word that they were named by */
	bool replaced;
	char why[512];
};

/* Sets "option" or "option=value" of probe i. -ENOENT: no such option. */
static int set_option(struct probe_list *list, size_t i, const char *word, size_t len)
{
	const struct probe_option *o = probes[i]->options;
	const char *eq = memchr(word, '=', len);
	size_t name_len = eq ? (size_t)(eq - word) : len;
	char value[256];

	snprintf(value, sizeof(value), "%.*s", eq ? (int)(len - name_len - 1) : 0,
		 eq ? eq + 1 : "");
	for (size_t n = 0; o && o[n].name; n++) {
		if (strlen(o[n].name) != name_len || memcmp(o[n].name, word, name_len))
			continue;
		if (!probe_option_parse(list->opts, i, n, eq ? value : NULL))
			return 0;
		snprintf(list->why, sizeof(list->why), "'%.*s': option '%s' of probe '%s' takes %s",
			 (int)len, word, o[n].name, probes[i]->name, probe_option_takes(&o[n]));
		return -EINVAL;
	}
	return -ENOENT;
}

static int wrong_operand(struct probe_list *list, const char *word, size_t len, const char *why)
{
	snprintf(list->why, sizeof(list->why), "'%.*s': %s", (int)len, word, why);
	return -EINVAL;
}

/* Of a probe that keeps its operands itself. */
static int add_operand(struct probe_list *list, size_t i, const char *word, size_t len)
{
	char operand[RECORD_OPERAND_LEN];
	const char *why = "too long";

	if (len < sizeof(operand)) {
		snprintf(operand, sizeof(operand), "%.*s", (int)len, word);
		why = probes[i]->operand_add(list->opts, operand);
	}
	return why ? wrong_operand(list, word, len, why) : 0;
}

/* -ENOENT: the probe has no operands. */
static int set_operand(struct probe_list *list, size_t i, const char *word, size_t len)
{
	struct record_opts *opts = list->opts;
	char operand[RECORD_OPERAND_LEN] = "";
	const char *why = NULL;
	unsigned at = opts->operand_cnt;
	int n;

	if (probes[i]->operand_add)
		return add_operand(list, i, word, len);
	if (!probes[i]->operand || !memchr(word, ':', len))
		return -ENOENT;
	if (at && probes[i]->operand_more && probes[i]->operand_more(word, len))
		at--;
	if (at < opts->operand_cnt)
		n = snprintf(operand, sizeof(operand), "%s,%.*s", opts->operand[at], (int)len,
			     word);
	else if (probes[i]->operand_alias && !strcmp(list->called, probes[i]->operand_alias))
		n = snprintf(operand, sizeof(operand), "%s:%.*s", list->called, (int)len, word);
	else
		n = snprintf(operand, sizeof(operand), "%.*s", (int)len, word);
	if (at == RECORD_OPERANDS)
		why = "too many";
	else if (n >= RECORD_OPERAND_LEN)
		why = "too long";
	else
		why = probes[i]->operand_error(operand);
	if (why)
		return wrong_operand(list, word, len, why);
	memcpy(opts->operand[at], operand, sizeof(operand));
	opts->operand_cnt = at + 1;
	return 0;
}

/* For a set or an alias of several probes, each that has the option gets it. */
static int add_option(struct probe_list *list, const char *word, size_t len)
{
	int err = -ENOENT;

	for (size_t i = 0; probes[i]; i++) {
		int one = list->current >> i & 1 ? set_option(list, i, word, len) : -ENOENT;

		if (one == -ENOENT && list->current >> i & 1)
			one = set_operand(list, i, word, len);
		if (one == -EINVAL)
			return one;
		err = one ? err : 0;
	}
	if (err && list->current)
		snprintf(list->why, sizeof(list->why),
			 "'%.*s' is neither a probe nor an option of the probe before it; obrec "
			 "--list shows them",
			 (int)len, word);
	return err;
}

static int add_probe(void *ctx, const char *word, size_t len)
{
	struct probe_list *list = ctx;
	char sign = *word == '+' || *word == '-' ? *word : 0;
	const char *colon = memchr(word, ':', len);
	size_t name_len = (colon ? (size_t)(colon - word) : len) - !!sign;
	uint64_t called = probes_called(word + !!sign, name_len);

	if (!called) {
		list->why[0] = 0;
		return sign ? -EINVAL : add_option(list, word, len);
	}
	if (!sign && !list->replaced) {
		list->replaced = true;
		list->set = 0;
	}
	list->current = called;
	snprintf(list->called, sizeof(list->called), "%.*s", (int)name_len, word + !!sign);
	if (sign == '-') {
		list->set &= ~called;
		return colon ? -EINVAL : 0;
	}
	list->set |= called;
	list->named |= called;
	list->required |= word[!!sign] == '@' ? 0 : called;
	return colon ? add_option(list, colon + 1, word + len - colon - 1) : 0;
}

/* Excluding a probe also excludes those that require it, unless they are named. */
static uint64_t with_needs(uint64_t set, uint64_t named)
{
	uint64_t needed[RECORD_MAX_PROBES];
	size_t cnt = 0;

	for (; probes[cnt]; cnt++)
		needed[cnt] = probes[cnt]->needs ? 1ULL << probe_number(probes[cnt]->needs) : 0;
	for (size_t i = cnt; i--;)
		if (set & named & 1ULL << i) {
			set |= needed[i];
			named |= needed[i];
		}
	for (size_t i = 0; i < cnt; i++)
		if ((set & needed[i]) != needed[i])
			set &= ~(1ULL << i);
	return set;
}

int option_set_events(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	struct probe_list list = {
		.opts = &o->record,
		.set = o->record.probes,
		.named = o->record.required,
		.required = o->record.required,
		.replaced = o->events_given,
	};

	if (option_each_word(arg, add_probe, &list))
		return list.why[0]
			       ? option_error(def, "%s", list.why)
			       : option_error(def, "unknown probe in '%s'; see obrec --list", arg);
	o->events_given |= list.replaced;
	list.set = with_needs(list.set, list.named);
	if (!list.set)
		return option_error(def, "'%s' enables no probe", arg);
	o->record.probes = list.set;
	o->record.required = list.required & list.set;
	return 0;
}

int option_set_no_tls(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	o->record.probes &= ~probe_bit("tls");
	o->record.required &= ~probe_bit("tls");
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

int option_set_attach(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	struct attach_words a = {.forced = o->record.attach, .why = "empty name in the list"};

	if (option_each_word(arg, add_attach, &a))
		return option_error(def, "%s", a.why);
	return 0;
}

/* A set leaves out a probe that has nothing to record. */
static int check_operands(struct record_opts *opts)
{
	for (size_t i = 0; probes[i]; i++) {
		if (!probes[i]->operand || probes[i]->operand_add || opts->operand_cnt ||
		    !(opts->probes >> i & 1))
			continue;
		if (opts->required >> i & 1) {
			message_error("probe '%s' records nothing without -e %s:%s",
				      probes[i]->name, probes[i]->name, probes[i]->operand);
			return -EINVAL;
		}
		opts->probes &= ~(1ULL << i);
	}
	return 0;
}

/* Variant n of probe i, which an option may select. */
static int select_variant(struct record_opts *opts, size_t i, int n)
{
	const struct variant *v = &probes[i]->variants[n];
	const struct probe_option *o = probe_variant_option(probes[i], v->name);
	bool given = o && probe_option(opts, probes[i], o->name);

	if (!o || (!given && opts->attach[i] != n + 1))
		return 0;
	if (given && (!opts->attach[i] || opts->attach[i] == n + 1)) {
		opts->attach[i] = n + 1;
		return 0;
	}
	message_error("--attach: option '%s' of probe '%s' takes variant '%s', and no other does",
		      o->name, probes[i]->name, v->name);
	return -EINVAL;
}

static int select_variants(struct record_opts *opts)
{
	int err = 0;

	for (size_t i = 0; probes[i] && !err; i++)
		for (int n = 0; probes[i]->variants && probes[i]->variants[n].name && !err; n++)
			err = select_variant(opts, i, n);
	return err;
}

int options_check_probes(struct options *o)
{
	if (check_operands(&o->record))
		return -EINVAL;
	if (select_variants(&o->record))
		return -EINVAL;
	if (probe_options_check(&o->record))
		return -EINVAL;
	for (size_t i = 0; probes[i] && !o->list; i++) {
		if (o->record.attach[i] && !(o->record.probes >> i & 1)) {
			message_error("--attach: probe '%s' is not enabled", probes[i]->name);
			return -EINVAL;
		}
		o->record.required |= (uint64_t) !!o->record.attach[i] << i;
	}
	return 0;
}
