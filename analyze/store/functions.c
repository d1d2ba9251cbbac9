/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/store/buckets.h"
#include "format/demangle.h"
#include "format/text.h"

struct quantile {
	struct buckets buckets;
	double p;
};

/* A bucket: low, high, count, sum of its values. */
static bool is_sum_known(sqlite3_value **argv)
{
	__int128 low = sqlite3_value_int64(argv[0]), high = sqlite3_value_int64(argv[1]),
		 count = sqlite3_value_int64(argv[2]), sum = sqlite3_value_int64(argv[3]);

	return count > 0 && sum >= count * low && sum < count * high;
}

/* p, low, high, count[, sum]: the mean of a bucket is nearer than its middle, and
 * never more than the largest value. */
static void quantile_step(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	struct quantile *q = sqlite3_aggregate_context(c, sizeof(*q));
	int64_t low = sqlite3_value_int64(argv[1]), high = sqlite3_value_int64(argv[2]),
		count = sqlite3_value_int64(argv[3]);

	if (!q) {
		sqlite3_result_error_nomem(c);
		return;
	}
	if (argc > 4 && is_sum_known(argv + 1)) {
		low = sqlite3_value_int64(argv[4]) / count;
		high = low + 1;
	}
	q->p = sqlite3_value_double(argv[0]);
	if (count > 0 && buckets_add(&q->buckets, low, high, count))
		sqlite3_result_error_nomem(c);
}

/* The largest value that a bucket can contain: exact for a single one. */
static void largest(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	int64_t low = sqlite3_value_int64(argv[0]), high = sqlite3_value_int64(argv[1]);
	__int128 others = ((__int128)sqlite3_value_int64(argv[2]) - 1) * low;

	if (is_sum_known(argv) && sqlite3_value_int64(argv[3]) - others < high)
		high = sqlite3_value_int64(argv[3]) - others;
	sqlite3_result_int64(c, high);
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

/* Of the function that a call is of: a symbol, perhaps followed by @ and what distinguishes it from
 * others of that name. Constructors and destructors have variants of one name. */
static void function_title(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	const char *symbol = (const char *)sqlite3_value_text(argv[0]), *rest;
	char *name, *text;

	if (!symbol)
		return;
	rest = symbol + strcspn(symbol, "@");
	name = strndup(symbol, rest - symbol);
	text = name ? demangle(name) : NULL;
	if (text)
		sqlite3_result_text(c,
				    sqlite3_mprintf("%s%s%s", text, demangle_variant(name), rest),
				    -1, sqlite3_free);
	else
		sqlite3_result_value(c, argv[0]);
	free(name);
	free(text);
}

static bool in_identifier(char c)
{
	return c == '_' || c == '$' || isalnum((unsigned char)c);
}

/* The name may contain brackets that are not pairs, and spaces. */
static bool is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";

	return !strncmp(at, word, sizeof(word) - 1) && !in_identifier(at[sizeof(word) - 1]) &&
	       (at == name || !in_identifier(at[-1]));
}

static bool is_anonymous(const char *at)
{
	return !strncmp(at, "(anonymous", 10);
}

/* Demanglers write the return type of a template before its name, with spaces where it is within
 * brackets or of several words. */
static const char *behind_return_type(const char *name)
{
	const char *bare = name, *at;
	int depth = 0;

	for (at = name; *at; at++) {
		if (strchr("<({[", *at)) {
			if (!depth && *at == '(' && !is_anonymous(at) &&
			    strncmp(bare, "decltype", 8))
				break; /* parameters */
			depth++;
		} else if (strchr(">)}]", *at)) {
			depth -= depth && !(at > name && at[-1] == '-');
		} else if (!depth && *at == ' ' && (at[1] != '(' || is_anonymous(at + 1))) {
			bare = at + 1;
		} else if (!depth && is_operator(name, at)) {
			return bare;
		}
	}
	return at > bare ? bare : name;
}

static void bare_name(sqlite3_context *c, int argc, sqlite3_value **argv)
{
	const char *name = (const char *)sqlite3_value_text(argv[0]);

	if (name)
		sqlite3_result_text(c, behind_return_type(name), -1, SQLITE_TRANSIENT);
}

int functions_add(sqlite3 *db)
{
	static const struct {
		const char *name;
		int args;
		void (*fn)(sqlite3_context *c, int argc, sqlite3_value **argv);
	} functions[] = {
		{"largest", 4, largest},
		{"part", 3, part},
		{"signal_name", 1, signal_name},
		{"capability_name", 1, capability_name},
		{"errno_name", 1, errno_name},
		{"demangle", 1, demangled},
		{"function_title", 1, function_title},
		{"bare_name", 1, bare_name},
	};
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = SQLITE_OK;

	for (int args = 4; args <= 5 && !rc; args++)
		rc = sqlite3_create_function_v2(db, "quantile", args, flags, NULL, NULL,
						quantile_step, quantile_final, NULL);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && !rc; i++)
		rc = sqlite3_create_function_v2(db, functions[i].name, functions[i].args, flags,
						NULL, functions[i].fn, NULL, NULL, NULL);
	return rc;
}
