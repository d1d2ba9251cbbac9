/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "format/text.h"
#include "analyze/report/report.h"
#include "analyze/store/table.h"

enum { HISTOGRAMS_DRAWN = 2 }; /* the rest of a section is a line each */

struct text_page {
	FILE *out;
	struct table_style style;
	const char *heading; /* begins the titles of the tables below it */
};

static void put_line(const struct text_page *p, const char *colour, const char *what,
		     const char *text)
{
	struct strbuf b = {0};

	strbuf_escape(&b, ESCAPE_TERMINAL, span_of(text));
	if (p->style.colour)
		fprintf(p->out, "%s%-9s %s\033[0m\n", colour, what, b.p ? b.p : "");
	else
		fprintf(p->out, "%-9s %s\n", what, b.p ? b.p : "");
	strbuf_fini(&b);
}

static void text_fact(void *ctx, const char *what, const char *text)
{
	put_line(ctx, "", what, text);
}

static void text_warning(void *ctx, const char *what, const char *text)
{
	put_line(ctx, "\033[1;31m", what, text);
}

static void text_heading(void *ctx, const char *text)
{
	((struct text_page *)ctx)->heading = text;
}

static void text_note(void *ctx, const char *text)
{
	fprintf(((struct text_page *)ctx)->out, "\n%s\n", text);
}

static long text_table(void *ctx, const char *title, sqlite3_stmt *stmt)
{
	const struct text_page *p = ctx;
	struct table_style style = p->style;
	struct strbuf head = {0};
	long rows;

	strbuf_addf(&head, "\n%s", style.colour ? "\033[1;36m" : "");
	if (p->heading)
		strbuf_addf(&head, "%s: ", p->heading);
	strbuf_addf(&head, "%c%s%s",
		    p->heading && islower((unsigned char)title[1]) ? tolower((unsigned char)*title)
								   : *title,
		    title + 1, style.colour ? "\033[0m" : "");
	style.title = head.p;
	rows = table_write(stmt, &style, p->out);
	strbuf_fini(&head);
	return rows;
}

/* Heat maps are for `obana show` and the page: they are wide. */
static int text_drawn(void *ctx, const struct section *s, sqlite3_stmt *stmt)
{
	const struct text_page *p = ctx;
	struct strbuf title = {0};
	long rows;

	if (s->as != SECTION_HISTOGRAM)
		return 0;
	strbuf_addf(&title, "\n%s%s: %c%s%s", p->style.colour ? "\033[1;36m" : "", s->heading,
		    tolower((unsigned char)*s->title), s->title + 1,
		    p->style.colour ? "\033[0m" : "");
	rows = histogram_text(stmt, title.p, HISTOGRAMS_DRAWN, p->out);
	strbuf_fini(&title);
	return rows < 0 ? (int)rows : 0;
}

int report_write_text(const struct analysis *a, unsigned limit, FILE *out)
{
	struct text_page p = {.out = out, .style = table_style_for(out)};
	const struct report_page page = {&p,	    text_fact,	text_warning, text_heading,
					 text_note, text_table, NULL,	      text_drawn};
	int err;

	table_style_names(&p.style, a->load.opts.names);
	err = report_write(a, &page, limit);

	if (!err && (fflush(out) || ferror(out))) {
		err = errno ? -errno : -EIO;
		if (err != -EPIPE) /* whoever reads has seen enough */
			message_error("standard output: %s", strerror(-err));
	}
	return err;
}
