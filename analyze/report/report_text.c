/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/report/report.h"
#include "analyze/store/table.h"

enum {
	HISTOGRAMS_DRAWN = 2, /* further ones of a section are one line each */
	CURVES_DRAWN = 8,
};

struct report_text {
	const struct analysis *a;
	unsigned limit;
	FILE *out, *end; /* end: where it goes in the end */
	struct table_style style;
	const char *heading; /* prefix of the titles of its tables */
	/* Text written before its turn, by the first section of its heading. */
	struct {
		char *text;
		size_t sz;
	} * held;
	struct report_page page;
};

static void put_line(const struct report_text *p, const char *colour, const char *what,
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
	((struct report_text *)ctx)->heading = text;
}

static void text_note(void *ctx, const char *text)
{
	fprintf(((struct report_text *)ctx)->out, "\n%s\n", text);
}

/* "On CPU: by process". */
static void add_title(const struct report_text *p, const struct section *s, struct strbuf *b)
{
	const char *title = s->title;

	strbuf_addf(b, "\n%s%s: ", p->style.colour ? "\033[1;36m" : "", p->heading);
	strbuf_addf(b, "%c%s%s",
		    islower((unsigned char)title[1]) ? tolower((unsigned char)*title) : *title,
		    title + 1, p->style.colour ? "\033[0m" : "");
}

/* Calls of one kind, if only a part of the stacks is shown: what --callers and --callees ask for.
 */
static int put_calls(const struct report_text *p, uint32_t kind)
{
	const struct sample_filter *f = &p->a->load.opts.samples;
	struct draw_opts draw = {.by = {DRAW_BY_NONE}, .kinds = 1ull << kind};

	if (!f->callers && !f->callees)
		return 0;
	fprintf(p->out, "\n%s%s: %s%s%s%s%s\n", p->style.colour ? "\033[1;36m" : "", p->heading,
		f->callees ? "callees of " : "", f->callees ? f->callees : "",
		f->callees && f->callers ? ", " : "", f->callers ? "callers of " : "",
		f->callers ? f->callers : "");
	if (p->style.colour)
		fputs("\033[0m", p->out);
	return draw_write(p->a, &draw, &profile_tree, p->out);
}

static long text_section(void *ctx, const struct section *s, uint32_t kind, sqlite3_stmt *stmt)
{
	const struct report_text *p = ctx;
	struct table_style style = p->style;
	struct strbuf title = {0};
	long rows;

	add_title(p, s, &title);
	style.title = title.p;
	switch (s->as) {
	case SECTION_HISTOGRAM:
		rows = histogram_text(stmt, title.p, HISTOGRAMS_DRAWN, p->out);
		break;
	case SECTION_GRAPH:
		rows = put_calls(p, kind);
		rows = rows ? rows : table_write(stmt, &style, p->out);
		break;
	case SECTION_TIMELINE:
		rows = timeline_text(stmt, title.p, CURVES_DRAWN, p->out);
		break;
	default:
		rows = table_write(stmt, &style, p->out);
	}
	strbuf_fini(&title);
	return rows;
}

static void text_more(void *ctx, uint64_t rows)
{
	fprintf(((struct report_text *)ctx)->out, "and %llu more: see --limit\n",
		(unsigned long long)rows);
}

static int text_begin(void *ctx, size_t group)
{
	struct report_text *p = ctx;

	p->out = open_memstream(&p->held[group].text, &p->held[group].sz);
	return p->out ? 0 : -ENOMEM;
}

static void text_end(void *ctx)
{
	struct report_text *p = ctx;

	if (p->out)
		fclose(p->out);
	p->out = p->end;
}

static bool text_written(void *ctx, size_t group)
{
	struct report_text *p = ctx;

	if (!p->held[group].text)
		return false;
	fwrite(p->held[group].text, 1, p->held[group].sz, p->out);
	return true;
}

int report_text__open(struct report_text **t, const struct analysis *a, unsigned limit, FILE *out)
{
	struct report_text *p = calloc(1, sizeof(*p));

	*t = p;
	if (!p)
		return -ENOMEM;
	*p = (struct report_text){a, limit, out, out, table_style_for(out)};
	p->page = (struct report_page){
		p,	     false,	   text_fact, text_warning, text_heading,
		text_note,   text_section, text_more, text_begin,   text_end,
		text_written};
	table_style_names(&p->style, a->load.opts.names);
	p->held = calloc(section_cnt, sizeof(*p->held));
	return p->held ? 0 : -ENOMEM;
}

int report_text__write_ready(void *t)
{
	const struct report_text *p = t;

	return report_write_ready(p->a, &p->page, p->limit);
}

int report_text__write(struct report_text *p)
{
	int err = report_write(p->a, &p->page, p->limit);

	if (!err && (fflush(p->out) || ferror(p->out))) {
		err = errno ? -errno : -EIO;
		if (err != -EPIPE) /* EPIPE: the reader has closed the pipe */
			message_error("standard output: %s", strerror(-err));
	}
	return err;
}

void report_text__close(struct report_text *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->held && i < section_cnt; i++)
		free(p->held[i].text);
	free(p->held);
	free(p);
}
