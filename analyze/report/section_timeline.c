/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values over time: one line of columns per name, scaled to the maximum of the line.
 *
 *	web http  |..:-=+*#%@| 12000 requests, at most 1900/s
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/index.h"
#include "analyze/report/section.h"
#include "analyze/report/section_value.h"
#include "format/text.h"

enum { SLOTS = 60, NAME_WIDTH = 40, NSEC = 1000000000 };

struct curve {
	char *name;
	double at[SLOTS], sum, most;
};

struct timeline {
	struct curve *v;
	size_t cnt, cap;
	int64_t first_ns, slot_ns;
	int slots;
	enum unit unit;
	const char *what; /* "requests"; for bytes and ns: see unit */
};

static void timeline_fini(struct timeline *t)
{
	for (size_t i = 0; i < t->cnt; i++)
		free(t->v[i].name);
	free(t->v);
}

/* Determines the time per column in whole intervals. Resets the statement. */
static long find_span(struct timeline *t, sqlite3_stmt *stmt)
{
	int64_t last_ns = 0, interval_ns = NSEC;
	long rows = 0;
	uint64_t per;
	int rc;

	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t ns = sqlite3_column_int64(stmt, 0), each = sqlite3_column_int64(stmt, 1);

		t->first_ns = !rows || ns < t->first_ns ? ns : t->first_ns;
		last_ns = !rows || ns > last_ns ? ns : last_ns;
		interval_ns = each > interval_ns ? each : interval_ns;
		rows++;
	}
	sqlite3_reset(stmt);
	per = ((uint64_t)last_ns - t->first_ns) / interval_ns / SLOTS + 1;
	t->slot_ns = per > (uint64_t)INT64_MAX / interval_ns ? INT64_MAX : per * interval_ns;
	return rc == SQLITE_DONE ? rows : -EIO;
}

/* Rows of one name are adjacent. */
static struct curve *curve_of(struct timeline *t, const char *name)
{
	if (t->cnt && !strcmp(t->v[t->cnt - 1].name, name))
		return &t->v[t->cnt - 1];
	if (array_reserve(&t->v, &t->cap, t->cnt + 1))
		return NULL;
	t->v[t->cnt] = (struct curve){.name = strdup(name)};
	return t->v[t->cnt].name ? &t->v[t->cnt++] : NULL;
}

