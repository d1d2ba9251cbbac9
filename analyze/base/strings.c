/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/base/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/intern.h"

struct strings {
	struct intern *table;
	int failed;
};

int strings__new(struct strings **out)
{
	struct strings *s = calloc(1, sizeof(*s));

	if (!s || intern__new(&s->table)) {
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void strings__free(struct strings *s)
{
	if (s)
		intern__free(s->table);
	free(s);
}

uint32_t strings__add(struct strings *s, struct span text)
{
	uint32_t id;

	if (!text.p)
		return 0;
	text.len = strnlen(text.p, text.len);
	id = intern__add(s->table, text);
	if (id == INTERN_FAILED) {
		s->failed = -ENOMEM;
		return 0;
	}
	return id + 1;
}

uint32_t strings__find(const struct strings *s, struct span text)
{
	uint32_t id;

	if (!text.p)
		return 0;
	text.len = strnlen(text.p, text.len);
	id = intern__find(s->table, text);
	return id == INTERN_FAILED ? 0 : id + 1;
}

const char *strings__get(const struct strings *s, uint32_t id)
{
	return id ? intern__get(s->table, id - 1).p : NULL;
}

int strings__failed(const struct strings *s)
{
	return s->failed;
}

size_t strings__held(const struct strings *s)
{
	return intern__held(s->table);
}
