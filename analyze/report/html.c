/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/graph/flamegraph.h"
#include "analyze/base/intern.h"
#include "analyze/store/table_value.h"

static const char html_css[] = {
#include "html.css.h"
};
static const char html_js[] = {
#include "html.js.h"
};

struct html {
	FILE *out;
	/*
	 * Only the two scripts with this nonce run, so a name from an archive that got past the
	 * escaping would not be executed. It is random, so no archive can contain it.
	 */
	char nonce[40];
	unsigned headings;
	bool in_facts, full_names;
	struct strbuf heading; /* not written yet: nothing follows it so far */
	struct strbuf text;
	int err;
};

static void put(struct html *h, const char *s)
{
	if (fputs(s, h->out) < 0 && !h->err)
		h->err = errno ? -errno : -EIO;
}

static void put_escaped(struct html *h, struct span s)
{
	h->text.len = 0;
	strbuf_escape(&h->text, ESCAPE_XML, s);
	if (h->text.len)
		put(h, h->text.p);
	if (h->text.failed)
		h->err = -ENOMEM;
}

static void put_element(struct html *h, const char *open, const char *text, const char *close)
{
	put(h, open);
	put_escaped(h, span_of(text));
	put(h, close);
}

int html__open(struct html **out, const char *title, FILE *file)
{
	struct html *h = calloc(1, sizeof(*h));

	*out = h;
	if (!h)
		return -ENOMEM;
	h->out = file;
	snprintf(h->nonce, sizeof(h->nonce), "%016" PRIx64 "%016" PRIx64, intern_seed(),
		 intern_seed());
	put(h,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	    "'unsafe-inline'; script-src 'nonce-");
	put(h, h->nonce);
	put_element(h, "'\">\n<title>", title, "</title>\n<style>");
	put(h, html_css);
	put(h, flamegraph_css);
	put_element(h, "</style></head>\n<body><header><h1>", title,
		    "</h1>\n<nav></nav></header>\n<main>\n");
	return 0;
}

static void fact(struct html *h, const char *open, const char *what, const char *text)
{
	if (!h->in_facts)
		put(h, "<dl>\n");
	h->in_facts = true;
	put(h, open);
	put_element(h, "<dt>", what, "</dt>");
	put_element(h, "<dd>", text, "</dd></div>\n");
}

void html__fact(struct html *h, const char *what, const char *text)
{
	fact(h, "<div>", what, text);
}

void html__warning(struct html *h, const char *what, const char *text)
{
	fact(h, "<div class=\"warning\">", what, text);
}

void html__full_names(struct html *h)
{
	h->full_names = true;
}

static void end_facts(struct html *h)
{
	if (h->in_facts)
		put(h, "</dl>\n");
	h->in_facts = false;
}

/* Ends the facts and writes the pending heading before other content. */
static void begin(struct html *h)
{
	end_facts(h);
	if (!h->heading.len)
		return;
	fprintf(h->out, "<h2 id=\"part%u\">", ++h->headings);
	put_escaped(h, (struct span){h->heading.p, h->heading.len});
	put(h, "</h2>\n");
	h->heading.len = 0;
}

void html__heading(struct html *h, const char *text)
{
	h->heading.len = 0;
	strbuf_addf(&h->heading, "%s", text);
	if (h->heading.failed)
		h->err = -ENOMEM;
}

void html__note(struct html *h, const char *text)
{
	begin(h);
	put_element(h, "<p>", text, "</p>\n");
}

/* Bit mask of the optional columns without values; resets the statement. */
static uint64_t empty_columns(sqlite3_stmt *stmt)
{
	int cols = sqlite3_column_count(stmt) < 64 ? sqlite3_column_count(stmt) : 64;
	uint64_t empty = 0;

	for (int c = 0; c < cols; c++)
		empty |= (uint64_t)value_is_optional(stmt, c) << c;
	while (empty && sqlite3_step(stmt) == SQLITE_ROW)
		for (int c = 0; c < cols; c++)
			if (sqlite3_column_type(stmt, c) != SQLITE_NULL)
				empty &= ~(1ull << c);
	sqlite3_reset(stmt);
	return empty;
}

static bool is_shown(uint64_t empty, int col)
{
	return col >= 64 || !(empty >> col & 1);
}

