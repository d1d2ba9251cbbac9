/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/report/html.h"
#include "analyze/report/report.h"

struct html_page {
	const struct analysis *a;
	const struct draw_opts *draw;
	struct html *html;
};

static void html_fact(void *ctx, const char *what, const char *text)
{
	html__fact(((struct html_page *)ctx)->html, what, text);
}

static void html_warning(void *ctx, const char *what, const char *text)
{
	html__warning(((struct html_page *)ctx)->html, what, text);
}

static void html_heading(void *ctx, const char *text)
{
	html__heading(((struct html_page *)ctx)->html, text);
}

static void html_note(void *ctx, const char *text)
{
	html__note(((struct html_page *)ctx)->html, text);
}

static long html_table(void *ctx, const char *title, sqlite3_stmt *stmt)
{
	return html__table(((struct html_page *)ctx)->html, title, stmt);
}

static int html_graph(void *ctx, uint32_t kind)
{
	const struct html_page *p = ctx;
	struct draw_opts draw = *p->draw;
	FILE *out = html__graph(p->html);
	int err;

	draw.kinds = 1ull << kind;
	err = out ? draw_write(p->a, &draw, &profile_svg_inline, out) : -ENOMEM;
	html__graph_end(p->html);
	return err;
}

static int html_drawn(void *ctx, const struct section *s, sqlite3_stmt *stmt)
{
	const struct html_page *p = ctx;
	char *text = NULL;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);
	long rows = -ENOMEM;

	if (out)
		rows = s->as == SECTION_HISTOGRAM ? histogram_text(stmt, NULL, UINT32_MAX, out)
						  : heatmap_svg(stmt, out);
	if (out && fclose(out))
		rows = -ENOMEM;
	if (rows > 0 && s->as == SECTION_HISTOGRAM)
		html__text(p->html, s->title, text);
	else if (rows > 0)
		html__drawing(p->html, s->title, text);
	free(text);
	return rows < 0 ? (int)rows : 0;
}

int report_write_html(const struct analysis *a, const struct draw_opts *draw, unsigned limit,
		      FILE *out)
{
	struct html_page p = {.a = a, .draw = draw};
	const struct report_page page = {&p,	    html_fact,	html_warning, html_heading,
					 html_note, html_table, html_graph,   html_drawn};
	char *subtitle = analysis__subtitle(a);
	int closed, err = subtitle ? html__open(&p.html, draw->title ? draw->title : subtitle, out)
				   : -ENOMEM;

	free(subtitle);
	if (err)
		return err;
	if (a->load.opts.names == NAMES_FULL)
		html__full_names(p.html);
	err = report_write(a, &page, limit);
	closed = html__close(p.html);
	if (!err && closed)
		message_error("html: %s", strerror(-closed));
	return err ? err : closed;
}
