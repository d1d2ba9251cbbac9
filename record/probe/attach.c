/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "record/probe/attach.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

static void add_word(char *list, size_t sz, const char *between, const char *fmt, const char *a,
		     const char *b)
{
	size_t len = strlen(list);

	if (len && len < sz)
		len += snprintf(list + len, sz - len, "%s", between);
	if (len < sz)
		snprintf(list + len, sz - len, fmt, a, b);
}

int attach_choose(const struct probe *probe, const struct features *f, unsigned forced, char *why,
		  size_t why_sz)
{
	const struct variant *v = probe->variants;
	char reason[256];

	why[0] = 0;
	if (!v)
		return probe->available && !probe->available(f, why, why_sz) ? -EOPNOTSUPP : 0;
	for (int i = 0; v[i].name; i++) {
		bool by_option = probe_variant_option(probe, v[i].name);

		if (forced ? forced != i + 1u : by_option)
			continue;
		if (by_option || variant_possible(&v[i], f, reason, sizeof(reason)))
			return i;
		add_word(why, why_sz, "; ", "%s: %s", v[i].name, reason);
	}
	return -EOPNOTSUPP;
}

/* Plans one requested probe. `why` gets the reason if it is unavailable. */
static int plan_probe(struct attach_plan *plan, const struct record_opts *opts, size_t i, char *why,
		      size_t why_sz)
{
	const struct probe *needs = probes[i]->needs;
	int variant;

	if (needs && !(plan->probes >> probe_number(needs) & 1)) {
		snprintf(why, why_sz, "requires probe '%s'", needs->name);
		return -EOPNOTSUPP;
	}
	variant = attach_choose(probes[i], &plan->features, opts->attach[i], why, why_sz);
	if (variant < 0)
		return variant;
	if (probes[i]->possible && !probes[i]->possible(opts, &plan->features, why, why_sz))
		return -EOPNOTSUPP;
	plan->variant[i] = variant;
	plan->probes |= 1ULL << i;
	return 0;
}

int attach_plan_make(struct attach_plan *plan, const struct record_opts *opts)
{
	char why[1024];
	int err, last = 0;

	memset(plan, 0, sizeof(*plan));
	err = features_detect(&plan->features, opts->btf, why, sizeof(why));
	if (err) {
		message_error("%s", why);
		return err;
	}
	for (size_t i = 0; probes[i]; i++) {
		if (!(opts->probes >> i & 1))
			continue;
		err = plan_probe(plan, opts, i, why, sizeof(why));
		if (!err)
			continue;
		if (opts->required >> i & 1) {
			message_error("probe '%s' is not available: %s", probes[i]->name, why);
			return err;
		}
		message_warn("probe '%s' is skipped: %s", probes[i]->name, why);
		last = err;
	}
	if (plan->probes)
		return 0;
	message_error(last ? "no probe is available" : "no probe is enabled");
	return last ? last : -EINVAL;
}

static bool is_word(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !memcmp(name, word, len);
}

static int parse_variant(const struct variant *v, const char *word, size_t len, char *choices,
			 size_t sz)
{
	choices[0] = 0;
	for (int i = 0; v[i].name; i++) {
		if (is_word(v[i].name, word, len))
			return i;
		add_word(choices, sz, ", ", "%s%s", v[i].name, "");
	}
	return -EINVAL;
}

int attach_parse(unsigned char *forced, const char *word, size_t len, char *why, size_t why_sz)
{
	const char *eq = memchr(word, '=', len);
	size_t name_len = eq ? (size_t)(eq - word) : len;
	char choices[256] = "";
	int variant;

	for (size_t i = 0; probes[i]; i++) {
		if (!probes[i]->variants)
			continue;
		add_word(choices, sizeof(choices), ", ", "%s%s", probes[i]->name, "");
		if (!is_word(probes[i]->name, word, name_len))
			continue;
		variant = parse_variant(probes[i]->variants, eq ? eq + 1 : "",
					eq ? len - name_len - 1 : 0, choices, sizeof(choices));
		if (variant >= 0) {
			forced[i] = variant + 1;
			return 0;
		}
		snprintf(why, why_sz, "'%.*s' is not a variant of probe '%s'; variants: %s",
			 (int)(eq ? len - name_len - 1 : 0), eq ? eq + 1 : "", probes[i]->name,
			 choices);
		return -EINVAL;
	}
	snprintf(why, why_sz, "'%.*s' is not PROBE=VARIANT of a probe with variants: %s",
		 (int)name_len, word, choices);
	return -EINVAL;
}

const char *attach_name(const struct attach_plan *plan, size_t i)
{
	const struct variant *v = probes[i]->variants;

	return v ? v[plan->variant[i]].name : NULL;
}

unsigned probe_env__variant(const struct probe_env *env, const struct probe *probe)
{
	return env->plan->variant[probe_number(probe)];
}
