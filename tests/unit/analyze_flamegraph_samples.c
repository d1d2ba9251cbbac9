/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flame graphs of known shape. With a name as argument: that graph's SVG on stdout (the browser
 * tests open them); without: every sample is written and held to the bounds of size and time.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/graph/flamegraph.h"

#define STACKS 50000

#define U(n)                                                                                       \
	{                                                                                          \
		.name = n, .kind = PROFILE_USER, .binary = "/usr/bin/demo", .file = "demo.cc",     \
		.line = 10                                                                         \
	}
#define I(n)                                                                                       \
	{                                                                                          \
		.name = n, .kind = PROFILE_INLINED, .binary = "/usr/bin/demo", .file = "demo.h",   \
		.line = 7                                                                          \
	}
#define K(n)                                                                                       \
	{                                                                                          \
		.name = n, .kind = PROFILE_KERNEL, .binary = "[kernel]"                            \
	}
#define J(n)                                                                                       \
	{                                                                                          \
		.name = n, .kind = PROFILE_JIT                                                     \
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

static void small(struct flamegraph *f)
{
	ADD(f, 10, 0, G("demo (4711)"), U("_start"), U("main"), U("parse"), I("next_token"));
	ADD(f, 30, 0, G("demo (4711)"), U("_start"), U("main"), U("parse"));
	ADD(f, 20, 0, G("demo (4711)"), U("_start"), U("main"), U("write_out"), K("vfs_write"),
	    K("ext4_file_write_iter"));
	ADD(f, 25, 0, G("demo (4711)"), U("_start"), U("main"), U("eval"), U("parse"), U("eval"),
	    U("parse"));
	ADD(f, 10, 0, G("demo (4711)"), U("_start"), U("main"), J("LazyCompile:*work app.js:1"));
	ADD(f, 5, 0, G("other (12)"), K("asm_exc_page_fault"), K("clear_page"));
}

static void diff(struct flamegraph *f)
{
	ADD(f, 100, 300, U("main"), U("grew"));
	ADD(f, 300, 100, U("main"), U("shrank"));
	ADD(f, 500, 505, U("main"), U("same"));
	ADD(f, 0, 50, U("main"), U("new"));
	ADD(f, 50, 0, U("main"), U("gone"));
	ADD(f, 50, 45, U("main"), U("slightly_less"));
}

static void hostile(struct flamegraph *f)
{
	static char huge[10001];

	memset(huge, 'x', 10000);
	ADD(f, 10, 0, U("<script>window.evil=1</script>"), U("a]]>b"), U("\"onload='evil()'"));
	ADD(f, 10, 0, U("</metadata></svg><svg onload=\"window.evil=2\">"),
	    U("bad \xff\xfe utf8 \xc0\x80"), U("ctl \x01\x1b[31m\ntwo\r\nlines\t"));
	ADD(f, 10, 0, U("&amp;<img src=x onerror=window.evil=3>"), U(huge),
	    U("\xef\xbf\xbf\xed\xa0\x80"));
	ADD(f, 10, 0, U(""), U("-->"), U("\xe2\x80\xae rtl"), U("&#0;"), U("constructor"),
	    U("__proto__"));
	ADD(f, 10, 0,
	    {.name = "tip",
	     .binary = "<b>bin</b>",
	     .file = "<script>window.evil=4</script>",
	     .line = 1});
}

/* One chain 1,000 frames deep with a branch at each hundredth. */
static void deep(struct flamegraph *f)
{
	static char names[1000][24];
	struct profile_frame stack[1000];

	for (int i = 0; i < 1000; i++) {
		snprintf(names[i], sizeof(names[i]), "level_%d", i);
		stack[i] = (struct profile_frame){.name = names[i],
						  .kind = i % 7 ? PROFILE_USER : PROFILE_INLINED};
	}
	for (int n = 100; n <= 1000; n += 100)
		assert(!flamegraph__add(f, &(struct profile_stack){.frames = stack, .cnt = n}, 10,
					0));
}

static uint32_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* 50,000 distinct stacks of 10 to 1,000 frames of 5,000 functions with C++-like names. */
static void big(struct flamegraph *f)
{
	static char names[5000][96];
	struct profile_frame stack[1000];
	uint64_t state = 42;

	for (int i = 0; i < 5000; i++)
		snprintf(names[i], sizeof(names[i]),
			 "ns%d::Container<std::pair<int, ns%d::Key>>::method_%d(std::string "
			 "const&, int)",
			 i % 17, i % 23, i);
	for (int s = 0; s < STACKS; s++) {
		size_t depth = 10 + next(&state) % 30;

		if (s % 100 == 0)
			depth = 1000;
		for (size_t d = 0; d < depth; d++) {
			/* few choices near the root, more above: a tree that fans out */
			uint32_t way = next(&state) % 100 < 70 ? 0 : next(&state) % (2 + d / 4);
			size_t fn = d > 60 ? d % 5
					   : (d * 131 + way * 977 +
					      (d ? (size_t)(stack[d - 1].line * 7) : 0)) %
						     5000;

			stack[d] = (struct profile_frame){.name = names[fn],
							  .line = fn,
							  .binary = "/opt/app/bin/server",
							  .file = "/src/app/container.hh",
							  .kind = fn % 5 == 0	 ? PROFILE_INLINED
								  : fn % 11 == 0 ? PROFILE_KERNEL
										 : PROFILE_USER};
		}
		assert(!flamegraph__add(f, &(struct profile_stack){.frames = stack, .cnt = depth},
					1000000 + next(&state) % 10000000, 0));
	}
}

/* 50,000 siblings of equal weight. */
static void flat(struct flamegraph *f)
{
	for (int i = 0; i < STACKS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "leaf_%d", i);
		ADD(f, 1, 0, U("main"), U(name));
	}
}

