/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Histograms in the form of bcc: range, count, bar; and percentiles with their error. Percentiles
 * are computed from the original buckets, while the ranges drawn are powers of two.
 *
 *	sda read:
 *	  40 values, p50 393 us, p90 393 us, p99 393 us, max < 524 us (+-33%)
 *	     262 us -> 524 us     : 40       |****************************************|
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/index.h"
#include "analyze/report/section.h"
#include "analyze/report/section_value.h"
#include "analyze/store/buckets.h"
#include "format/text.h"

enum { BAR = 40 };

/* ---- histograms ---- */

struct histogram {
	int64_t start_ns;
	char *name;
	struct buckets buckets;
};

struct histograms {
	struct histogram *v;
	size_t cnt, cap;
	enum unit unit;
};

static void histograms_fini(struct histograms *h)
{
	for (size_t i = 0; i < h->cnt; i++) {
		free(h->v[i].name);
		buckets_fini(&h->v[i].buckets);
	}
	free(h->v);
}

/* Rows of one start and name are adjacent. */
static int take_row(struct histograms *h, sqlite3_stmt *stmt)
{
	int64_t start_ns = sqlite3_column_int64(stmt, 0);
	const char *name = (const char *)sqlite3_column_text(stmt, 1);
	struct histogram *last = h->cnt ? &h->v[h->cnt - 1] : NULL;

	name = name ? name : "";
	if (!last || last->start_ns != start_ns || strcmp(last->name, name)) {
		if (array_reserve(&h->v, &h->cap, h->cnt + 1))
			return -ENOMEM;
		last = &h->v[h->cnt];
		*last = (struct histogram){.start_ns = start_ns, .name = strdup(name)};
		if (!last->name)
			return -ENOMEM;
		h->cnt++;
	}
	return buckets_add(&last->buckets, sqlite3_column_int64(stmt, 2),
			   sqlite3_column_int64(stmt, 3), sqlite3_column_int64(stmt, 4));
}

/* Sorts by time, then by number of values in descending order. */
static int by_total(const void *a, const void *b)
{
	const struct histogram *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->buckets.total != y->buckets.total)
		return x->buckets.total > y->buckets.total ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void put_summary(struct histogram *h, enum unit unit, FILE *out)
{
	static const struct {
		const char *name;
		double p;
	} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
	char buf[VALUE_SZ];
	double worst = 0, error;
	struct strbuf name = {0};
	int64_t max = 0;

	if (h->start_ns)
		strbuf_addf(&name, "%s%s", time_of(buf, h->start_ns), *h->name ? " " : "");
	strbuf_escape(&name, ESCAPE_TERMINAL, span_of(h->name));
	if (name.len)
		fprintf(out, "%s:\n  ", name.p);
	strbuf_fini(&name);
	fprintf(out, "%s value%s", format_count(buf, h->buckets.total),
		h->buckets.total == 1 ? "" : "s");
	for (int i = 0; i < 3; i++) {
		int64_t v = buckets_quantile(&h->buckets, quantiles[i].p, &error);

		fprintf(out, ", %s %s", quantiles[i].name, value_of(buf, v, unit));
		worst = error > worst ? error : worst;
	}
	for (size_t i = 0; i < h->buckets.cnt; i++)
		max = h->buckets.v[i].high > max ? h->buckets.v[i].high : max;
	fprintf(out, ", max < %s (+-%.2g%%)\n", value_of(buf, max, unit), 100 * worst);
}

static int put_bars(const struct histogram *h, enum unit unit, FILE *out)
{
	static const char stars[BAR + 1] = "****************************************";
	struct buckets coarse = {0};
	uint64_t most = 0;
	int err = buckets_coarse(&h->buckets, &coarse);

	for (size_t i = 0; i < coarse.cnt && !err; i++)
		most = coarse.v[i].count > most ? coarse.v[i].count : most;
	for (size_t i = 0; i < coarse.cnt && !err; i++) {
		char low[VALUE_SZ], high[VALUE_SZ];

		fprintf(out, "  %9s -> %-9s : %-8llu |%-*.*s|\n",
			value_of(low, coarse.v[i].low, unit),
			value_of(high, coarse.v[i].high, unit),
			(unsigned long long)coarse.v[i].count, BAR,
			(int)bar_length(coarse.v[i].count, most, BAR), stars);
	}
	buckets_fini(&coarse);
	return err;
}

long histogram_text(sqlite3_stmt *stmt, const char *title, unsigned limit, FILE *out)
{
	struct histograms h = {.unit = unit_of(stmt, 2)};
	long rows = 0;
	int rc, err = 0;

	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		err = take_row(&h, stmt);
		rows++;
	}
	if (!err && rc != SQLITE_DONE)
		err = -EIO;
	if (h.cnt)
		qsort(h.v, h.cnt, sizeof(*h.v), by_total);
	if (h.cnt && title)
		fprintf(out, "%s\n", title);
	for (size_t i = 0; i < h.cnt && !err; i++) {
		put_summary(&h.v[i], h.unit, out);
		if (i < limit)
			err = put_bars(&h.v[i], h.unit, out);
	}
	histograms_fini(&h);
	return err ? err : rows;
}

/* ---- heat maps ---- */

