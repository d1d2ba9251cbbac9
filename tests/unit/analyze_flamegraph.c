/* SPDX-License-Identifier: BSD-2-Clause */
/* The flame graph's tree, its layout and the folded writer. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/graph/flamegraph_tree.h"

#define U(n)                                                                                       \
	{                                                                                          \
		.name = n, .kind = PROFILE_USER, .binary = "a.out"                                 \
	}
#define K(n)                                                                                       \
	{                                                                                          \
		.name = n, .kind = PROFILE_KERNEL, .binary = "[kernel]"                            \
	}
#define G(n)                                                                                       \
	{                                                                                          \
		.name = n, .kind = PROFILE_GROUP                                                   \
	}
#define ADD(f, w, w2, ...)                                                                         \
	do {                                                                                       \
		const struct profile_frame frames[] = {__VA_ARGS__};                               \
		const struct profile_stack stack = {.frames = frames,                              \
						    .cnt = sizeof(frames) / sizeof(*frames)};      \
                                                                                                   \
		assert(!flamegraph__add(f, &stack, w, w2));                                        \
	} while (0)

static void expect(const char *what, const char *got, const char *want)
{
	if (!strcmp(got, want))
		return;
	fprintf(stderr, "%s:\n%s\nexpected:\n%s\n", what, got, want);
	abort();
}

static void dump(const struct flamegraph *f, size_t max, char *text, size_t sz)
{
	struct flame_layout l;
	FILE *out = fmemopen(text, sz, "w");

	assert(out && !flame_layout_make(&l, f, max));
	for (size_t i = 0; i < l.cnt; i++) {
		const struct flame_box *b = &l.boxes[i];

		fprintf(out, "%*s%s kids %u self %lu total %lu\n", (int)b->depth, "",
			intern__get(f->strings, f->funcs[b->func].name).p, b->kids,
			(unsigned long)b->self[0], (unsigned long)b->total[0]);
	}
	fclose(out);
	flame_layout_fini(&l);
}

static void sample(struct flamegraph *f)
{
	ADD(f, 10, 0, G("app"), U("main"), U("parse"), U("next"));
	ADD(f, 30, 0, G("app"), U("main"), U("parse"));
	ADD(f, 20, 0, G("app"), U("main"), U("send"), K("vfs_write"));
	ADD(f, 5, 0, G("app"), U("main"), U("send"), K("vfs_write"), K("mark"));
	ADD(f, 2, 0, G("app"), U("main"), U("rare"));
	ADD(f, 1, 0, G("app"), U("main"), U("rarer"), U("next"));
	ADD(f, 4, 0, U("main"));
	ADD(f, 3, 0); /* a stack of which nothing is known still counts */
}

static void golden(void)
{
	struct flamegraph *f;
	char text[4096];

	assert(!flamegraph__new(&f, 0));
	sample(f);
	dump(f, 100, text, sizeof(text));
	expect("all boxes", text,
	       "all kids 2 self 3 total 75\n"
	       " app kids 1 self 0 total 68\n"
	       "  main kids 4 self 0 total 68\n"
	       "   parse kids 1 self 30 total 40\n"
	       "    next kids 0 self 10 total 10\n"
	       "   send kids 1 self 0 total 25\n"
	       "    vfs_write kids 1 self 20 total 25\n"
	       "     mark kids 0 self 5 total 5\n"
	       "   rare kids 0 self 2 total 2\n"
	       "   rarer kids 1 self 0 total 1\n"
	       "    next kids 0 self 1 total 1\n"
	       " main kids 0 self 4 total 4\n");
	dump(f, 7, text, sizeof(text));
	expect("the heaviest seven; the others summed up", text,
	       "all kids 2 self 3 total 75\n"
	       " app kids 1 self 0 total 68\n"
	       "  main kids 3 self 0 total 68\n"
	       "   parse kids 1 self 30 total 40\n"
	       "    next kids 0 self 10 total 10\n"
	       "   send kids 1 self 0 total 25\n"
	       "    vfs_write kids 1 self 20 total 25\n"
	       "     (small frames) kids 1 self 5 total 5\n"
	       "   (small frames) kids 2 self 3 total 3\n"
	       " (small frames) kids 1 self 4 total 4\n");
	flamegraph__free(f);
}

