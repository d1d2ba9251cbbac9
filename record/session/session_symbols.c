/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binaries without symbols, for the end record: {"samples": number of user stacks, "without":
 * number whose leaf is in such a binary, "binaries": [{"path", "samples"}, ...]}, most samples
 * first.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "record/session/session_impl.h"

enum { BINARIES = 0xffff, NAMED_MAX = 10 };

struct without {
	const char *path;
	uint64_t samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct without *x = a, *y = b;

	return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1)
					: strcmp(x->path, y->path);
}

static size_t find(const struct session *s, struct without *v, uint64_t *sum)
{
	size_t cnt = 0;

	for (uint32_t i = 1; i < BINARIES; i++) {
		uint64_t n = intake__leaves(s->intake, i);
		const char *path = n ? tracker__file(s->tracker, i) : NULL;
		const char *symbols = path ? debuginfo__symbols(s->debuginfo, i) : NULL;

		if (!symbols || strcmp(symbols, "none"))
			continue;
		v[cnt++] = (struct without){path, n};
		*sum += n;
	}
	return cnt;
}

struct json_object *session_symbols_json(const struct session *s)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	struct without *v = calloc(BINARIES, sizeof(*v));
	uint64_t sum = 0;
	size_t cnt = v ? find(s, v, &sum) : 0;

	if (cnt)
		qsort(v, cnt, sizeof(*v), by_samples);
	for (size_t i = 0; i < cnt && i < NAMED_MAX; i++) {
		struct json_object *row = json_object_new_object();

		json_object_object_add(row, "path", json_object_new_string(v[i].path));
		json_object_object_add(row, "samples", json_object_new_uint64(v[i].samples));
		json_object_array_add(list, row);
	}
	json_object_object_add(o, "samples",
			       json_object_new_uint64(intake__counts(s->intake).user_stacks));
	json_object_object_add(o, "without", json_object_new_uint64(sum));
	json_object_object_add(o, "count", json_object_new_uint64(cnt));
	json_object_object_add(o, "binaries", list);
	free(v);
	return o;
}
