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

int report_write_html(const struct analysis *a, const struct draw_opts *draw, unsigned limit,
		      FILE *out)
{
	struct html_page p = {.a = a, .draw = draw};
	const struct report_page page = {&p,	    html_fact,	html_warning, html_heading,
					 html_note, html_table, html_graph};
	char *subtitle = analysis__subtitle(a);
	int closed, err = subtitle ? html__open(&p.html, draw->title ? draw->title : subtitle, out)
				   : -ENOMEM;

	free(subtitle);
	if (err)
		return err;
	err = report_write(a, &page, limit);
	closed = html__close(p.html);
	if (!err && closed)
		message_error("html: %s", strerror(-closed));
	return err ? err : closed;
}