static void inverted(void)
{
	struct flamegraph *f;
	char text[4096];

	assert(!flamegraph__new(&f, FLAME_INVERTED));
	sample(f);
	dump(f, 100, text, sizeof(text));
	expect("inverted", text,
	       "all kids 2 self 3 total 75\n"
	       " app kids 5 self 0 total 68\n"
	       "  parse kids 1 self 0 total 30\n"
	       "   main kids 0 self 30 total 30\n"
	       "  vfs_write kids 1 self 0 total 20\n"
	       "   send kids 1 self 0 total 20\n"
	       "    main kids 0 self 20 total 20\n"
	       "  next kids 2 self 0 total 11\n"
	       "   parse kids 1 self 0 total 10\n"
	       "    main kids 0 self 10 total 10\n"
	       "   rarer kids 1 self 0 total 1\n"
	       "    main kids 0 self 1 total 1\n"
	       "  mark kids 1 self 0 total 5\n"
	       "   vfs_write kids 1 self 0 total 5\n"
	       "    send kids 1 self 0 total 5\n"
	       "     main kids 0 self 5 total 5\n"
	       "  rare kids 1 self 0 total 2\n"
	       "   main kids 0 self 2 total 2\n"
	       " main kids 0 self 4 total 4\n");
	flamegraph__free(f);
}

static void folded(void)
{
	struct flamegraph *f;
	char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert(out && !flamegraph__new(&f, 0));
	sample(f);
	ADD(f, 6, 0, U("std::map<a;b>"), U("two\nlines"), U("esc\x1b[1m"), U("end 5"));
	assert(!flamegraph__write_folded(f, out));
	fclose(out);
	expect("folded", text,
	       "app;main;parse 30\n"
	       "app;main;parse;next 10\n"
	       "app;main;rare 2\n"
	       "app;main;rarer;next 1\n"
	       "app;main;send;vfs_write 20\n"
	       "app;main;send;vfs_write;mark 5\n"
	       "main 4\n"
	       "std::map<a:b>;two\\x0alines;esc\\x1b[1m;end 5 6\n");
	flamegraph__free(f);
}

/* What makes frames one: name, kind and binary; lines that differ are not claimed. */
static void identity(void)
{
	struct flamegraph *f;

	assert(!flamegraph__new(&f, 0));
	ADD(f, 1, 0, {.name = "f", .binary = "a", .file = "f.c", .line = 5});
	ADD(f, 1, 0, {.name = "f", .binary = "a", .file = "f.c", .line = 5});
	assert(f->node_cnt == 2 && f->funcs[FLAME_FUNCS].line == 5);
	ADD(f, 1, 0, {.name = "f", .binary = "a", .file = "f.c", .line = 6});
	ADD(f, 1, 0, {.name = "f", .binary = "a", .file = "f.c", .line = 5});
	assert(f->node_cnt == 2 && f->funcs[FLAME_FUNCS].line == 0);
	ADD(f, 1, 0, {.name = "f", .binary = "b"});
	ADD(f, 1, 0, {.name = "f", .binary = "a", .kind = PROFILE_INLINED});
	ADD(f, 1, 0, {.name = "all", .kind = PROFILE_GROUP});
	ADD(f, 1, 0, {.name = "(small frames)", .kind = PROFILE_NOTE});
	assert(f->node_cnt == 6 && f->func_cnt == FLAME_FUNCS + 5);
	flamegraph__free(f);
}

/* Every box's total is its self and its children's totals, whatever is left out. Returns the boxes
 * left out. */
static size_t check_sums(const struct flamegraph *f, size_t max)
{
	struct flame_layout l;
	size_t small = 0, deepest = 0;

	assert(!flame_layout_make(&l, f, max));
	assert(l.cnt && l.boxes[0].total[0] == f->weight[0] && l.boxes[0].total[1] == f->weight[1]);
	for (size_t i = 0; i < l.cnt; i++) {
		const struct flame_box *b = &l.boxes[i];
		uint64_t sum[2] = {b->self[0], b->self[1]}, last = UINT64_MAX;
		uint32_t kids = 0;

		deepest = b->depth > deepest ? b->depth : deepest;
		if (b->func == FLAME_SMALL) {
			small++;
			assert(b->kids > 0 && flame_width(b) > 0);
			assert(b->total[0] == b->self[0] && b->total[1] == b->self[1]);
			continue;
		}
		for (size_t c = i + 1; c < l.cnt && l.boxes[c].depth > b->depth; c++) {
			const struct flame_box *kid = &l.boxes[c];

			if (kid->depth != b->depth + 1)
				continue;
			assert(last != 0); /* nothing after the small frames' box */
			assert(kid->func == FLAME_SMALL || flame_width(kid) <= last);
			last = kid->func == FLAME_SMALL ? 0 : flame_width(kid);
			sum[0] += kid->total[0];
			sum[1] += kid->total[1];
			kids++;
		}
		assert(sum[0] == b->total[0] && sum[1] == b->total[1] && kids == b->kids);
	}
	assert(deepest == l.depth && l.cnt - small + l.left_out == f->node_cnt &&
	       l.cnt - small <= max);
	small = l.left_out;
	flame_layout_fini(&l);
	return small;
}

