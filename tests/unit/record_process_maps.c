/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Overlaying mappings. A row is a list of mappings added in order and what is left, written as
 * FILE:START-END+OFFSET in pages; FILE is a letter, '.' is memory without a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/process/process_maps.h"

static const struct {
	const char *cause, *add, *left;
} rows[] = {
	{"one", "A:1-3+0", "A:1-3+0"},
	{"apart, out of order", "B:8-9+0 A:1-3+5", "A:1-3+5 B:8-9+0"},
	{"the same again", "A:1-3+0 A:1-3+0", "A:1-3+0"},
	{"replaced whole", "A:1-3+0 B:1-3+0", "B:1-3+0"},
	{"replaced and more", "A:2-3+0 B:1-4+0", "B:1-4+0"},
	{"several replaced", "A:1-2+0 B:3-4+0 A:5-6+0 B:1-6+9", "B:1-6+9"},
	{"hole in the middle", "A:1-9+2 B:3-5+0", "A:1-3+2 B:3-5+0 A:5-9+6"},
	{"head replaced", "A:1-9+2 B:0-4+0", "B:0-4+0 A:4-9+5"},
	{"tail replaced", "A:1-9+2 B:4-12+0", "A:1-4+2 B:4-12+0"},
	{"between two, both cut", "A:1-5+0 B:6-9+0 C:4-7+0", "A:1-4+0 C:4-7+0 B:7-9+1"},
	{"continues to the right", "A:1-3+0 A:3-5+2", "A:1-5+0"},
	{"continues to the left", "A:3-5+2 A:1-3+0", "A:1-5+0"},
	{"fills a gap", "A:1-3+0 A:5-7+4 A:3-5+2", "A:1-7+0"},
	{"touches, other offset", "A:1-3+0 A:3-5+7", "A:1-3+0 A:3-5+7"},
	{"inside, same file and bias", "A:1-9+0 A:3-5+2", "A:1-9+0"},
	{"inside, same file, other bias", "A:1-9+0 A:3-5+0", "A:1-3+0 A:3-5+0 A:5-9+4"},
	{"overlaps and continues", "A:1-5+0 A:3-9+2", "A:1-9+0"},
	{"overlaps to the left and continues", "A:3-9+2 A:1-5+0", "A:1-9+0"},
	{"cut left, continued right", "B:1-4+0 A:6-8+4 A:3-6+1", "B:1-3+0 A:3-8+1"},
	{"generated code joins at any offset", ".:1-3+0 .:3-5+0 .:2-4+9", ".:1-5+0"},
	{"generated code over a file", "A:1-9+0 .:4-5+0", "A:1-4+0 .:4-5+0 A:5-9+4"},
	{"file over generated code", ".:1-9+0 A:4-5+0", ".:1-4+0 A:4-5+0 .:5-9+0"},
	{"empty", "A:1-3+0 B:2-2+0", "A:1-3+0"},
	{"page 0 and the last", "A:0-1+0 B:4294967294-4294967295+0",
	 "A:0-1+0 B:4294967294-4294967295+0"},
};

static struct binary *file(char c)
{
	static char place[128];

	return c == '.' ? NULL : (struct binary *)&place[(int)c];
}

static char letter(const struct binary *b)
{
	for (char c = 'A'; c < 'Z'; c++)
		if (file(c) == b)
			return c;
	return '.';
}

static void render(const struct maps *m, char *buf)
{
	*buf = 0;
	for (size_t i = 0; i < m->cnt; i++)
		buf += sprintf(buf, "%s%c:%lu-%lu+%lu", i ? " " : "", letter(m->v[i].binary),
			       (unsigned long)m->v[i].start, (unsigned long)m->v[i].end,
			       (unsigned long)(m->v[i].binary ? m->v[i].offset : 0));
}

static int run(const char *cause, const char *add, const char *left)
{
	struct maps m = {0}, copy = {0};
	char text[1024], copied[1024];
	int n;

	for (const char *p = add; *p;) {
		struct map a = {0};
		char c;

		if (sscanf(p, " %c:%lu-%lu+%lu%n", &c, &a.start, &a.end, &a.offset, &n) < 4)
			break;
		a.binary = file(c);
		maps_overlay(&m, &a);
		p += n;
	}
	render(&m, text);
	maps_copy(&copy, &m);
	render(&copy, copied);
	if (strcmp(text, left) || strcmp(copied, left))
		printf("%s: %s gives %s, copy %s; expected %s\n", cause, add, text, copied, left);
	n = strcmp(text, left) || strcmp(copied, left);
	maps_fini(&m);
	maps_fini(&copy);
	return n;
}

/* Random overlays against one page-by-page model. */
static int model(unsigned seed)
{
	enum { PAGES = 64 };
	struct maps m = {0};
	struct {
		char file;
		long bias;
	} page[PAGES] = {0};
	int failed = 0;

	srand(seed);
	for (int i = 0; i < 60 && !failed; i++) {
		uint64_t start = rand() % (PAGES - 1), end = start + 1 + rand() % 9,
			 offset = rand() % 3 ? start + 100 : 7;
		char c = "AB."[rand() % 3];

		if (end > PAGES)
			end = PAGES;
		maps_overlay(&m, &(struct map){.start = start,
					       .end = end,
					       .offset = offset,
					       .binary = file(c)});
		for (uint64_t p = start; p < end; p++) {
			page[p].file = c;
			page[p].bias = c == '.' ? 0 : (long)(start - offset);
		}
		for (uint64_t p = 0; p < PAGES; p++) {
			const struct map *at = maps_find(&m, p);

			failed |= !at != !page[p].file;
			if (at && page[p].file)
				failed |= letter(at->binary) != page[p].file ||
					  (at->binary &&
					   (long)(at->start - at->offset) != page[p].bias);
		}
		for (size_t k = 1; k < m.cnt; k++)
			failed |= m.v[k].start < m.v[k - 1].end;
	}
	if (failed)
		printf("seed %u: differs from the model\n", seed);
	maps_fini(&m);
	return failed;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		failed |= run(rows[i].cause, rows[i].add, rows[i].left);
	for (unsigned seed = 0; seed < 500; seed++)
		failed |= model(seed);
	return failed;
}
