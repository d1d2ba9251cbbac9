/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes one self-contained HTML page to `out` as it is generated: facts, then sections of tables
 * and graphs, in the order of the calls. All strings are escaped here. Write errors are deferred to
 * html__close.
 */
#ifndef ANALYZE_HTML_H
#define ANALYZE_HTML_H

#include <sqlite3.h>
#include <stdio.h>

struct html;

int html__open(struct html **h, const char *title, FILE *out); /* 0 or -ENOMEM */
/* A fact about the capture: "Host", "web-3, Linux 6.1". Losses and damage are shown as warnings. */
void html__fact(struct html *h, const char *what, const char *text);
void html__warning(struct html *h, const char *what, const char *text);

/* Shows full function names in tables. Default: short names, with the full name as tooltip. */
void html__full_names(struct html *h);
/* Written only if content follows. */
void html__heading(struct html *h, const char *text);
void html__note(struct html *h, const char *text);
/*
 * Writes the rows of a statement (just prepared or reset) under a subheading (NULL: none), with
 * columns as in the human style of table.h. Writes nothing if there are no rows. Returns the number
 * of rows or -EIO: see sqlite3_errmsg.
 */
long html__table(struct html *h, const char *title, sqlite3_stmt *stmt);
/* html__text writes preformatted text, escaped here; html__drawing writes a trusted SVG
 * unchanged. */
void html__text(struct html *h, const char *title, const char *text);
void html__drawing(struct html *h, const char *title, const char *svg);
/* Starts an SVG: pass the returned file to profile_svg_inline (or to flamegraph__write_svg with
 * style.embedded), then call html__graph_end. */
FILE *html__graph(struct html *h);
void html__graph_end(struct html *h);

/* Finishes the page and frees h, but does not close `out`. Returns 0 or the first error as negative
 * errno. */
int html__close(struct html *h);

#endif