/* `told`: the graph is told how much of each stack is that of the one before. */
static struct flamegraph *random_graph(unsigned seed, uint32_t max_nodes, bool told)
{
	struct flamegraph *f;
	struct profile_frame last[40];
	size_t last_depth = 0;
	struct profile_frame stack[40] = {0};
	static char names[9][8];

	srand(seed);
	assert(!flamegraph__new(&f, seed & 1));
	f->node_max = max_nodes;
	for (int i = 0; i < 9; i++)
		snprintf(names[i], sizeof(names[i]), "f%d", i);
	for (int n = 0; n < 500; n++) {
		size_t depth = rand() % 40, same = 0;
		uint64_t weight;

		for (size_t d = 0; d < depth; d++)
			stack[d] =
				(struct profile_frame){.name = names[rand() % (d < 9 ? d + 1 : 9)]};
		/* with ties, zeros and the far end of what fits */
		weight = rand() % 4 ? (uint64_t)(rand() % 5) : (uint64_t)rand() << 20;
		while (told && same < depth && same < last_depth &&
		       stack[same].name == last[same].name)
			same++;
		memcpy(last, stack, sizeof(last));
		last_depth = depth;
		assert(!flamegraph__add(
			f, &(struct profile_stack){.frames = stack, .cnt = depth, .same = same},
			weight, rand() % 3));
	}
	return f;
}

static void sums(void)
{
	for (unsigned seed = 0; seed < 10; seed++) {
		struct flamegraph *f = random_graph(seed, FLAME_MAX_NODES, false);

		assert(check_sums(f, 100000) < f->node_cnt);
		assert(check_sums(f, 1000) >= f->node_cnt - 1000);
		check_sums(f, 50);
		check_sums(f, 1);
		flamegraph__free(f);
	}
}

/* Past the bound of memory the weight stays where the stack still fits. */
static void bounded(void)
{
	struct flamegraph *all = random_graph(4, FLAME_MAX_NODES, false),
			  *f = random_graph(4, 200, false);

	assert(f->node_cnt <= 225 && f->cut_cnt > 0 && f->weight[0] == all->weight[0]);
	check_sums(f, 100000);
	flamegraph__free(all);
	flamegraph__free(f);

	assert(!flamegraph__new(&f, 0));
	for (int i = 0; i < 3; i++)
		ADD(f, UINT64_MAX, UINT64_MAX, U("a"), U("b"));
	assert(f->weight[0] == FLAME_MAX_WEIGHT && f->weight[1] == FLAME_MAX_WEIGHT);
	check_sums(f, 100);
	flamegraph__free(f);
}

/* What the graph is told of the stack before saves work and changes nothing. */
static void told(void)
{
	for (unsigned seed = 0; seed < 10; seed++) {
		uint32_t max = seed % 3 ? FLAME_MAX_NODES : 200;
		struct flamegraph *f = random_graph(seed, max, false),
				  *g = random_graph(seed, max, true);

		assert(f->node_cnt == g->node_cnt && f->func_cnt == g->func_cnt &&
		       f->cut_cnt == g->cut_cnt && f->stack_cnt == g->stack_cnt);
		for (uint32_t i = 0; i < f->node_cnt; i++)
			assert(f->nodes[i].parent == g->nodes[i].parent &&
			       f->nodes[i].func == g->nodes[i].func &&
			       f->nodes[i].self[0] == g->nodes[i].self[0] &&
			       f->nodes[i].self[1] == g->nodes[i].self[1]);
		flamegraph__free(f);
		flamegraph__free(g);
	}
}

static void kth(void)
{
	const uint64_t v[] = {5, 0, UINT64_MAX, 7, 7, 300, 1u << 20, 7};
	const uint64_t sorted[] = {UINT64_MAX, 1u << 20, 300, 7, 7, 7, 5, 0};

	for (size_t k = 1; k <= 8; k++)
		assert(flame_kth_largest(v, 8, k) == sorted[k - 1]);
}

static void full_disk(void)
{
	struct flame_style style = {.title = "t"};
	struct flamegraph *f;
	FILE *full;

	assert(!flamegraph__new(&f, 0));
	sample(f);
	for (int i = 0; i < 2; i++) {
		full = fopen("/dev/full", "w");
		assert(full);
		assert((i ? flamegraph__write_folded(f, full)
			  : flamegraph__write_svg(f, &style, full)) == -ENOSPC);
		fclose(full);
	}
	flamegraph__free(f);
}

/* The script stands in a CDATA section, the style in an element: neither may end it. */
static void parts(void)
{
	assert(!strstr(flamegraph_js, "]]>") && !strstr(flamegraph_js, "</script"));
	assert(!strpbrk(flamegraph_css, "<&"));
}

int main(void)
{
	golden();
	inverted();
	folded();
	identity();
	sums();
	bounded();
	told();
	kth();
	full_disk();
	parts();
	return 0;
}
