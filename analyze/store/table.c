/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/table.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "format/option.h"
#include "format/text.h"
#include "analyze/store/table_fit.h"
#include "analyze/store/table_value.h"

/* Column widths are taken from the first rows. Later values may be wider, but memory stays
 * small. */
#define SAMPLE_ROWS 2000
/* Wider cells do not widen the column: one of 4000 characters would make every row that long. */
#define WIDTH_MAX 200
#define WIDTH_MIN 40 /* of a line */

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
	/* Numbers are right-aligned; with `cut`, text is cut to the width of its column. */
	struct fit_column *columns;
	bool cut, narrow;	/* narrow: services are without the container's id */
	struct strbuf left_out; /* headings of columns that are not written, to fit */
};

/* Of COLUMNS (as with ls) or the terminal. 0: unlimited, or too narrow for tables. */
static unsigned width_for(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	uint64_t width = 0;
	struct winsize ws;

	if (columns && !parse_u64(columns, &width))
		return width >= WIDTH_MIN && width <= INT_MAX ? width : 0;
	if (isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &ws) && ws.ws_col >= WIDTH_MIN)
		return ws.ws_col;
	return 0;
}

struct table_style table_style_for(FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct table_style style = {.human = true, .width = width_for(out)};

	if (!isatty(fileno(out)))
		return style;
	style.short_names = true;
	style.colour = !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
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
	if (t->narrow && value_is_service(t->stmt, col))
		value_short_service(&b);
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

static void widen(struct sheet *t, int col, size_t width)
{
	if (width > WIDTH_MAX)
		width = WIDTH_MAX;
	if (width > t->columns[col].width)
		t->columns[col].width = width;
}

static size_t rows_max(const struct sheet *t)
{
	return t->style->rows_max ? t->style->rows_max : SIZE_MAX;
}

/* Reads up to SAMPLE_ROWS rows; returns the last step's result. */
static int read_sample(struct sheet *t)
{
	size_t most = rows_max(t) < SAMPLE_ROWS ? rows_max(t) : SAMPLE_ROWS;
	int rc;

	while ((rc = sqlite3_step(t->stmt)) == SQLITE_ROW) {
		struct cell *row = &t->cells[t->rows++ * t->cols];

		for (int c = 0; c < t->cols; c++) {
			row[c] = make_cell(t, c);
			widen(t, c, row[c].width);
			if (!row[c].number && row[c].width)
				t->columns[c].number = false;
			if (row[c].width)
				t->columns[c].omitted = false;
		}
		if (t->rows == most)
			break;
	}
	return rc;
}

static void pad(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

static bool is_written(const struct sheet *t, int col)
{
	return !t->columns[col].omitted && !t->columns[col].left_out;
}

/* The column that ends the lines. */
static int last_written(const struct sheet *t)
{
	int c = t->cols - 1;

	while (c && !is_written(t, c))
		c--;
	return c;
}

static size_t line_width(const struct sheet *t)
{
	size_t used = t->style->indent ? strlen(t->style->indent) : 0;
	int last = last_written(t);

	for (int c = 0; c <= last; c++)
		used += !is_written(t, c) ? 0 : t->columns[c].width + (c < last ? TABLE_GAP : 0);
	return used;
}

/* Services without the prefix, in the buffered cells. */
static void shorten_services(struct sheet *t)
{
	for (int c = 0; c < t->cols; c++) {
		if (!value_is_service(t->stmt, c))
			continue;
		t->columns[c].width = t->heads[c].width;
		for (size_t r = 0; r < t->rows; r++) {
			struct cell *cell = &t->cells[r * t->cols + c];
			struct strbuf b = {.p = cell->text, .len = strlen(cell->text)};

			value_short_service(&b);
			cell->width = width_of(cell->text);
			widen(t, c, cell->width);
		}
	}
}

/* Cuts columns, and leaves some out, if a line would be longer than the style says. */
static int fit(struct sheet *t)
{
	size_t indent = t->style->indent ? strlen(t->style->indent) : 0, used;
	struct fit_column *last = &t->columns[last_written(t)];

	if (!t->style->width)
		return 0;
	t->cut = true;
	t->narrow = line_width(t) > t->style->width;
	if (t->narrow) {
		shorten_services(t);
		table_fit(t->columns, t->cols, t->style->width - indent);
	}
	for (int c = 0; c < t->cols; c++)
		if (t->columns[c].left_out)
			strbuf_addf(&t->left_out, "%s%s", t->left_out.len ? ", " : "",
				    t->heads[c].text);
	used = line_width(t);
	if (used < t->style->width) /* for rows after the sample */
		last->width += last->number ? 0 : t->style->width - used;
	return t->left_out.failed ? -ENOMEM : 0;
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
	bool grey = is_grey(t, row), any = false;
	int last = last_written(t);

	if (grey)
		fputs("\033[90m", t->out);
	if (t->style->indent)
		fputs(t->style->indent, t->out);
	for (int c = 0; c < t->cols; c++) {
		size_t gap =
			t->columns[c].width > row[c].width ? t->columns[c].width - row[c].width : 0;
		size_t room = t->cut && !t->columns[c].number ? t->columns[c].width : SIZE_MAX;

		if (!is_written(t, c))
			continue;
		if (any)
			pad(t->out, TABLE_GAP);
		any = true;
		if (t->columns[c].number)
			pad(t->out, gap);
		if (row[c].width > room)
			fprintf(t->out, "%.*s…", (int)prefix(row[c].text, room - 1), row[c].text);
		else
			fputs(row[c].text ? row[c].text : "", t->out);
		if (!t->columns[c].number && c < last)
			pad(t->out, gap);
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

static void text_left_out(const struct sheet *t)
{
	struct strbuf b = {0};

	if (!t->left_out.len)
		return;
	strbuf_addf(&b, "without %s", t->left_out.p);
	if (b.p && width_of(b.p) > t->style->width)
		fprintf(t->out, "%.*s…\n", (int)prefix(b.p, t->style->width - 1), b.p);
	else
		fprintf(t->out, "%s\n", b.p ? b.p : "");
	strbuf_fini(&b);
}

static void box_rule(const struct sheet *t, const char *left, const char *cross, const char *end)
{
	for (int c = 0; c < t->cols; c++) {
		fputs(c ? cross : left, t->out);
		for (size_t i = 0; i < t->columns[c].width + 2; i++)
			fputs("─", t->out);
	}
	fprintf(t->out, "%s\n", end);
}

static void box_row(const struct sheet *t, const struct cell *row)
{
	for (int c = 0; c < t->cols; c++) {
		size_t gap =
			t->columns[c].width > row[c].width ? t->columns[c].width - row[c].width : 0;

		fputs("│ ", t->out);
		if (t->columns[c].number)
			pad(t->out, gap);
		fputs(row[c].text ? row[c].text : "", t->out);
		pad(t->out, (t->columns[c].number ? 0 : gap) + 1);
	}
	fputs("│\n", t->out);
}

/* Writes the rows after the sample, one by one; counts those beyond rows_max. */
static int write_rest(struct sheet *t, int rc, long *rows,
		      void (*write_row)(const struct sheet *, const struct cell *))
{
	struct cell *row = t->cells; /* reused: the sample was written */

	while (rc == SQLITE_ROW && (rc = sqlite3_step(t->stmt)) == SQLITE_ROW && !ferror(t->out)) {
		if ((size_t)(*rows)++ >= rows_max(t))
			continue;
		free_cells(row, t->cols);
		for (int c = 0; c < t->cols; c++)
			row[c] = make_cell(t, c);
		write_row(t, row);
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
		t->columns[c].name = value_column(t->stmt, c);
		t->columns[c].width = t->heads[c].width;
		t->columns[c].number = true;
		t->columns[c].omitted = t->style->human && value_is_optional(t->stmt, c);
	}
	rc = read_sample(t);
	*rows = t->rows;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return rc;
	if (!t->rows && !box)
		return rc;
	if (!box && fit(t))
		return SQLITE_NOMEM;
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
	text_left_out(t);
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
	t.columns = calloc(t.cols, sizeof(*t.columns));
	if (t.heads && t.cells && t.columns)
		rc = write_sheet(&t, rows);
	free_cells(t.heads, t.cols);
	free_cells(t.cells, t.rows * t.cols);
	free(t.heads);
	free(t.cells);
	free(t.columns);
	strbuf_fini(&t.left_out);
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