static void none(struct flamegraph *f)
{
}

static const struct sample {
	const char *name;
	void (*build)(struct flamegraph *f);
	unsigned flags;
	struct flame_style style;
} samples[] = {
	{"small", small, 0, {.title = "demo", .subtitle = "host <a>, 10 s", .unit = "samples"}},
	{"inverted", small, FLAME_INVERTED, {.title = "demo, inverted", .unit = "samples"}},
	{"diff", diff, 0, {.title = "old to new", .unit = "ns", .diff = true}},
	{"hostile",
	 hostile,
	 0,
	 {.title = "<script>window.evil=9</script>", .subtitle = "]]>", .unit = "bytes"}},
	{"deep", deep, 0, {.title = "1,000 deep", .unit = "samples"}},
	{"big", big, 0, {.title = "50,000 stacks", .subtitle = "host, 60 s", .unit = "ns"}},
	{"big-inverted", big, FLAME_INVERTED, {.title = "50,000 stacks, inverted", .unit = "ns"}},
	{"flat", flat, 0, {.title = "flat", .unit = "samples"}},
	{"none", none, 0, {.title = "nothing", .unit = "samples"}},
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static size_t draw(const struct sample *s, FILE *out, double *build_s, double *write_s)
{
	struct flamegraph *f;
	double start = now(), mid;
	long at;

	assert(!flamegraph__new(&f, s->flags));
	s->build(f);
	mid = now();
	assert(!flamegraph__write_svg(f, &s->style, out));
	assert(!fflush(out));
	*build_s = mid - start;
	*write_s = now() - mid;
	at = ftell(out);
	flamegraph__free(f);
	return at;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		double build_s, write_s;
		FILE *out = argc > 1 ? stdout : tmpfile();
		size_t sz;

		if (argc > 1 && strcmp(argv[1], samples[i].name))
			continue;
		assert(out);
		sz = draw(&samples[i], out, &build_s, &write_s);
		if (argc > 1)
			return 0;
		fclose(out);
		printf("%-13s built in %.3f s, written in %.3f s, %zu bytes\n", samples[i].name,
		       build_s, write_s, sz);
		assert(sz < 3u << 20);
#ifndef __SANITIZE_ADDRESS__
		assert(write_s < 1.0); /* 0.3 s on an idle machine */
#endif
	}
	return argc > 1;
}
