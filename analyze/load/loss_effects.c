/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/loss_effects.h"

#include <string.h>

#include "format/record.h"

const char *const loss_effects[] = {
#define EFFECT(name, on, one, many, meaning) #name,
#define CAUSE(source, begins, effect)
#define STREAM(stream, effect)
#include "analyze/load/loss_effects.def"
	NULL,
};

static const struct {
	const char *on, *one, *many, *meaning;
} texts[] = {
#define EFFECT(name, on, one, many, meaning) {#on, one, many, meaning},
#define CAUSE(source, begins, effect)
#define STREAM(stream, effect)
#include "analyze/load/loss_effects.def"
};

static const struct {
	const char *source, *begins, *effect;
} causes[] = {
#define EFFECT(name, on, one, many, meaning)
#define CAUSE(source, begins, effect) {source, begins, #effect},
#define STREAM(stream, effect)
#include "analyze/load/loss_effects.def"
};

static const struct {
	const char *stream, *effect;
} streams[] = {
#define EFFECT(name, on, one, many, meaning)
#define CAUSE(source, begins, effect)
#define STREAM(stream, effect) {stream, #effect},
#include "analyze/load/loss_effects.def"
};

const char *loss_effect_on(const char *effect)
{
	for (size_t i = 0; loss_effects[i]; i++)
		if (!strcmp(loss_effects[i], effect))
			return texts[i].on;
	return "all";
}

void loss_name(struct strbuf *b, const char *effect, uint64_t count)
{
	char buf[24];

	for (size_t i = 0; loss_effects[i]; i++)
		if (!strcmp(loss_effects[i], effect))
			strbuf_addf(b, "%s %s", format_count(buf, count),
				    count == 1 ? texts[i].one : texts[i].many);
}

void loss_text(struct strbuf *b, const char *effect, uint64_t count)
{
	loss_name(b, effect, count);
	for (size_t i = 0; loss_effects[i]; i++)
		if (!strcmp(loss_effects[i], effect))
			strbuf_addf(b, " %s", texts[i].meaning);
}

static bool is(struct span s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.p, text, s.len);
}

static bool begins(struct span s, const char *text)
{
	size_t len = strlen(text);

	return s.len >= len && !memcmp(s.p, text, len);
}

/* Causes that name a kind of record: "payload: not written". */
static const char *of_kind(struct span cause)
{
	const char *colon = cause.len ? memchr(cause.p, ':', cause.len) : NULL;
	const struct span name = {cause.p, colon ? (size_t)(colon - cause.p) : cause.len};

	for (unsigned i = 0; i < rec_info_cnt; i++) {
		if (!is(name, rec_infos[i].name))
			continue;
		for (size_t k = 0; k < sizeof(streams) / sizeof(*streams); k++)
			if (!strcmp(rec_infos[i].stream, streams[k].stream))
				return streams[k].effect;
	}
	return "all";
}

const char *loss_affects(struct span source, struct span cause)
{
	if (is(source, "archive"))
		return of_kind(cause);
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (is(source, causes[i].source) && begins(cause, causes[i].begins))
			return causes[i].effect;
	return "all";
}