static void put_head(struct html *h, sqlite3_stmt *stmt, uint64_t empty)
{
	struct strbuf head = {0};

	put(h, "<div class=\"scroll\"><table>\n<thead><tr>");
	for (int c = 0; c < sqlite3_column_count(stmt); c++) {
		const char *name = value_column(stmt, c);

		if (!is_shown(empty, c))
			continue;
		head.len = 0;
		value_heading(&head, name ? name : "", true);
		put(h, "<th scope=\"col\">");
		put_escaped(h, (struct span){head.p, head.len});
		put(h, "</th>");
	}
	put(h, "</tr></thead>\n<tbody>\n");
	strbuf_fini(&head);
}

static bool is_share(const char *column)
{
	size_t len = column ? strlen(column) : 0;

	return len >= 5 && !strcmp(column + len - 5, "share");
}

/* Starts the cell of a function. `shown`: its content. */
static void open_function(struct html *h, sqlite3_stmt *stmt, int col, const struct strbuf *shown)
{
	struct strbuf full = {0};

	value_text(&full, stmt, col, true, false);
	if (full.len != shown->len) {
		put(h, "<td title=\"");
		put_escaped(h, (struct span){full.p, full.len});
		put(h, "\">");
	} else {
		put(h, "<td>");
	}
	if (full.failed)
		h->err = -ENOMEM;
	strbuf_fini(&full);
}

/* Numbers have their value as attribute, for sorting. The script adds bars to shares. */
static void put_cell(struct html *h, sqlite3_stmt *stmt, int col, struct strbuf *text)
{
	bool number;

	text->len = 0;
	number = value_text(text, stmt, col, true, !h->full_names);
	if (number && sqlite3_column_type(stmt, col) != SQLITE_NULL)
		fprintf(h->out, "<td class=\"%s\" data-v=\"%.17g\">",
			is_share(value_column(stmt, col)) ? "n share" : "n",
			sqlite3_column_double(stmt, col));
	else if (!h->full_names && value_is_function(stmt, col))
		open_function(h, stmt, col, text);
	else
		put(h, "<td>");
	put_escaped(h, (struct span){text->p, text->len});
	put(h, "</td>");
	if (text->failed)
		h->err = -ENOMEM;
}

long html__table(struct html *h, const char *title, sqlite3_stmt *stmt)
{
	uint64_t empty = empty_columns(stmt);
	size_t rows = 0;
	struct strbuf text = {0};
	int rc;

	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !h->err) {
		if (!rows++) {
			begin(h);
			if (title)
				put_element(h, "<h3>", title, "</h3>\n");
			put_head(h, stmt, empty);
		}
		put(h, "<tr>");
		for (int c = 0; c < sqlite3_column_count(stmt); c++)
			if (is_shown(empty, c))
				put_cell(h, stmt, c, &text);
		put(h, "</tr>\n");
	}
	if (rows)
		put(h, "</tbody></table></div>\n");
	strbuf_fini(&text);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? (long)rows : -EIO;
}

void html__text(struct html *h, const char *title, const char *text)
{
	begin(h);
	put_element(h, "<h3>", title, "</h3>\n");
	put(h, "<pre>");
	for (size_t len; *text; text += len + (text[len] == '\n')) { /* a newline would be &#10; */
		len = strcspn(text, "\n");
		put_escaped(h, (struct span){text, len});
		put(h, "\n");
	}
	put(h, "</pre>\n");
}

void html__drawing(struct html *h, const char *title, const char *svg)
{
	begin(h);
	put_element(h, "<h3>", title, "</h3>\n<div class=\"scroll\">\n");
	put(h, svg);
	put(h, "</div>\n");
}

FILE *html__graph(struct html *h)
{
	begin(h);
	put(h, "<div class=\"graph\">\n");
	return h->out;
}

void html__graph_end(struct html *h)
{
	put(h, "</div>\n");
}

static void put_script(struct html *h, const char *script)
{
	put(h, "<script nonce=\"");
	put(h, h->nonce);
	put(h, "\">\n");
	put(h, script);
	put(h, "</script>\n");
}

int html__close(struct html *h)
{
	int err;

	end_facts(h);
	put(h, "</main>\n");
	put_script(h, html_js);
	put_script(h, flamegraph_js);
	put(h, "</body></html>\n");
	if ((fflush(h->out) || ferror(h->out)) && !h->err)
		h->err = errno ? -errno : -EIO;
	err = h->err;
	strbuf_fini(&h->text);
	strbuf_fini(&h->heading);
	free(h);
	return err;
}
