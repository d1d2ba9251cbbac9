/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 1000 */
/*
 * Services with any names and any calls between them, filtered and merged, drawn as each kind of
 * image: the output must be well-formed, and names may occur only as text.
 *
 * Input: a byte of options, the limit, the depth, the title up to a zero; then services (control
 * byte below 128, name, region and cluster, each up to a zero) and calls (control byte, client,
 * server, protocol, numbers as in row_bytes.h).
 */
#include "analyze/topology/topology.h"
#include "../unit/row_bytes.h"
#include "markup.h"

enum { FOCUS = 4, PLACED = 8, NODES_MAX = 400, EDGES_MAX = 1000 };

static char *take_string(struct bytes *b)
{
	const uint8_t *end = b->left ? memchr(b->p, 0, b->left) : NULL;
	struct span s = take_bytes(b, end ? end - b->p : b->left);

	take(b, 1);
	return strndup(s.p ? s.p : "", s.len);
}

static int64_t take_sum(struct bytes *b)
{
	return take_number(b, 63);
}

static void add_node(struct topology *t, struct bytes *b, unsigned control)
{
	struct topology_node n = {.name = take_string(b), .shown = true};

	if (t->placed && control & 1)
		n.region = take_string(b);
	if (t->placed && control & 2)
		n.cluster = take_string(b);
	t->nodes = realloc(t->nodes, (t->node_cnt + 1) * sizeof(n));
	t->nodes[t->node_cnt++] = n;
	t->node_cap = t->node_cnt;
}

static void add_edge(struct topology *t, struct bytes *b, unsigned control)
{
	struct topology_edge e = {.client = take(b, 1) % t->node_cnt,
				  .server = take(b, 1) % t->node_cnt,
				  .protocol = control & 1 ? take_string(b) : NULL,
				  .calls = control & 2 ? 0 : take_sum(b),
				  .shown = true};

	e.errors = control & 4 ? take_sum(b) : 0;
	e.request_bytes = take_sum(b);
	e.response_bytes = take_sum(b);
	e.p50_ns = e.p99_ns = control & 8 ? take_sum(b) : -1;
	e.client_ns = control & 16 ? take_sum(b) : -1;
	e.server_ns = control & 32 ? take_sum(b) : -1;
	t->edges = realloc(t->edges, (t->edge_cnt + 1) * sizeof(e));
	t->edges[t->edge_cnt++] = e;
	t->edge_cap = t->edge_cnt;
	t->nodes[e.client].calls_out = e.calls;
	t->nodes[e.server].calls_in = e.calls;
	t->nodes[e.server].errors_in = e.errors;
}

static void check_picture(const struct topology_writer *w, const struct topology *t,
			  const char *title)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	w->write(t, title, out);
	fclose(out);
	if (w == &topology_svg)
		check_markup(text, len, 0);
	else if (w == &topology_json)
		check_json(text, len);
	else
		check_text(text, len, "\n\t");
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct topology_writer *const writers[] = {&topology_svg, &topology_svg,
								&topology_dot, &topology_json};
	struct bytes b = {data, size};
	unsigned options = take(&b, 1), limit = take(&b, 1), depth = take(&b, 1) % 8;
	char *title = take_string(&b), *focus = options & FOCUS ? take_string(&b) : NULL;
	struct topology t = {.seconds = 1 + depth, .placed = options & PLACED};

	while (b.left) {
		unsigned control = take(&b, 1);

		if (control < 128 && t.node_cnt < NODES_MAX)
			add_node(&t, &b, control);
		else if (t.node_cnt && t.edge_cnt < EDGES_MAX)
			add_edge(&t, &b, control);
	}
	if ((focus || depth) && topology__narrow(&t, focus, depth)) {
		if (!focus)
			abort();
	} else {
		if (topology__merge(&t, limit < 4 ? 0 : limit % 64))
			abort();
		check_picture(writers[options & 3], &t, title);
	}
	topology__fini(&t);
	free(focus);
	free(title);
	return 0;
}
