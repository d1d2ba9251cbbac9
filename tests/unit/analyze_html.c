/* SPDX-License-Identifier: BSD-2-Clause */
/* The HTML page. With an argument: a page on stdout, which the browser test opens. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/html.h"
#include "format/text.h"
#include "analyze_profile.h"

#define EVIL "<script>window.evil=1</script>"

static const char rows[] = "SELECT column1 AS self_share, column2 AS self_ns, column3 AS bytes, "
			   "column4 AS function FROM (VALUES "
			   "(0.5, 1500000000, 10, 'main'), (0.25, 20000, 3000000, '" EVIL
			   "'), (0.125, NULL, 200, '\"a]]>&amp;'), "
			   "(NULL, 7, 1, x'ff3c623e'))";

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;

	assert(!sqlite3_prepare_v2(db, sql, -1, &s, NULL));
	return s;
}

static int page(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *some = prepare(db, rows), *none = prepare(db, "SELECT 1 AS x WHERE 0");
	struct html *h;

	assert(!html__open(&h, "Report " EVIL, out));
	html__fact(h, "Host", "web-3 " EVIL);
	html__warning(h, "Losses", "12 events " EVIL);
	html__heading(h, "On CPU " EVIL);
	html__note(h, "a note " EVIL);
	assert(feed_profile(&profile_svg_inline, html__graph(h)) <= 0);
	html__graph_end(h);
	assert(html__table(h, "hottest " EVIL, some) == 4 || ferror(out));
	html__heading(h, "Nothing stands below");
	html__heading(h, "Second");
	assert(feed_profile(&profile_svg_inline, html__graph(h)) <= 0);
	html__graph_end(h);
	assert(html__table(h, "nothing to see", none) == 0);
	sqlite3_finalize(some);
	sqlite3_finalize(none);
	return html__close(h);
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

/* An optional column is left out where no row has a value, whatever comes before or after it. */
static void optional_columns(sqlite3 *db)
{
	static const struct {
		const char *sql, *heads, *cells;
	} cases[] = {
		{"SELECT 1 AS a, NULL AS \"?b\", 2 AS c", "A|C|", "1|2|"},
		{"SELECT 1 AS a, x AS \"?b_ns\", 2 AS c FROM (SELECT NULL AS x UNION ALL SELECT 5)",
		 "A|B|C|", "1||2|1|5 ns|2|"},
		{"SELECT NULL AS \"?a\", NULL AS \"?b\", NULL AS c", "C|", "|"},
		{"SELECT NULL AS a, 'x' AS \"?\"", "A|?|", "|x|"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sqlite3_stmt *s = prepare(db, cases[i].sql);
		struct strbuf heads = {0}, cells = {0};
		struct html *h;
		char *text;
		size_t sz;
		FILE *out = open_memstream(&text, &sz);

		assert(!html__open(&h, "t", out) && html__table(h, NULL, s) > 0);
		assert(!html__close(h) && !fclose(out));
		for (const char *p = text; (p = strstr(p, "<t")); p++) {
			bool head = !strncmp(p, "<th scope", 9);

			if (!head && strncmp(p, "<td", 3))
				continue;
			p = strchr(p, '>') + 1;
			strbuf_addf(head ? &heads : &cells, "%.*s|", (int)strcspn(p, "<"), p);
		}
		assert(!strcmp(heads.p, cases[i].heads) && !strcmp(cells.p, cases[i].cells));
		strbuf_fini(&heads);
		strbuf_fini(&cells);
		free(text);
		sqlite3_finalize(s);
	}
}

static void broken_statement(sqlite3 *db)
{
	sqlite3_stmt *s = prepare(db, "SELECT abs(-9223372036854775808)");
	FILE *null = fopen("/dev/null", "w");
	struct html *h;

	assert(null && !html__open(&h, "t", null));
	assert(html__table(h, "fails at its first step", s) == -EIO);
	assert(!html__close(h));
	sqlite3_finalize(s);
	fclose(null);
}

int main(int argc, char **argv)
{
	FILE *out, *full = fopen("/dev/full", "w");
	sqlite3 *db;
	char *text;
	size_t sz;

	assert(!sqlite3_open(":memory:", &db));
	if (argc > 1)
		return page(db, stdout) != 0;
	out = open_memstream(&text, &sz);
	assert(out && !page(db, out) && !fclose(out));
	assert(!strstr(text, EVIL) &&
	       count(text, "&lt;script&gt;window.evil=1&lt;/script&gt;") == 8);
	assert(count(text, "<table>") == 1 && !strstr(text, "nothing to see") &&
	       count(text, "<h2 ") == 2 && !strstr(text, "Nothing stands below"));
	assert(count(text, "<svg ") == 2 && count(text, "<script nonce=\"") == 2 &&
	       count(text, "<script") == 2);
	assert(strstr(text, "<th scope=\"col\">SELF %</th><th scope=\"col\">SELF</th>"));
	assert(strstr(text, "<td class=\"n share\" data-v=\"0.5\">50.00%</td><td class=\"n\" "
			    "data-v=\"1500000000\">1.50 s</td>"));
	assert(strstr(text, "<td>\\xff&lt;b&gt;</td>"));
	free(text);
	optional_columns(db);
	broken_statement(db);
	assert(full && page(db, full) == -ENOSPC);
	fclose(full);
	sqlite3_close(db);
	return 0;
}
