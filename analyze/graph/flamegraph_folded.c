/* SPDX-License-Identifier: BSD-2-Clause */
/* Folded stacks, the format of stackcollapse.pl: "root;...;leaf N". */
#include "analyze/graph/flamegraph_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"

struct folder {
	const struct flamegraph *f;
	uint32_t *first, *kids; /* children of n: kids[first[n]..first[n + 1]) */
	struct strbuf path;
	size_t *len; /* path length by depth */
	FILE *out;
};

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct flamegraph *f = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(intern__get(f->strings, f->funcs[f->nodes[x].func].name).p,
			   intern__get(f->strings, f->funcs[f->nodes[y].func].name).p);

	return order ? order : x < y ? -1 : 1;
}

static void make_families(struct folder *o)
{
	const struct flamegraph *f = o->f;
	uint32_t n = f->node_cnt;

	for (uint32_t i = 1; i < n; i++)
		o->first[f->nodes[i].parent]++;
	for (uint32_t i = 1; i <= n; i++)
		o->first[i] += o->first[i - 1];
	for (uint32_t i = n - 1; i > 0; i--)
		o->kids[--o->first[f->nodes[i].parent]] = i;
	for (uint32_t i = 0; i < n; i++)
		qsort_r(o->kids + o->first[i], o->first[i + 1] - o->first[i], sizeof(*o->kids),
			by_name, (void *)f);
}

/* Replaces characters that would end the frame or the line or control a terminal. */
static void add_frame(struct strbuf *path, struct span name)
{
	size_t at;

	if (path->len)
		strbuf_add(path, ";", 1);
	at = path->len;
	strbuf_escape(path, ESCAPE_TERMINAL, name);
	for (; at < path->len; at++)
		if (path->p[at] == ';' || (unsigned char)path->p[at] < ' ')
			path->p[at] = ':';
}

static int write_lines(struct folder *o, uint32_t *todo, uint32_t *depth)
{
	const struct flamegraph *f = o->f;
	size_t todo_cnt = 0;

	for (uint32_t i = o->first[1]; i > o->first[0]; i--)
		todo[todo_cnt++] = o->kids[i - 1];
	while (todo_cnt) {
		uint32_t n = todo[--todo_cnt];

		o->path.len = o->len[depth[n]];
		add_frame(&o->path, intern__get(f->strings, f->funcs[f->nodes[n].func].name));
		if (o->path.failed)
			return -ENOMEM;
		o->len[depth[n] + 1] = o->path.len;
		if (f->nodes[n].self[0] &&
		    fprintf(o->out, "%s %" PRIu64 "\n", o->path.p, f->nodes[n].self[0]) < 0)
			return errno ? -errno : -EIO;
		for (uint32_t i = o->first[n + 1]; i > o->first[n]; i--)
			todo[todo_cnt++] = o->kids[i - 1];
	}
	if (fflush(o->out))
		return errno ? -errno : -EIO;
	return 0;
}

int flamegraph__write_folded(const struct flamegraph *f, FILE *out)
{
	size_t n = f->node_cnt, deepest = 0;
	struct folder o = {.f = f, .out = out};
	uint32_t *todo = malloc(n * sizeof(*todo)), *depth = calloc(n, sizeof(*depth));
	int err = -ENOMEM;

	o.first = calloc(n + 1, sizeof(*o.first));
	o.kids = malloc(n * sizeof(*o.kids));
	if (!todo || !depth || !o.first || !o.kids)
		goto cleanup;
	for (uint32_t i = 1; i < n;
	     i++) { /* the root, "all", is not a frame: its children have depth 0 */
		depth[i] = f->nodes[i].parent ? depth[f->nodes[i].parent] + 1 : 0;
		if (depth[i] > deepest)
			deepest = depth[i];
	}
	o.len = calloc(deepest + 2, sizeof(*o.len));
	if (!o.len)
		goto cleanup;
	make_families(&o);
	err = write_lines(&o, todo, depth);
cleanup:
	free(todo);
	free(depth);
	free(o.first);
	free(o.kids);
	free(o.len);
	strbuf_fini(&o.path);
	return err;
}
