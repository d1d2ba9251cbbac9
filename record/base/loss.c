/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "record/base/loss.h"

struct cause {
	char *source, *cause;
	uint64_t count, written;
};

/* A few dozen pairs at most: linear search. */
struct loss {
	struct cause *causes;
	size_t cnt;
	uint64_t total;
};

int loss__new(struct loss **l)
{
	*l = calloc(1, sizeof(**l));
	return *l ? 0 : -ENOMEM;
}

void loss__free(struct loss *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->cnt; i++) {
		free(l->causes[i].source);
		free(l->causes[i].cause);
	}
	free(l->causes);
	free(l);
}

static struct cause *find(struct loss *l, const char *source, const char *cause)
{
	struct cause *c;

	for (size_t i = 0; i < l->cnt; i++) {
		c = &l->causes[i];
		if (!strcmp(c->source, source) && !strcmp(c->cause, cause))
			return c;
	}
	c = realloc(l->causes, (l->cnt + 1) * sizeof(*c));
	if (!c)
		return NULL;
	l->causes = c;
	c += l->cnt;
	*c = (struct cause){.source = strdup(source), .cause = strdup(cause)};
	if (c->source && c->cause) {
		l->cnt++;
		return c;
	}
	free(c->source);
	free(c->cause);
	return NULL;
}

void loss__add(void *ctx, const char *source, const char *cause, uint64_t count)
{
	struct loss *l = ctx;
	struct cause *c;

	if (!count)
		return;
	l->total += count;
	c = find(l, source, cause);
	if (c)
		c->count += count;
}

int loss__write(struct loss *l, struct obz_writer *writer, uint64_t ts_ns)
{
	for (size_t i = 0; i < l->cnt; i++) {
		struct cause *c = &l->causes[i];
		struct rec_loss r = {
			.ts_ns = ts_ns,
			.source = span_of(c->source),
			.cause = span_of(c->cause),
			.count = c->count - c->written,
		};
		int err;

		if (!r.count)
			continue;
		err = obz_writer__put(writer, REC_loss, &r);
		if (err)
			return err;
		c->written = c->count;
	}
	return 0;
}

uint64_t loss__total(const struct loss *l)
{
	return l->total;
}

void loss__each(const struct loss *l,
		void (*fn)(void *ctx, const char *source, const char *cause, uint64_t count),
		void *ctx)
{
	for (size_t i = 0; i < l->cnt; i++)
		fn(ctx, l->causes[i].source, l->causes[i].cause, l->causes[i].count);
}