static int by_sum(const void *a, const void *b)
{
	const struct curve *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int add_row(struct timeline *t, sqlite3_stmt *stmt)
{
	const char *name = (const char *)sqlite3_column_text(stmt, 2);
	uint64_t slot = ((uint64_t)sqlite3_column_int64(stmt, 0) - t->first_ns) / t->slot_ns;
	double value = sqlite3_column_double(stmt, 3);
	struct curve *c;

	if (!(value > 0))
		return 0;
	c = curve_of(t, name ? name : "");
	if (!c)
		return -ENOMEM;
	slot = slot < SLOTS ? slot : SLOTS - 1;
	t->slots = (int)slot + 1 > t->slots ? (int)slot + 1 : t->slots;
	c->at[slot] += value;
	c->sum += value;
	c->most = c->at[slot] > c->most ? c->at[slot] : c->most;
	return 0;
}

static long timeline_fill(struct timeline *t, sqlite3_stmt *stmt)
{
	long rows;
	int rc, err = 0;

	*t = (struct timeline){.unit = unit_of(stmt, 3)};
	t->what = t->unit == UNIT_NONE ? sqlite3_column_name(stmt, 3) : NULL;
	rows = find_span(t, stmt);
	if (rows <= 0)
		return rows;
	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		err = add_row(t, stmt);
	if (t->cnt)
		qsort(t->v, t->cnt, sizeof(*t->v), by_sum);
	return err ? err : rc != SQLITE_DONE ? -EIO : t->cnt ? rows : 0;
}

static int64_t whole(double v)
{
	return v < 9e18 ? (int64_t)v : INT64_MAX;
}

static int64_t slot_start(const struct timeline *t, int slot)
{
	return (uint64_t)t->first_ns + (uint64_t)slot * t->slot_ns;
}

/* "12000 requests, at most 1900/s" */
static void put_sums(const struct timeline *t, const struct curve *c, FILE *out)
{
	double per_second = c->most / (t->slot_ns / 1e9);
	char sum[VALUE_SZ], most[VALUE_SZ];

	if (t->unit == UNIT_NONE)
		snprintf(most, sizeof(most), per_second < 10 ? "%.2g" : "%.0f", per_second);
	else
		value_of(most, whole(per_second), t->unit);
	fprintf(out, "%s%s%s, at most %s/s", value_of(sum, whole(c->sum), t->unit),
		t->what ? " " : "", t->what ? t->what : "", most);
}

static void put_name(const char *name, enum escape how, FILE *out)
{
	struct strbuf b = {0};

	strbuf_escape(&b, how, span_of(name));
	fputs(b.p ? b.p : "", out);
	strbuf_fini(&b);
}

static int name_width(const char *name)
{
	struct strbuf b = {0};
	int width = 0;

	strbuf_escape(&b, ESCAPE_TERMINAL, span_of(name));
	for (size_t i = 0; i < b.len; i++)
		width += (b.p[i] & 0xc0) != 0x80;
	strbuf_fini(&b);
	return width;
}

static void put_row(const struct timeline *t, const struct curve *c, int width, FILE *out)
{
	static const char shades[] = " .:-=+*#%@";

	fputs("  ", out);
	put_name(c->name, ESCAPE_TERMINAL, out);
	fprintf(out, "%*s |", width > name_width(c->name) ? width - name_width(c->name) : 0, "");
	for (int s = 0; s < t->slots; s++)
		fputc(shades[c->at[s] > 0 ? 1 + (int)(8 * c->at[s] / c->most) : 0], out);
	fputs("| ", out);
	put_sums(t, c, out);
	fputc('\n', out);
}

long timeline_text(sqlite3_stmt *stmt, const char *title, unsigned limit, FILE *out)
{
	struct timeline t;
	long rows = timeline_fill(&t, stmt);
	size_t cnt = t.cnt < limit ? t.cnt : limit;
	char from[VALUE_SZ], slot[VALUE_SZ];
	int width = 0;

	if (rows > 0 && title)
		fprintf(out, "%s\n", title);
	for (size_t i = 0; i < cnt && rows > 0; i++) {
		int w = name_width(t.v[i].name);

		width = w > width && w <= NAME_WIDTH ? w : width;
	}
	for (size_t i = 0; i < cnt && rows > 0; i++)
		put_row(&t, &t.v[i], width, out);
	if (rows > 0)
		fprintf(out, "  %*s  %s a column, from %s on", width, "",
			format_duration(slot, t.slot_ns), time_of(from, t.first_ns));
	if (rows > 0 && cnt < t.cnt)
		fprintf(out, "; and %zu more", t.cnt - cnt);
	if (rows > 0)
		fputc('\n', out);
	timeline_fini(&t);
	return rows;
}

/* ---- as SVG ---- */

enum { COLUMN = 12, HEIGHT = 30, ROW = 56, LEGEND = 22 };

static void put_column(const struct timeline *t, const struct curve *c, int slot, int bottom,
		       FILE *out)
{
	double h = c->at[slot] / c->most * HEIGHT;
	char when[VALUE_SZ], value[VALUE_SZ];

	if (!(h > 0))
		return;
	h = h < 1 ? 1 : h;
	fprintf(out,
		"<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"><title>%s: %s</title>"
		"</rect>\n",
		slot * COLUMN, bottom - h, COLUMN - 1, h, time_of(when, slot_start(t, slot)),
		value_of(value, whole(c->at[slot]), t->unit));
}

long timeline_svg(sqlite3_stmt *stmt, unsigned limit, FILE *out)
{
	struct timeline t;
	long rows = timeline_fill(&t, stmt);
	size_t cnt = t.cnt < limit ? t.cnt : limit;
	char from[VALUE_SZ], slot[VALUE_SZ];

	if (rows <= 0) {
		timeline_fini(&t);
		return rows;
	}
	fprintf(out, "<svg class=\"timeline\" width=\"%d\" height=\"%d\">\n",
		t.slots * COLUMN > 720 ? t.slots * COLUMN : 720, (int)cnt * ROW + LEGEND);
	for (size_t i = 0; i < cnt; i++) {
		int bottom = (int)i * ROW + 18 + HEIGHT;

		fprintf(out, "<text x=\"0\" y=\"%d\">", (int)i * ROW + 12);
		put_name(t.v[i].name, ESCAPE_XML, out);
		fputs(": ", out);
		put_sums(&t, &t.v[i], out);
		fputs("</text>\n", out);
		for (int s = 0; s < t.slots; s++)
			put_column(&t, &t.v[i], s, bottom, out);
	}
	fprintf(out, "<text x=\"0\" y=\"%d\">%s a column, from %s on", (int)cnt * ROW + 14,
		format_duration(slot, t.slot_ns), time_of(from, t.first_ns));
	if (cnt < t.cnt)
		fprintf(out, "; and %zu more", t.cnt - cnt);
	fputs("</text>\n</svg>\n", out);
	timeline_fini(&t);
	return rows;
}
