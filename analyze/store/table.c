/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "format/text.h"
#include "analyze/store/table_value.h"

/* Column widths are taken from the first rows. Later values may be wider, but memory stays
 * small. */
#define SAMPLE_ROWS 2000
/* Wider cells do not widen the column: one of 4000 characters would make every row that long. */
#define WIDTH_MAX 200

struct cell {
	char *text;
	size_t width;
	bool number;
};

struct sheet {
	sqlite3_stmt *stmt;
	const struct table_style *style;
	FILE *out;
	int cols;
	struct cell *heads, *cells;
	size_t rows; /* buffered in cells */
	size_t *widths;
	bool *right; /* numeric, right-aligned */
	bool *empty; /* optional column without values: not written */
};

struct table_style table_style_for(FILE *out)
{
	struct table_style style = {.human = true};
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize ws;

	if (!isatty(fileno(out)))
		return style;
	style.short_names = true;
	style.colour = !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
	if (!ioctl(fileno(out), TIOCGWINSZ, &ws) && ws.ws_col >= 40)
		style.width = ws.ws_col;
	return style;
}

void table_style_names(struct table_style *style, enum name_style names)
{
	if (names != NAMES_DEFAULT)
		style->short_names = names == NAMES_SHORT;
}

/* Code points. Escaping has removed control characters and invalid sequences. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static struct cell make_cell(const struct sheet *t, int col)
{
	struct strbuf b = {0};
	struct cell c;

	c.number = value_text(&b, t->stmt, col, t->style->human, t->style->short_names);
	if (!b.p)
		strbuf_add(&b, "", 0);
	c.text = b.p;
	c.width = c.text ? width_of(c.text) : 0;
	return c;
}

static struct cell make_head(const struct sheet *t, int col)
{
	const char *name = value_column(t->stmt, col);
	struct strbuf b = {0};
	struct cell c = {0};

	value_heading(&b, name ? name : "", t->style->human);
	c.text = b.p;
	c.width = c.text ? width_of(c.text) : 0;
	return c;
}

static void free_cells(struct cell *cells, size_t cnt)
{
	for (size_t i = 0; cells && i < cnt; i++)
		free(cells[i].text);
}

/* Reads up to SAMPLE_ROWS rows; returns the last step's result. */
static int read_sample(struct sheet *t)
{
	int rc;

	while ((rc = sqlite3_step(t->stmt)) == SQLITE_ROW) {
		struct cell *row = &t->cells[t->rows++ * t->cols];

		for (int c = 0; c < t->cols; c++) {
			row[c] = make_cell(t, c);
			size_t width = row[c].width < WIDTH_MAX ? row[c].width : WIDTH_MAX;

			if (width > t->widths[c])
				t->widths[c] = width;
			if (!row[c].number && row[c].width)
				t->right[c] = false;
			if (row[c].width)
				t->empty[c] = false;
		}
		if (t->rows == SAMPLE_ROWS)
			break;
	}
	return rc;
}