enum { SLOTS = 60, RANGES = 64 };

/* Counts by time slot and power of two. */
struct heat {
	uint64_t at[SLOTS][RANGES], most;
	int64_t first_ns, slot_ns;
	int slots, low, high; /* ranges used: low <= n < high */
	enum unit unit;
};

static int range_of(int64_t v)
{
	return v > 0 ? 64 - __builtin_clzll(v) : 0;
}

static long heat_fill(struct heat *h, sqlite3_stmt *stmt)
{
	int64_t last_ns = 0;
	long rows = 0;
	int rc;

	*h = (struct heat){.low = RANGES, .unit = unit_of(stmt, 1)};
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t ns = sqlite3_column_int64(stmt, 0);

		h->first_ns = !rows || ns < h->first_ns ? ns : h->first_ns;
		last_ns = !rows || ns > last_ns ? ns : last_ns;
		rows++;
	}
	if (rc != SQLITE_DONE)
		return -EIO;
	h->slot_ns =
		((uint64_t)last_ns - h->first_ns) / SLOTS / 1000000000 * 1000000000 + 1000000000;
	sqlite3_reset(stmt);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t count = sqlite3_column_int64(stmt, 3);
		uint64_t slot =
			((uint64_t)sqlite3_column_int64(stmt, 0) - h->first_ns) / h->slot_ns;
		int range = range_of(sqlite3_column_int64(stmt, 1));
		uint64_t *at = &h->at[slot < SLOTS ? slot : SLOTS - 1][range];

		if (count <= 0)
			continue;
		*at += count;
		h->most = *at > h->most ? *at : h->most;
		h->low = range < h->low ? range : h->low;
		h->high = range + 1 > h->high ? range + 1 : h->high;
		h->slots = slot < SLOTS && (int)slot + 1 > h->slots ? (int)slot + 1 : h->slots;
	}
	return rc == SQLITE_DONE ? rows : -EIO;
}

/* 0: no values; otherwise 1 to `steps`, logarithmic. */
static int heat_step(uint64_t count, uint64_t most, int steps)
{
	int of = range_of(count), all = range_of(most);

	return count ? 1 + (of - 1) * steps / (all > 0 ? all : 1) : 0;
}

static int64_t range_low(int n)
{
	return n ? (int64_t)1 << (n - 1) : 0;
}

long heatmap_text(sqlite3_stmt *stmt, const char *title, FILE *out)
{
	static const char shades[] = " .:-=+*#%@";
	struct heat *h = malloc(sizeof(*h));
	long rows = h ? heat_fill(h, stmt) : -ENOMEM;
	char buf[VALUE_SZ];

	if (rows > 0 && title)
		fprintf(out, "%s\n", title);
	for (int n = rows > 0 ? h->high - 1 : -1; n >= 0 && n >= h->low; n--) {
		fprintf(out, "  %9s |", value_of(buf, range_low(n), h->unit));
		for (int s = 0; s < h->slots; s++)
			fputc(shades[heat_step(h->at[s][n], h->most, 9)], out);
		fprintf(out, "|\n");
	}
	if (rows > 0)
		fprintf(out, "  %9s  %s a column, at most %llu values\n", "",
			format_duration(buf, h->slot_ns), (unsigned long long)h->most);
	free(h);
	return rows;
}

/* Cells of 12 x 14, time axis below, value axis on the left. */
long heatmap_svg(sqlite3_stmt *stmt, FILE *out)
{
	enum { LEFT = 80, WIDTH = 12, HEIGHT = 14 };
	struct heat *h = malloc(sizeof(*h));
	long rows = h ? heat_fill(h, stmt) : -ENOMEM;
	int bottom = rows > 0 ? (h->high - h->low) * HEIGHT : 0;
	char low[VALUE_SZ], high[VALUE_SZ];

	if (rows <= 0) {
		free(h);
		return rows;
	}
	fprintf(out, "<svg class=\"heatmap\" width=\"%d\" height=\"%d\">\n",
		LEFT + h->slots * WIDTH + 20, bottom + 22);
	for (int n = h->low; n < h->high; n++) {
		int y = (h->high - 1 - n) * HEIGHT;

		fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 6,
			y + 11, value_of(low, range_low(n), h->unit));
		for (int s = 0; s < h->slots; s++)
			if (h->at[s][n])
				fprintf(out,
					"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
					"fill-opacity=\"%.2f\"><title>%s - %s at %llds: "
					"%llu</title>"
					"</rect>\n",
					LEFT + s * WIDTH, y, WIDTH - 1, HEIGHT - 1,
					heat_step(h->at[s][n], h->most, 10) / 10.0,
					value_of(low, range_low(n), h->unit),
					value_of(high, range_low(n + 1), h->unit),
					(long long)s * (h->slot_ns / 1000000000),
					(unsigned long long)h->at[s][n]);
	}
	fprintf(out,
		"<text x=\"%d\" y=\"%d\">0 s</text><text x=\"%d\" y=\"%d\" "
		"text-anchor=\"end\">%llds"
		"</text>\n</svg>\n",
		LEFT, bottom + 16, LEFT + h->slots * WIDTH, bottom + 16,
		(long long)h->slots * (h->slot_ns / 1000000000));
	free(h);
	return rows;
}
