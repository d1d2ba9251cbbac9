/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One self-contained HTML page, written to `out` as it is made: facts, then sections of tables and
 * graphs, in the order of the calls. Every string is escaped here. Write errors are kept until
 * html__close.
 */
#ifndef ANALYZE_HTML_H
#define ANALYZE_HTML_H

#include <sqlite3.h>
#include <stdio.h>

struct html;

int html__open(struct html **h, const char *title, FILE *out); /* 0 or -ENOMEM */
/* A line of what was recorded: "Host", "web-3, Linux 6.1". Losses and damage are warnings: they
 * stand out. */
void html__fact(struct html *h, const char *what, const char *text);
void html__warning(struct html *h, const char *what, const char *text);

/* Names of functions in tables: short ones, the full ones appear when pointed at; or full ones. */
void html__full_names(struct html *h);
/* Written once something stands below it. */
void html__heading(struct html *h, const char *text);
void html__note(struct html *h, const char *text);
/*
 * The rows of a statement, just prepared or reset, under a smaller heading (NULL: none), columns as
 * in table.h's human style. Nothing at all without rows. Returns their number, or -EIO:
 * sqlite3_errmsg has the cause.
 */
long html__table(struct html *h, const char *title, sqlite3_stmt *stmt);
/* Preformatted text, escaped here; an SVG of our own making, as it is. */
void html__text(struct html *h, const char *title, const char *text);
void html__drawing(struct html *h, const char *title, const char *svg);
/* A place for an SVG: feed profile_svg_inline (or flamegraph__write_svg with style.embedded) to
 * what is returned, then call html__graph_end. */
FILE *html__graph(struct html *h);
void html__graph_end(struct html *h);

/* Finishes the page and frees h, not `out`. 0 or -errno of the first failure. */
int html__close(struct html *h);

#endif
