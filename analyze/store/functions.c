/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/functions.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/store/buckets.h"
#include "format/demangle.h"
#include "format/text.h"

struct quantile {
	struct buckets buckets;
	double p;
};

static void quantile_step(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	struct quantile *q = sqlite3_aggregate_context(c, sizeof(*q));
	int64_t count = sqlite3_value_int64(argv[3]);

	if (!q) {
		sqlite3_result_error_nomem(c);
		return;
	}
	q->p = sqlite3_value_double(argv[0]);
	if (count > 0 && buckets_add(&q->buckets, sqlite3_value_int64(argv[1]),
				     sqlite3_value_int64(argv[2]), count))
		sqlite3_result_error_nomem(c);
}

static void quantile_final(sqlite3_context *c)
{
	struct quantile *q = sqlite3_aggregate_context(c, 0);

	if (!q || !q->buckets.cnt)
		sqlite3_result_null(c);
	else
		sqlite3_result_int64(c, buckets_quantile(&q->buckets, q->p, NULL));
	if (q)
		buckets_fini(&q->buckets);
}

/* Returns the length of the next part of s. *s is set to the text after it, NULL after the last. */
static size_t next_part(const char **s)
{
	size_t len = strcspn(*s, "\t");

	*s = (*s)[len] ? *s + len + 1 : NULL;
	return len;
}

static void part(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	const char *key = (const char *)sqlite3_value_text(argv[0]),
		   *keys = (const char *)sqlite3_value_text(argv[1]),
		   *name = (const char *)sqlite3_value_text(argv[2]);

	while (key && keys && name) {
		const char *value = key, *called = keys;
		size_t value_len = next_part(&key), called_len = next_part(&keys);

		if (called_len == strlen(name) && !memcmp(called, name, called_len)) {
			sqlite3_result_text(c, value, value_len, SQLITE_TRANSIENT);
			return;
		}
	}
}

static void named(sqlite3_context *c, sqlite3_value *value, char *(*format)(char *, uint32_t))
{
	sqlite3_int64 number = sqlite3_value_int64(value);
	char text[24];

	if (number >= 0 && number <= UINT32_MAX)
		sqlite3_result_text(c, format(text, number), -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_value(c, value);
}

static void signal_name(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	named(c, argv[0], format_signal);
}

static void capability_name(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	named(c, argv[0], format_capability);
}

static void errno_name(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	sqlite3_int64 number = sqlite3_value_int64(argv[0]);
	char text[24];

	if (number > 0 && number <= UINT32_MAX)
		sqlite3_result_text(c, format_errno(text, number), -1, SQLITE_TRANSIENT);
}

/* The name of a C++ or Rust function as programmers write it; others as they are. */
static void demangled(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	const char *name = (const char *)sqlite3_value_text(argv[0]);
	char *text = name ? demangle(name) : NULL;

	if (text)
		sqlite3_result_text(c, text, -1, free);
	else
		sqlite3_result_value(c, argv[0]);
}

int functions_add(sqlite3 *db)
{
	static const struct {
		const char *name;
		int args;
		void (*fn)(sqlite3_context *c, int argc, sqlite3_value **argv);
	} functions[] = {
		{"part", 3, part},
		{"signal_name", 1, signal_name},
		{"capability_name", 1, capability_name},
		{"errno_name", 1, errno_name},
		{"demangle", 1, demangled},
	};
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = sqlite3_create_function_v2(db, "quantile", 4, flags, NULL, NULL, quantile_step,
					    quantile_final, NULL);

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && !rc; i++)
		rc = sqlite3_create_function_v2(db, functions[i].name, functions[i].args, flags,
						NULL, functions[i].fn, NULL, NULL, NULL);
	return rc;
}
