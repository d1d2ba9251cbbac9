/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of probes, and functions common to all. */
#include "record/probe/probe.h"

#include <stdio.h>
#include <string.h>

#define PROBE(name, ...) extern const struct probe probe_##name##_entry;
#include "format/probes.def"

static bool never(const struct features *f, char *why, size_t why_sz)
{
	snprintf(why, why_sz, "no probe has this number");
	return false;
}

/* In place of unused numbers. */
static const struct probe unused = {.name = "", .available = never};

/* Each list begins with unused numbers, which the probes override. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

const struct probe *const probes[RECORD_MAX_PROBES + 1] = {
	[0 ... RECORD_MAX_PROBES - 1] = &unused,
#define PROBE(name, number, ...) [number] = &probe_##name##_entry,
#include "format/probes.def"
};

const struct probe_info probe_infos[RECORD_MAX_PROBES] = {
	[0 ... RECORD_MAX_PROBES - 1] = {"", "", "", "", false},
#define PROBE(name, number, by_default, title, unit, aliases)                                      \
	[number] = {#name, title, unit, aliases, by_default},
#include "format/probes.def"
};

bool probe_is_called(size_t number, const char *word, size_t len)
{
	const char *at = probe_infos[number].aliases;

	if (strlen(probe_infos[number].name) == len && !memcmp(probe_infos[number].name, word, len))
		return true;
	for (; *at; at += strspn(at, ",")) {
		size_t n = strcspn(at, ",");

		if (n == len && !memcmp(at, word, len))
			return true;
		at += n;
	}
	return false;
}

size_t probe_number(const struct probe *probe)
{
	size_t i = 0;

	while (probes[i] != probe)
		i++;
	return i;
}

void *probe_env__state(const struct probe_env *env, const struct probe *probe)
{
	return env->state[probe_number(probe)];
}

const struct probe_option *probe_variant_option(const struct probe *probe, const char *variant)
{
	for (const struct probe_option *o = probe->options; o && o->name; o++)
		if (o->variant && !strcmp(o->variant, variant))
			return o;
	return NULL;
}

static size_t option_number(const struct probe *probe, const char *name)
{
	size_t n = 0;

	while (strcmp(probe->options[n].name, name))
		n++;
	return n;
}

uint64_t probe_option(const struct record_opts *opts, const struct probe *probe, const char *name)
{
	size_t i = probe_number(probe), n = option_number(probe, name);

	return opts->options_given[i] >> n & 1 ? opts->option[i][n] : probe->options[n].value;
}

void probe_option_give(struct record_opts *opts, const struct probe *probe, const char *name,
		       uint64_t value)
{
	size_t i = probe_number(probe), n = option_number(probe, name);

	opts->options_given[i] |= 1 << n;
	opts->option[i][n] = value;
}

uint64_t probe_env__option(const struct probe_env *env, const struct probe *probe, const char *name)
{
	return probe_option(env->opts, probe, name);
}