static void pad(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* Width left for the last column, which is truncated only on a terminal. */
static size_t room_for_last(const struct sheet *t)
{
	size_t used = t->style->indent ? strlen(t->style->indent) : 0;

	for (int c = 0; c + 1 < t->cols; c++)
		used += t->empty[c] ? 0 : t->widths[c] + 2;
	return t->style->width > used + 8 ? t->style->width - used : 0;
}

/* Length in bytes of the first `width` code points. */
static size_t prefix(const char *s, size_t width)
{
	const char *p = s;

	for (; *p; p++)
		if ((*p & 0xc0) != 0x80 && !width--)
			break;
	return p - s;
}

static bool is_grey(const struct sheet *t, const struct cell *row)
{
	for (int c = 0; t->style->colour && t->style->grey && c < t->cols; c++)
		if (!strcmp(sqlite3_column_name(t->stmt, c), t->style->grey))
			return row != t->heads && row[c].width;
	return false;
}

static void text_row(const struct sheet *t, const struct cell *row)
{
	bool grey = is_grey(t, row);

	if (grey)
		fputs("\033[90m", t->out);
	if (t->style->indent)
		fputs(t->style->indent, t->out);
	for (int c = 0; c < t->cols; c++) {
		size_t gap = t->widths[c] > row[c].width ? t->widths[c] - row[c].width : 0;
		bool last = c + 1 == t->cols;
		size_t room = last ? room_for_last(t) : 0;

		if (t->empty[c])
			continue;
		if (t->right[c])
			pad(t->out, gap);
		if (room && row[c].width > room)
			fprintf(t->out, "%.*s…", (int)prefix(row[c].text, room - 1), row[c].text);
		else
			fputs(row[c].text ? row[c].text : "", t->out);
		if (!t->right[c] && !last)
			pad(t->out, gap);
		if (!last)
			fputs("  ", t->out);
	}
	fputs(grey ? "\033[0m\n" : "\n", t->out);
}

static void text_heading(const struct sheet *t)
{
	if (t->style->title)
		fprintf(t->out, "%s\n", t->style->title);
	if (t->style->colour)
		fputs("\033[1m", t->out);
	text_row(t, t->heads);
	if (t->style->colour)
		fputs("\033[0m", t->out);
}

static void box_rule(const struct sheet *t, const char *left, const char *cross, const char *end)
{
	for (int c = 0; c < t->cols; c++) {
		fputs(c ? cross : left, t->out);
		for (size_t i = 0; i < t->widths[c] + 2; i++)
			fputs("─", t->out);
	}
	fprintf(t->out, "%s\n", end);
}

static void box_row(const struct sheet *t, const struct cell *row)
{
	for (int c = 0; c < t->cols; c++) {
		size_t gap = t->widths[c] > row[c].width ? t->widths[c] - row[c].width : 0;

		fputs("│ ", t->out);
		if (t->right[c])
			pad(t->out, gap);
		fputs(row[c].text ? row[c].text : "", t->out);
		pad(t->out, (t->right[c] ? 0 : gap) + 1);
	}
	fputs("│\n", t->out);
}

/* Writes the rows after the sample, one by one. */
static int write_rest(struct sheet *t, int rc, long *rows,
		      void (*write_row)(const struct sheet *, const struct cell *))
{
	struct cell *row = t->cells; /* reused: the sample was written */

	while (rc == SQLITE_ROW && (rc = sqlite3_step(t->stmt)) == SQLITE_ROW && !ferror(t->out)) {
		free_cells(row, t->cols);
		for (int c = 0; c < t->cols; c++)
			row[c] = make_cell(t, c);
		write_row(t, row);
		++*rows;
	}
	return rc;
}

static int write_sheet(struct sheet *t, long *rows)
{
	bool box = t->style->format == TABLE_BOX;
	void (*write_row)(const struct sheet *, const struct cell *) = box ? box_row : text_row;
	int rc;

	for (int c = 0; c < t->cols; c++) {
		t->heads[c] = make_head(t, c);
		t->widths[c] = t->heads[c].width;
		t->right[c] = true;
		/* The last column ends the line, so it is always written. */
		t->empty[c] = c + 1 < t->cols && t->style->human && value_is_optional(t->stmt, c);
	}
	rc = read_sample(t);
	*rows = t->rows;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return rc;
	if (!t->rows && !box)
		return rc;
	if (box)
		box_rule(t, "┌", "┬", "┐");
	if (box) {
		box_row(t, t->heads);
		box_rule(t, "├", "┼", "┤");
	} else {
		text_heading(t);
	}
	for (size_t r = 0; r < t->rows; r++)
		write_row(t, &t->cells[r * t->cols]);
	rc = write_rest(t, rc, rows, write_row);
	if (box)
		box_rule(t, "└", "┴", "┘");
	return rc;
}

static int write_aligned(sqlite3_stmt *stmt, const struct table_style *style, FILE *out, long *rows)
{
	struct sheet t = {
		.stmt = stmt, .style = style, .out = out, .cols = sqlite3_column_count(stmt)};
	int rc = SQLITE_NOMEM;

	if (!t.cols)
		return sqlite3_step(stmt);
	t.heads = calloc(t.cols, sizeof(*t.heads));
	t.cells = calloc((size_t)t.cols * SAMPLE_ROWS, sizeof(*t.cells));
	t.widths = calloc(t.cols, sizeof(*t.widths));
	t.right = calloc(t.cols, sizeof(*t.right));
	t.empty = calloc(t.cols, sizeof(*t.empty));
	if (t.heads && t.cells && t.widths && t.right && t.empty)
		rc = write_sheet(&t, rows);
	free_cells(t.heads, t.cols);
	free_cells(t.cells, t.rows * t.cols);
	free(t.heads);
	free(t.cells);
	free(t.widths);
	free(t.right);
	free(t.empty);
	return rc;
}

static void put(FILE *out, struct strbuf *b)
{
	fwrite(b->p, 1, b->len, out);
	b->len = 0;
}

static int write_csv(sqlite3_stmt *stmt, FILE *out, long *rows)
{
	int cols = sqlite3_column_count(stmt), rc;
	struct strbuf b = {0};

	for (int c = 0; c < cols; c++) {
		if (c)
			strbuf_add(&b, ",", 1);
		strbuf_escape(&b, ESCAPE_CSV, span_of(value_column(stmt, c)));
	}
	strbuf_add(&b, "\n", 1);
	put(out, &b);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(out)) {
		for (int c = 0; c < cols; c++) {
			if (c)
				strbuf_add(&b, ",", 1);
			value_csv(&b, stmt, c);
		}
		strbuf_add(&b, "\n", 1);
		put(out, &b);
		++*rows;
	}
	strbuf_fini(&b);
	return rc;
}

static int write_json(sqlite3_stmt *stmt, FILE *out, long *rows)
{
	int cols = sqlite3_column_count(stmt), rc;
	struct strbuf b = {0};

	strbuf_add(&b, "[", 1);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(out)) {
		strbuf_addf(&b, "%s{", (*rows)++ ? ",\n" : "");
		for (int c = 0; c < cols; c++) {
			strbuf_addf(&b, "%s\"", c ? "," : "");
			strbuf_escape(&b, ESCAPE_JSON, span_of(value_column(stmt, c)));
			strbuf_addf(&b, "\":");
			value_json(&b, stmt, c);
		}
		strbuf_add(&b, "}", 1);
		put(out, &b);
	}
	strbuf_addf(&b, "]\n");
	put(out, &b);
	strbuf_fini(&b);
	return rc;
}

long table_write(sqlite3_stmt *stmt, const struct table_style *style, FILE *out)
{
	long rows = 0;
	int rc;

	switch (style->format) {
	case TABLE_CSV:
		rc = write_csv(stmt, out, &rows);
		break;
	case TABLE_JSON:
		rc = write_json(stmt, out, &rows);
		break;
	default:
		rc = write_aligned(stmt, style, out, &rows);
	}
	return rc == SQLITE_DONE ? rows : -EIO;
}
