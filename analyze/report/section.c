/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/traffic/traffic_note.h"

const struct section sections[] = {
#define SECTION(name, probe, heading, title, aliases, as, ...)                                     \
	{name, probe, heading, title, aliases, SECTION_##as, __VA_ARGS__},
#include "analyze/report/sections.def"
};
#undef SECTION
const char section_names[] =
#define SECTION(name, probe, heading, title, aliases, ...) name "," aliases ","
#include "analyze/report/sections.def"
	;
const size_t section_cnt = sizeof(sections) / sizeof(*sections);

const struct section *section_find(const char *name)
{
	for (size_t i = 0; i < section_cnt; i++)
		if (!strcmp(sections[i].name, name) || list_has(sections[i].aliases, name))
			return &sections[i];
	return NULL;
}

const char *section_form(enum section_as as)
{
	static const char *const forms[] = {
		[SECTION_TABLE] = "table",
		[SECTION_LISTING] = "table",
		[SECTION_HISTOGRAM] = "histogram",
		[SECTION_HEATMAP] = "heat map",
		[SECTION_TIMELINE] = "timeline",
		[SECTION_GRAPH] = "graph",
		[SECTION_MAP] = "map",
	};

	return forms[as];
}

bool section_of_kind(const struct section *s)
{
	return !*s->heading;
}

bool section_of_samples(const struct section *s)
{
	return !strcmp(s->probe, "samples");
}

bool section_is_wide(const struct section *s)
{
	return s->as == SECTION_HEATMAP || s->as == SECTION_MAP;
}

/* What a $WORD of the SQL stands for. */
struct word {
	const char *name;
	char text[64];
};

static void add_words(struct strbuf *b, const char *sql, const struct word *words)
{
	for (size_t len; *sql; sql += len) {
		const struct word *w = words;

		len = strcspn(sql, "$");
		strbuf_add(b, sql, len);
		sql += len;
		while (w->name && strncmp(sql, w->name, strlen(w->name)))
			w++;
		if (w->name)
			strbuf_addf(b, "%s", w->text);
		else if (*sql)
			strbuf_add(b, sql, 1);
		len = w->name ? strlen(w->name) : *sql != 0;
	}
}

char *section_sql(const struct section *s, const struct named_kind *kind, uint64_t interval_ns)
{
	const char *unit = *kind->unit ? "_" : "",
		   *value = strcmp(kind->unit, "ns") ? "value" : "time";
	struct word words[] = {{"$UNIT", ""},  {"$VALUE", ""},	   {"$COUNT", ""},
			       {"$START", ""}, {"$HISTOGRAM", ""}, {0}};
	struct strbuf b = {0};

	snprintf(words[0].text, sizeof(words[0].text), "%s%s", unit, kind->unit);
	snprintf(words[1].text, sizeof(words[1].text), "%s%s%s", value, unit, kind->unit);
	snprintf(words[2].text, sizeof(words[2].text), "\"%s\"", kind->count_name);
	snprintf(words[3].text, sizeof(words[3].text), "%s",
		 interval_ns ? "start_ns / :interval * :interval" : "0");
	snprintf(words[4].text, sizeof(words[4].text), "%s",
		 interval_ns ? "histogram" : "histogram_total");
	add_words(&b, s->sql, words);
	strbuf_add(&b, "", 1);
	if (b.failed)
		strbuf_fini(&b);
	return b.p;
}

/* Tables under the weight views (stack_id: a column, see store__tables_of). Sections that read the
 * views use weights aggregated in memory by function instead. */
static const char *const rows[] = {"sample", "frame", "stack", "stack_frame", "stack_id", NULL};

static bool is_rows(const char *table)
{
	for (const char *const *r = rows; *r; r++)
		if (!strcmp(*r, table))
			return true;
	return false;
}

/* Whether the SQL itself names the table, not only a view that it reads. Names in it are surrounded
 * by spaces. */
static bool is_named(const struct section *s, const char *table)
{
	char word[32];

	snprintf(word, sizeof(word), " %s ", table);
	return strstr(s->sql, word);
}

bool section_is_absent(const struct section *s, const struct captures *c)
{
	bool is_probe = false;

#define PROBE(name, ...) is_probe |= !strcmp(s->probe, #name);
#include "format/probes.def"
	for (size_t i = 0; i < c->cnt && is_probe; i++)
		is_probe = *c->v[i].probes && !list_has(c->v[i].probes, s->probe);
	return is_probe;
}

int section_tables(const struct section *s, const struct load *l, uint64_t interval_ns,
		   struct name_set *tables)
{
	char *sql;
	int err;

	*tables = (struct name_set){0};
	sql = section_sql(s, sample_kinds__get(l->kinds, 0), interval_ns);
	err = sql ? store__tables_of(l->store, sql, tables) : -ENOMEM;
	free(sql);
	return err;
}

int section_prepare(const struct section *s, struct load *l, uint64_t interval_ns)
{
	struct name_set tables;
	int err;

	if (section_is_absent(s, l->captures))
		return 0;
	err = section_tables(s, l, interval_ns, &tables);

	if (!err && is_named(s, "futex_weight"))
		l->opts.futex_weights = l->opts.by_thread = true;
	for (size_t i = 0; i < tables.cnt && !err; i++) {
		bool samples = is_rows(tables.v[i]);

		l->opts.weights |= samples;
		err = name_set_add(&l->wanted, samples ? "function" : tables.v[i]);
		if (samples && !err && is_named(s, tables.v[i])) { /* stacks of events */
			l->opts.event_stacks = true;
			err = name_set_add(&l->wanted, tables.v[i]);
		}
	}
	name_set_fini(&tables);
	return err;
}

static const char last_limit[] = " LIMIT :limit";

/* Length of the SQL before its last clause, the limit; 0: it has none there. */
static size_t before_limit(const char *sql)
{
	size_t len = strlen(sql), last = sizeof(last_limit) - 1;

	return len > last && !strcmp(sql + len - last, last_limit) ? len - last : 0;
}

/*
 * To know how many rows a cut table has, the statement is run without its limit if it groups, or
 * reads a view that does: it has few rows then, compared with those that it reads. Otherwise they
 * are counted by another run, which does not sort.
 */
static bool is_run_whole(const char *sql, const struct section_args *args)
{
	return args->counts && before_limit(sql) &&
	       (strstr(sql, " GROUP BY ") || strstr(sql, " FROM hot_")) && !strstr(sql, ":few");
}

static void bind_all(sqlite3_stmt *stmt, const struct section_args *args)
{
	int at = sqlite3_bind_parameter_index(stmt, ":limit");

	if (at)
		sqlite3_bind_int64(stmt, at, args->limit);
	at = sqlite3_bind_parameter_index(stmt, ":few");
	if (at)
		sqlite3_bind_int64(stmt, at, args->few);
	at = sqlite3_bind_parameter_index(stmt, ":interval");
	if (at)
		sqlite3_bind_int64(stmt, at, args->interval_ns ? args->interval_ns : INT64_MAX);
	at = sqlite3_bind_parameter_index(stmt, ":kind");
	if (at)
		sqlite3_bind_text(stmt, at, args->kind, -1, SQLITE_STATIC);
}

size_t section_bind(sqlite3_stmt *stmt, const struct section_args *args)
{
	bool whole = is_run_whole(sqlite3_sql(stmt), args);
	struct section_args all = *args;

	all.limit = whole ? INT64_MAX : args->limit;
	bind_all(stmt, &all);
	return whole ? args->limit : 0;
}

/* Length of the SQL without the order and number of its rows, if these are its last clauses. */
static size_t unordered(const char *sql)
{
	static const char order[] = " ORDER BY ";
	size_t len = before_limit(sql), at = 0;
	bool quoted = false;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		quoted ^= sql[i] == '\'';
		depth += quoted ? 0 : (sql[i] == '(') - (sql[i] == ')');
		if (!depth && !quoted && !strncmp(sql + i, order, sizeof(order) - 1))
			at = i;
	}
	return at ? at : strlen(sql);
}

