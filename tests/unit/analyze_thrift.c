/* SPDX-License-Identifier: BSD-2-Clause */
/* Values by field path, in both encodings, whole and cut at every byte. */
#include <stdio.h>
#include <string.h>

#include "analyze/l7/proto/thrift_value.h"

static int failed;

/* {1: i64 -7, 2: {1: i32 300, 2: "name", 3: [true], 4: bool true}, 3: double 1.5, 20: i16 -2} */
static const uint8_t binary[] = {
	10, 0, 1, 255, 255, 255, 255, 255,  255,  255, 249, 12, 0, 2, 8, 0, 1, 0,  0,	1,   44,
	11, 0, 2, 0,   0,   0,	 4,   'n',  'a',  'm', 'e', 15, 0, 3, 2, 0, 0, 0,  1,	1,   2,
	0,  4, 1, 0,   4,   0,	 3,   0x3f, 0xf8, 0,   0,   0,	0, 0, 0, 6, 0, 20, 255, 254, 0};
static const uint8_t compact[] = {0x16, 13,  0x1c, 0x15, 0xd8, 4,    0x18, 4,	 'n', 'a',
				  'm',	'e', 0x19, 0x11, 1,    0x11, 0,	   0x17, 0,   0,
				  0,	0,   0,	   0,	 0xf8, 0x3f, 4,	   40,	 3,   0};

struct path_case {
	const char *path, *want; /* NULL: not there */
};

static const struct path_case cases[] = {
	{"1", "-7"},	   {"2.1", "300"},  {"2.2", "name"},  {"2.4", "true"}, {"3", "1.5"},
	{"20", "-2"},	   {"2", NULL},	    {"2.3", NULL},    {"4", NULL},     {"2.9", NULL},
	{"1.1", NULL},	   {"", NULL},	    {"x", NULL},      {"2.", NULL},    {"2.2x", NULL},
	{"2.3.0", "true"}, {"2.3.1", NULL}, {"2.3.-1", NULL}, {NULL, NULL}};

/* {1: {"a": 7, "b": 9}, 2: [{1: "x"}, {1: "y"}], 3: {5: {1: true}}} */
static const uint8_t nested_binary[] = {
	13, 0, 1, 11,  8, 0,  0,  0, 2, 0,  0, 0,  1, 'a', 0, 0, 0, 7, 0,   0, 0,  1, 'b', 0,
	0,  0, 9, 15,  0, 2,  12, 0, 0, 0,  2, 11, 0, 1,   0, 0, 0, 1, 'x', 0, 11, 0, 1,   0,
	0,  0, 1, 'y', 0, 13, 0,  3, 8, 12, 0, 0,  0, 1,   0, 0, 0, 5, 2,   0, 1,  1, 0,   0};
static const uint8_t nested_compact[] = {0x1b, 2,    0x85, 1,	 'a', 14,   1,	  'b', 18,
					 0x19, 0x2c, 0x18, 1,	 'x', 0,    0x18, 1,   'y',
					 0,    0x1b, 1,	   0x5c, 10,  0x11, 0,	  0};
static const struct path_case nested[] = {{"1.a", "7"},	   {"1.b", "9"},   {"1.c", NULL},
					  {"1", NULL},	   {"2.0.1", "x"}, {"2.1.1", "y"},
					  {"2.2.1", NULL}, {"2.1", NULL},  {"3.5.1", "true"},
					  {"3.6.1", NULL}, {"3.5", NULL},  {NULL, NULL}};

static void check(const uint8_t *p, size_t len, bool is_compact, const struct path_case *cases)
{
	for (size_t i = 0; cases[i].path; i++) {
		struct thrift_reader r = {
			.c = {p, p + len, false}, .compact = is_compact, .bool_value = -1};
		struct span value = {"", 0};
		char text[64];
		bool got = thrift_at(r, cases[i].path, text, sizeof(text), &value);

		if (got == !!cases[i].want && (!got || l7_is(value, cases[i].want)))
			continue;
		printf("%s path '%s': %.*s\n", is_compact ? "compact" : "binary", cases[i].path,
		       got ? (int)value.len : 4, got ? value.p : "none");
		failed = 1;
	}
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t part[128];
		struct thrift_reader r = {
			.c = {part, part + cut, false}, .compact = is_compact, .bool_value = -1};

		memcpy(part, p, cut);
		if (thrift_skip_struct(&r, 0)) {
			printf("%s cut at %zu passes as whole\n", is_compact ? "compact" : "binary",
			       cut);
			failed = 1;
		}
	}
}

int main(void)
{
	check(binary, sizeof(binary), false, cases);
	check(compact, sizeof(compact), true, cases);
	check(nested_binary, sizeof(nested_binary), false, nested);
	check(nested_compact, sizeof(nested_compact), true, nested);
	return failed;
}
