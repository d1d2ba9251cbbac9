/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/table_value.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "analyze/base/name_short.h"

enum { CONTAINER_ID_MIN = 12 }; /* digits */

bool value_is_optional(sqlite3_stmt *stmt, int col)
{
	const char *name = sqlite3_column_name(stmt, col);

	return name && *name == '?' && isalpha((unsigned char)name[1]);
}

const char *value_column(sqlite3_stmt *stmt, int col)
{
	const char *name = sqlite3_column_name(stmt, col);

	return name && value_is_optional(stmt, col) ? name + 1 : name;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

static struct span text_of(sqlite3_stmt *stmt, int col)
{
	const void *p = sqlite3_column_blob(stmt, col);

	return (struct span){p, p ? sqlite3_column_bytes(stmt, col) : 0};
}

static void add_real(struct strbuf *b, double v)
{
	char buf[40];

	snprintf(buf, sizeof(buf), "%.15g", v);
	if (isfinite(v) && !strpbrk(buf, ".e"))
		strcat(buf, ".0"); /* remains a real, as in the sqlite3 shell */
	strbuf_addf(b, "%s", buf);
}

/* Same as printf in a third of the time: most cells are numbers. */
static void add_int(struct strbuf *b, int64_t v)
{
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
	char buf[24], *p = buf + sizeof(buf);

	do
		*--p = '0' + left % 10;
	while (left /= 10);
	if (v < 0)
		*--p = '-';
	strbuf_add(b, p, buf + sizeof(buf) - p);
}

/* Formats by the suffix of the column name. False: no known suffix. */
static bool add_human(struct strbuf *b, sqlite3_stmt *stmt, int col, int type)
{
	const char *name = value_column(stmt, col);
	char buf[24];

	if (!name || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
		return false;
	if (ends_with(name, "share")) {
		double percent = 100 * sqlite3_column_double(stmt, col);

		if (percent > 0 && percent < 0.005)
			strbuf_addf(b, "<0.01%%"); /* small but not zero */
		else
			strbuf_addf(b, "%.2f%%", percent);
		return true;
	}
	if (sqlite3_column_double(stmt, col) < 0)
		return false;
	if (ends_with(name, "_ns") || !strcmp(name, "ns"))
		strbuf_addf(b, "%s", format_duration(buf, sqlite3_column_double(stmt, col)));
	else if (ends_with(name, "bytes"))
		strbuf_addf(b, "%s", format_bytes(buf, sqlite3_column_double(stmt, col)));
	else
		return false;
	return true;
}

bool value_is_function(sqlite3_stmt *stmt, int col)
{
	const char *name = value_column(stmt, col);

	return name && !strcmp(name, "function");
}

bool value_is_service(sqlite3_stmt *stmt, int col)
{
	static const char *const columns[] = {"service", "peer",   "called",
					      "client",	 "server", "other"};
	const char *name = value_column(stmt, col);

	for (size_t i = 0; name && i < sizeof(columns) / sizeof(*columns); i++)
		if (!strcmp(name, columns[i]))
			return true;
	return false;
}

void value_short_service(struct strbuf *name)
{
	size_t id = name->p ? strspn(name->p, "0123456789abcdef") : 0;

	if (id < CONTAINER_ID_MIN || name->p[id] != '/' || !name->p[id + 1])
		return;
	name->len -= id + 1;
	memmove(name->p, name->p + id + 1, name->len + 1);
}

static void add_short(struct strbuf *b, struct span name)
{
	struct strbuf text = {0};

	name_short(&text, name);
	strbuf_escape(b, ESCAPE_TERMINAL, (struct span){text.p, text.len});
	b->failed |= text.failed;
	strbuf_fini(&text);
}

bool value_text(struct strbuf *b, sqlite3_stmt *stmt, int col, bool human, bool short_names)
{
	int type = sqlite3_column_type(stmt, col);

	if (human && add_human(b, stmt, col, type))
		return true;
	switch (type) {
	case SQLITE_NULL:
		return true;
	case SQLITE_INTEGER:
		add_int(b, sqlite3_column_int64(stmt, col));
		return true;
	case SQLITE_FLOAT:
		add_real(b, sqlite3_column_double(stmt, col));
		return true;
	}
	if (short_names && value_is_function(stmt, col))
		add_short(b, text_of(stmt, col));
	else
		strbuf_escape(b, ESCAPE_TERMINAL, text_of(stmt, col));
	return false;
}

void value_csv(struct strbuf *b, sqlite3_stmt *stmt, int col)
{
	int type = sqlite3_column_type(stmt, col);

	if (type == SQLITE_TEXT || type == SQLITE_BLOB)
		strbuf_escape(b, ESCAPE_CSV, text_of(stmt, col));
	else
		value_text(b, stmt, col, false, false);
}

void value_json(struct strbuf *b, sqlite3_stmt *stmt, int col)
{
	switch (sqlite3_column_type(stmt, col)) {
	case SQLITE_NULL:
		strbuf_addf(b, "null");
		return;
	case SQLITE_INTEGER:
		add_int(b, sqlite3_column_int64(stmt, col));
		return;
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(stmt, col)))
			add_real(b, sqlite3_column_double(stmt, col));
		else
			strbuf_addf(b, "null"); /* JSON has no infinity */
		return;
	}
	strbuf_add(b, "\"", 1);
	strbuf_escape(b, ESCAPE_JSON, text_of(stmt, col));
	strbuf_add(b, "\"", 1);
}

void value_heading(struct strbuf *b, const char *name, bool human)
{
	struct strbuf text = {0};
	size_t len = strlen(name);

	if (human && ends_with(name, "_ns"))
		len -= 3;
	for (size_t i = 0; i < len; i++) {
		char c = !human ? name[i] : name[i] == '_' ? ' ' : toupper((unsigned char)name[i]);

		strbuf_add(&text, &c, 1);
	}
	if (human &&
	    ends_with(name, "share")) { /* "self_share" is a percent column beside "self" */
		text.len = len > 6 ? len - 6 : 0;
		strbuf_addf(&text, "%s", text.len ? " %" : "%");
	}
	strbuf_escape(b, ESCAPE_TERMINAL, (struct span){text.p, text.len});
	if (!b->p)
		strbuf_add(b, "", 0);
	strbuf_fini(&text);
}
