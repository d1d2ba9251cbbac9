/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/report/html.h"
#include "analyze/report/report.h"
#include "analyze/topology/topology.h"

enum { CURVES_DRAWN = 20 };

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

static int put_graph(const struct html_page *p, uint32_t kind)
{
	struct draw_opts draw = *p->draw;
	FILE *out = html__graph(p->html);
	int err;

	draw.kinds = 1ull << kind;
	err = out ? draw_write(p->a, &draw, &profile_svg_inline, out) : -ENOMEM;
	html__graph_end(p->html);
	return err;
}

/* Maximum number of services in the service map. */
enum { MAP_SERVICES = 40 };

static int put_map(const struct html_page *p)
{
	struct topology t;
	char *subtitle = analysis__subtitle(p->a, "traffic");
	int err = topology__load(&t, p->a);

	if (!err && subtitle)
		err = topology__merge(&t, MAP_SERVICES);
	if (!err && subtitle && t.edge_cnt) {
		topology_svg.write(&t, subtitle, html__graph(p->html));
		html__graph_end(p->html);
	}
	topology__fini(&t);
	free(subtitle);
	return err ? err : subtitle ? 0 : -ENOMEM;
}

static long write_drawn(const struct section *s, sqlite3_stmt *stmt, FILE *out)
{
	switch (s->as) {
	case SECTION_HISTOGRAM:
		return histogram_text(stmt, NULL, UINT32_MAX, out);
	case SECTION_TIMELINE:
		return timeline_svg(stmt, CURVES_DRAWN, out);
	default:
		return heatmap_svg(stmt, out);
	}
}

static long put_drawn(const struct html_page *p, const struct section *s, sqlite3_stmt *stmt)
{
	char *text = NULL;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);
	long rows = -ENOMEM;

	if (out)
		rows = write_drawn(s, stmt, out);
	if (out && fclose(out))
		rows = -ENOMEM;
	if (rows > 0 && s->as == SECTION_HISTOGRAM)
		html__text(p->html, s->title, text);
	else if (rows > 0)
		html__drawing(p->html, s->title, text);
	free(text);
	return rows;
}

static long html_section(void *ctx, const struct section *s, uint32_t kind, sqlite3_stmt *stmt)
{
	const struct html_page *p = ctx;
	int err = 0;

	switch (s->as) {
	case SECTION_HISTOGRAM:
	case SECTION_HEATMAP:
	case SECTION_TIMELINE:
		return put_drawn(p, s, stmt);
	case SECTION_GRAPH:
		err = put_graph(p, kind);
		break;
	case SECTION_MAP:
		err = put_map(p);
		break;
	default:
		break;
	}
	return err ? err : html__table(p->html, s->title, stmt);
}

static void html_more(void *ctx, uint64_t rows)
{
	char text[64];

	snprintf(text, sizeof(text), "and %llu more: see --limit", (unsigned long long)rows);
	html__note(((struct html_page *)ctx)->html, text);
}

int report_write_html(const struct analysis *a, const struct draw_opts *draw, unsigned limit,
		      FILE *out)
{
	struct html_page p = {.a = a, .draw = draw};
	const struct report_page page = {&p,	       true,	  html_fact,	html_warning,
					 html_heading, html_note, html_section, html_more};
	char *subtitle = analysis__subtitle(a, NULL);
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
