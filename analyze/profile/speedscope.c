/* SPDX-License-Identifier: BSD-2-Clause */
/* Speedscope's file format (https://www.speedscope.app/file-format-schema.json), with one "sampled"
 * profile per kind, whose samples are in the order of time. */
#include "analyze/profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/base/intern.h"

struct speedscope {
	FILE *out;
	struct profile_type *types; /* with strings owned */
	size_t type_cnt;
	size_t type;	       /* of the profile being written; type_cnt: none */
	bool any;	       /* profiles were written */
	struct intern *frames; /* name, file, line as bytes */
	struct strbuf shared;  /* the frames as JSON */
	uint64_t *weights, total;
	size_t cnt, cap;
	struct strbuf text;
};

static void speedscope_free(struct speedscope *s)
{
	for (size_t i = 0; s->types && i < s->type_cnt; i++) {
		free((char *)s->types[i].name);
		free((char *)s->types[i].unit);
	}
	free(s->types);
	intern__free(s->frames);
	free(s->weights);
	strbuf_fini(&s->shared);
	strbuf_fini(&s->text);
	free(s);
}

/* FileFormat.ValueUnit of speedscope has no count. */
static const char *unit_of(const char *unit)
{
	return !strcmp(unit, "nanoseconds") || !strcmp(unit, "bytes") ? unit : "none";
}

static int copy_types(struct speedscope *s, const struct profile_info *info)
{
	s->types = calloc(info->type_cnt, sizeof(*s->types));
	if (!s->types)
		return -ENOMEM;
	s->type = s->type_cnt = info->type_cnt;
	for (size_t i = 0; i < s->type_cnt; i++) {
		s->types[i].name = strdup(info->types[i].name);
		s->types[i].unit = strdup(unit_of(info->types[i].unit));
		if (!s->types[i].name || !s->types[i].unit)
			return -ENOMEM;
	}
	return 0;
}

static void write_string(struct speedscope *s, const char *text)
{
	s->text.len = 0;
	strbuf_escape(&s->text, ESCAPE_JSON, span_of(text));
	fprintf(s->out, "\"%.*s\"", (int)s->text.len, s->text.len ? s->text.p : "");
}

static int speedscope_begin(const struct profile_sink *self, void **state,
			    const struct profile_info *info, FILE *out)
{
	struct speedscope *s = calloc(1, sizeof(*s));

	*state = NULL;
	if (!s)
		return -ENOMEM;
	s->out = out;
	if (copy_types(s, info) || intern__new(&s->frames)) {
		speedscope_free(s);
		return -ENOMEM;
	}
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	      "\"exporter\":\"obana\",\"name\":",
	      out);
	write_string(s, info->title);
	fputs(",\"activeProfileIndex\":0,\n\"profiles\":[", out);
	*state = s;
	return 0;
}

static void begin_profile(struct speedscope *s, size_t type)
{
	fprintf(s->out, "%s{\"type\":\"sampled\",\"name\":", s->any ? ",\n" : "");
	write_string(s, s->types[type].name);
	fprintf(s->out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[", s->types[type].unit);
	s->type = type;
	s->any = true;
	s->cnt = s->total = 0;
}

static void end_profile(struct speedscope *s)
{
	if (s->type == s->type_cnt)
		return;
	fprintf(s->out, "],\n\"weights\":[");
	for (size_t i = 0; i < s->cnt; i++)
		fprintf(s->out, i ? ",%" PRIu64 : "%" PRIu64, s->weights[i]);
	fprintf(s->out, "],\n\"endValue\":%" PRIu64 "}", s->total);
	s->type = s->type_cnt;
}

static void put_string(struct strbuf *b, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	strbuf_addf(b, ",\"%s\":\"", key);
	strbuf_escape(b, ESCAPE_JSON, span_of(value));
	strbuf_add(b, "\"", 1);
}

static void add_frame(struct speedscope *s, const struct profile_frame *f, const char *file)
{
	strbuf_addf(&s->shared, "%s\n{\"name\":\"", s->shared.len ? "," : "");
	strbuf_escape(&s->shared, ESCAPE_JSON, span_of(f->name));
	strbuf_add(&s->shared, "\"", 1);
	put_string(&s->shared, "file", file);
	if (f->line)
		strbuf_addf(&s->shared, ",\"line\":%u", f->line);
	strbuf_add(&s->shared, "}", 1);
}

static uint32_t frame_id(struct speedscope *s, const struct profile_frame *f)
{
	/* Speedscope's tooltip shows file and line. Without a source file, the binary is shown. */
	const char *file = f->file && *f->file ? f->file : f->binary ? f->binary : "";
	uint32_t id, before = intern__count(s->frames);

	s->text.len = 0;
	strbuf_add(&s->text, f->name, strlen(f->name) + 1);
	strbuf_add(&s->text, file, strlen(file) + 1);
	strbuf_add(&s->text, (const char *)&f->line, sizeof(f->line));
	if (s->text.failed || s->shared.failed)
		return INTERN_FAILED;
	id = intern__add(s->frames, (struct span){s->text.p, s->text.len});
	if (id == before)
		add_frame(s, f, file);
	return id;
}

/* Numbers are most of the file, so this avoids printf(). */
static void put_id(FILE *out, uint32_t id, bool first)
{
	char text[12], *p = text + sizeof(text);

	do
		*--p = '0' + id % 10;
	while (id /= 10);
	if (!first)
		*--p = ',';
	fwrite(p, 1, text + sizeof(text) - p, out);
}

static int keep_weight(struct speedscope *s, uint64_t weight)
{
	if (s->cnt == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 1024;
		uint64_t *weights = realloc(s->weights, cap * sizeof(*weights));

		if (!weights)
			return -ENOMEM;
		s->weights = weights;
		s->cap = cap;
	}
	s->weights[s->cnt++] = weight;
	s->total += weight;
	return 0;
}

static int speedscope_stack(void *state, const struct profile_stack *stack)
{
	struct speedscope *s = state;
	bool first;

	if (stack->primary != s->type) {
		end_profile(s);
		begin_profile(s, stack->primary);
	}
	first = !s->cnt;
	if (keep_weight(s, stack->values[s->type]))
		return -ENOMEM;
	fputs(first ? "\n[" : ",\n[", s->out);
	for (size_t i = 0; i < stack->cnt; i++) {
		uint32_t id = frame_id(s, &stack->frames[i]);

		if (id == INTERN_FAILED)
			return -ENOMEM;
		put_id(s->out, id, !i);
	}
	putc(']', s->out);
	return ferror(s->out) ? -EIO : 0;
}

static int speedscope_end(void *state)
{
	struct speedscope *s = state;
	int err = 0;

	end_profile(s);
	fputs("],\n\"shared\":{\"frames\":[", s->out);
	if (s->shared.len)
		fwrite(s->shared.p, 1, s->shared.len, s->out);
	fprintf(s->out, "]}}\n");
	if (s->shared.failed)
		err = -ENOMEM;
	else if (fflush(s->out) || ferror(s->out))
		err = errno ? -errno : -EIO;
	speedscope_free(s);
	return err;
}

const struct profile_sink profile_speedscope = {.name = "speedscope",
						.wants = PROFILE_KINDS | PROFILE_TIMES,
						.begin = speedscope_begin,
						.stack = speedscope_stack,
						.end = speedscope_end};