/* Adds a statement that counts what `sql` selects without its limit. With SECTION_FIRST
 * (sections.def), that is a row for each of a table. */
static void add_count(struct strbuf *b, const char *sql)
{
	static const char first[] = ".rowid IN (SELECT rowid FROM ";
	const char *of = strstr(sql, first), *table = of ? of + sizeof(first) - 1 : NULL;

	if (table)
		strbuf_addf(b, "SELECT count(*) FROM %.*s", (int)strcspn(table, " "), table);
	else
		strbuf_addf(b, "SELECT count(*) FROM (%.*s)", (int)unordered(sql), sql);
}

static uint64_t count_rows(sqlite3 *db, const char *sql, const struct section_args *args)
{
	const struct section_args all = {
		.limit = INT64_MAX, .few = INT64_MAX, args->interval_ns, args->kind};
	struct strbuf count = {0};
	sqlite3_stmt *stmt = NULL;
	uint64_t cnt = 0;

	add_count(&count, sql);
	if (!count.failed && !sqlite3_prepare_v2(db, count.p, -1, &stmt, NULL)) {
		bind_all(stmt, &all);
		if (sqlite3_step(stmt) == SQLITE_ROW)
			cnt = sqlite3_column_int64(stmt, 0);
	}
	sqlite3_finalize(stmt);
	strbuf_fini(&count);
	return cnt;
}

uint64_t section_left_out(sqlite3 *db, const char *sql, const struct section_args *args, long rows)
{
	bool cut = rows > 0 && ((strstr(sql, ":limit") && (uint64_t)rows >= args->limit) ||
				(strstr(sql, ":few") && (uint64_t)rows >= args->few));
	bool whole = cut && is_run_whole(sql, args);
	uint64_t shown = whole ? args->limit : (uint64_t)rows,
		 all = whole ? (uint64_t)rows
		       : cut ? count_rows(db, sql, args)
			     : 0;

	return all > shown ? all - shown : 0;
}
