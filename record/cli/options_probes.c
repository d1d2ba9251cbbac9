/* SPDX-License-Identifier: BSD-2-Clause */
/* Which probes are on, and how they are attached. */
#include <string.h>

#include "format/text.h"
#include "record/probe/attach.h"
#include "record/cli/options_set.h"

static const struct {
	const char *name;
	bool by_default;
} probes[] = {
#define PROBE(name, by_default, doc) {#name, by_default},
#include "record/probe/probes.def"
#undef PROBE
};
#define PROBE_CNT (sizeof(probes) / sizeof(probes[0]))

uint64_t options_default_probes(void)
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

int option_set_events(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	struct probe_list list = {.set = o->record.probes, .named = o->record.required};

	if (option_each_word(arg, add_probe, &list))
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
	struct attach_words a = {.forced = o->record.attach, .why = "an empty word in the list"};

	if (option_each_word(arg, add_attach, &a))
		return option_error(def, "%s", a.why);
	return 0;
}

int options_check_probes(struct options *o)
{
	for (size_t i = 0; i < PROBE_CNT && !o->list; i++) {
		if (o->record.attach[i] && !(o->record.probes >> i & 1)) {
			message_error("--attach: probe '%s' is not on", probes[i].name);
			return -EINVAL;
		}
		o->record.required |= (uint64_t) !!o->record.attach[i] << i;
	}
	return 0;
}
