/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 1000 */
/*
 * Any strings and numbers in every position of the HTML page, with a flame graph in it, and in
 * tables of every format: the output must be well-formed, and none of the input may become markup.
 *
 * Input: control byte (position of the string that follows, and how values are typed), a string up
 * to a zero.
 */
#include "analyze/graph/flamegraph.h"
#include "analyze/report/html.h"
#include "analyze/store/table.h"
#include "../unit/row_bytes.h"
#include "markup.h"

enum { FRAMES_MAX = 16, VALUES = 5 };

struct page {
	sqlite3_stmt *row;
	struct flamegraph *graph;
	struct profile_frame frames[FRAMES_MAX];
	size_t frame_cnt;
};

static const char row_sql[] =
	"SELECT ?1 AS self_share, ?2 AS p50_ns, ?3 AS bytes, ?4 AS calls, ?5 AS function";

static char *take_string(struct bytes *b)
{
	const uint8_t *end = b->left ? memchr(b->p, 0, b->left) : NULL;
	struct span s = take_bytes(b, end ? end - b->p : b->left);

	take(b, 1);
	return strndup(s.p ? s.p : "", s.len);
}

static void bind_value(sqlite3_stmt *s, int col, unsigned type, const char *text, struct bytes *b)
{
	switch (type & 3) {
	case 0:
		sqlite3_bind_text(s, col, text, -1, SQLITE_TRANSIENT);
		return;
	case 1:
		sqlite3_bind_int64(s, col, (int64_t)take_number(b, 64));
		return;
	case 2:
		sqlite3_bind_double(s, col, (double)take_number(b, 64) / 3);
		return;
	default:
		sqlite3_bind_blob(s, col, text, (int)strlen(text), SQLITE_TRANSIENT);
	}
}

static void check_table(sqlite3_stmt *row, enum table_format format)
{
	const struct table_style style = {
		.format = format, .human = format != TABLE_JSON, .short_names = true, .width = 60};
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	sqlite3_reset(row);
	if (table_write(row, &style, out) != 1)
		abort();
	fclose(out);
	if (format == TABLE_JSON)
		check_json(text, len);
	else
		check_text(text, len, format == TABLE_CSV ? "\n\r\t" : "\n");
	free(text);
}

static void add_table(struct page *p, struct html *h, unsigned control, const char *text,
		      struct bytes *b)
{
	for (int i = 0; i < VALUES; i++)
		bind_value(p->row, i + 1, take(b, 1), text, b);
	check_table(p->row, control >> 4 & 3);
	sqlite3_reset(p->row);
	if (html__table(h, control & 64 ? text : NULL, p->row) != 1)
		abort();
}

/* The string is the frame's name and is valid as long as the input. */
static void add_frame(struct page *p, unsigned control, char *text)
{
	p->frames[p->frame_cnt++] =
		(struct profile_frame){.name = text, .binary = text, .kind = (control >> 4) % 6};
	if (p->frame_cnt < FRAMES_MAX && !(control & 128))
		return;
	if (flamegraph__add(p->graph,
			    &(struct profile_stack){.frames = p->frames, .cnt = p->frame_cnt},
			    1u << (control >> 4 & 7), 0))
		abort();
	for (size_t i = 0; i < p->frame_cnt; i++)
		free((char *)p->frames[i].name);
	p->frame_cnt = 0;
}

static void add_part(struct page *p, struct html *h, struct bytes *b)
{
	unsigned control = take(b, 1);
	char *text = take_string(b);

	switch (control % 8) {
	case 0:
		html__fact(h, text, text);
		break;
	case 1:
		html__warning(h, text, text);
		break;
	case 2:
		html__heading(h, text);
		break;
	case 3:
		html__note(h, text);
		break;
	case 4:
		add_table(p, h, control, text, b);
		break;
	default:
		add_frame(p, control, text);
		return;
	}
	free(text);
}

static void add_graph(struct page *p, struct html *h, const char *title, bool diff)
{
	struct flame_style style = {.title = title, .subtitle = title, .unit = "ns", .diff = diff};
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (flamegraph__write_svg(p->graph, &style, out))
		abort();
	fclose(out);
	check_markup(text, len, 1);
	free(text);
	style.embedded = true;
	if (flamegraph__write_svg(p->graph, &style, html__graph(h)))
		abort();
	html__graph_end(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static sqlite3 *db;
	struct bytes b = {data, size};
	struct page p = {0};
	struct html *h;
	unsigned options = take(&b, 1);
	char *title = take_string(&b), *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!db && sqlite3_open(":memory:", &db))
		abort();
	if (sqlite3_prepare_v2(db, row_sql, -1, &p.row, NULL) ||
	    flamegraph__new(&p.graph, options & 1) || html__open(&h, title, out))
		abort();
	while (b.left)
		add_part(&p, h, &b);
	add_graph(&p, h, title, options & 2);
	if (html__close(h) || fclose(out))
		abort();
	check_markup(text, len, 2);
	for (size_t i = 0; i < p.frame_cnt; i++)
		free((char *)p.frames[i].name);
	flamegraph__free(p.graph);
	sqlite3_finalize(p.row);
	free(title);
	free(text);
	return 0;
}
