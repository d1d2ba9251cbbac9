/* SPDX-License-Identifier: BSD-2-Clause */
/* Names with numbers: few stay, many of one shape are one name; the same from the client's side, of
 * one service only, in any order. */
#include "analyze/traffic/name_shapes.h"

#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "analyze/load/patterns.h"
#include "check.h"

enum { SERVER = 1, CLIENT = 2, SHOP = 3, OTHER = 4, HTTP = 5 };

struct set {
	struct strings *names;
	struct figures *figures;
	struct name_shapes *shapes;
};

static void set_init(struct set *s)
{
	CHECK(!strings__new(&s->names) && !figures__new(&s->figures) &&
	      !name_shapes__new(&s->shapes));
	for (const char *const *p =
		     (const char *const[]){"server", "client", "shop", "other", "http", NULL};
	     *p; p++)
		strings__add(s->names, span_of(*p));
}

static void set_fini(struct set *s)
{
	strings__free(s->names);
	figures__free(s->figures);
	name_shapes__free(s->shapes);
}

static void add(struct set *s, uint32_t role, uint32_t service, const char *name)
{
	const struct figure_key key = {.role = role,
				       .service = role == SERVER ? service : OTHER,
				       .peer = role == SERVER ? OTHER : service,
				       .protocol = HTTP,
				       .target = strings__add(s->names, span_of(name))};
	const struct figure_call call = {.timed = true, .weight = 1, .latency_ns = 1000};

	CHECK(!figures__add(s->figures, &key, &call));
}

static double calls_of(const struct set *s, uint32_t role, uint32_t service, const char *name)
{
	const struct figure_key key = {.role = role,
				       .service = role == SERVER ? service : OTHER,
				       .peer = role == SERVER ? OTHER : service,
				       .protocol = HTTP,
				       .target = strings__find(s->names, span_of(name))};
	const struct figure *g = key.target ? figures__find(s->figures, &key) : NULL;

	return g ? g->calls : 0;
}

/* %1$d: a number from 0 on, %2$d: its remainder by two, %3$d: by ten */
static const struct {
	const char *name; /* a format of names */
	int cnt;	  /* names made of it */
	const char *want; /* one name that has all calls; NULL: each name has its own */
} rows[] = {
	{"k%1$d", 16, NULL},
	{"k%1$d", 17, "k{n}"},
	{"user%1$d:cart", 100, "user{n}:cart"},
	{"session:%1$d", 17, "session:{n}"},
	{"session:a%1$dz", 17, "session:{id}"},
	{"%1$dth", 17, "{id}"},
	{"/v2/item%1$d", 100, "/v2/item{n}"},
	{"/users/{n}/item%1$d/{id}", 100, "/users/{n}/item{n}/{id}"},
	{"r%1$d", 1, NULL},
	{"SELECT * FROM t%1$d WHERE k = ?", 64, "SELECT * FROM t{n} WHERE k = ?"},
	{"\xc3\xa4%1$d", 17, "\xc3\xa4{n}"},
	{"%1$d", 17, "{n}"},
	{"a1.b2.c3.d4.e5.f6.g7.h8.i9.j1.k2.l3.m4.n5.o6.p7.q8.r%1$d", 17,
	 "a{n}.b{n}.c{n}.d{n}.e{n}.f{n}.g{n}.h{n}.i{n}.j{n}.k{n}.l{n}.m{n}.n{n}.o{n}.p{n}.q{n}.r{"
	 "n}"},
};

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct set s;
		char name[512];

		set_init(&s);
		for (int n = 0; n < rows[i].cnt; n++) {
			snprintf(name, sizeof(name), rows[i].name, n);
			add(&s, SERVER, SHOP, name);
		}
		CHECK(!name_shapes__learn(s.shapes, s.names, SERVER, &s.figures));
		CHECK(figures__cnt(s.figures) == (rows[i].want ? 1 : (size_t)rows[i].cnt));
		if (rows[i].want)
			CHECK(calls_of(&s, SERVER, SHOP, rows[i].want) == rows[i].cnt);
		else
			CHECK(calls_of(&s, SERVER, SHOP, name) == 1);
		set_fini(&s);
	}
}

/* Few words in each place but many names: all places are folded. One place of many words and one of
 * few: the few stay. */
static void test_places(void)
{
	struct set s;
	char name[64];

	set_init(&s);
	for (int n = 0; n < 100; n++) {
		snprintf(name, sizeof(name), "a%d/b%d", n / 10, n % 10);
		add(&s, SERVER, SHOP, name);
		snprintf(name, sizeof(name), "/v%d/x%d", 1 + n % 2, n / 2);
		add(&s, SERVER, SHOP, name);
	}
	CHECK(!name_shapes__learn(s.shapes, s.names, SERVER, &s.figures));
	CHECK(figures__cnt(s.figures) == 3);
	CHECK(calls_of(&s, SERVER, SHOP, "a{n}/b{n}") == 100);
	CHECK(calls_of(&s, SERVER, SHOP, "/v1/x{n}") == 50);
	CHECK(calls_of(&s, SERVER, SHOP, "/v2/x{n}") == 50);
	set_fini(&s);
}

/* One service has many, the other few. What the client sees of the same service is folded with it,
 * even if that is one name. */
static void test_services(void)
{
	struct set s;
	char name[64];

	set_init(&s);
	for (int n = 0; n < 40; n++) {
		snprintf(name, sizeof(name), "k%d", n);
		add(&s, SERVER, SHOP, name);
		if (n < 5)
			add(&s, SERVER, OTHER, name);
	}
	add(&s, CLIENT, SHOP, "k3");
	CHECK(!name_shapes__learn(s.shapes, s.names, SERVER, &s.figures));
	CHECK(figures__cnt(s.figures) == 1 + 5 + 1);
	CHECK(calls_of(&s, CLIENT, SHOP, "k{n}") == 1);
	CHECK(calls_of(&s, SERVER, OTHER, "k3") == 1);
	set_fini(&s);
}

/* Learning again, when some were folded before. */
static void test_again(void)
{
	struct set s;
	char name[64];
	struct span folded;

	set_init(&s);
	for (int n = 0; n < 40; n++) {
		snprintf(name, sizeof(name), "k%d:%d", n, n % 8);
		add(&s, SERVER, SHOP, name);
	}
	CHECK(!name_shapes__learn(s.shapes, s.names, SERVER, &s.figures));
	CHECK(figures__cnt(s.figures) == 8 && calls_of(&s, SERVER, SHOP, "k{n}:3") == 5);
	folded = name_shapes__fold(s.shapes, SHOP, HTTP, span_of("k77:9"));
	CHECK(folded.len == 6 && !memcmp(folded.p, "k{n}:9", 6));
	folded = name_shapes__fold(s.shapes, OTHER, HTTP, span_of("k77:9"));
	CHECK(folded.len == 5 && !memcmp(folded.p, "k77:9", 5));
	for (int n = 8; n < 20; n++) {
		snprintf(name, sizeof(name), "k{n}:%d", n);
		add(&s, SERVER, SHOP, name);
	}
	CHECK(!name_shapes__learn(s.shapes, s.names, SERVER, &s.figures));
	CHECK(figures__cnt(s.figures) == 1 && calls_of(&s, SERVER, SHOP, "k{n}:{n}") == 52);
	set_fini(&s);
}

/* A filter with a folded name also matches what was folded, however long it is. */
static void test_filter(void)
{
	char many[1600] = "";

	CHECK(patterns_match("k{n}", span_of("k12")) && patterns_match("k{n}", span_of("k{n}")));
	CHECK(!patterns_match("k{n}", span_of("k")) && !patterns_match("k{n}", span_of("kx")));
	CHECK(patterns_match("a,session:{id}", span_of("session:a1b2")));
	for (size_t i = 0; i + 4 < sizeof(many); i += 4)
		memcpy(many + i, "{id}", 5);
	CHECK(!patterns_match(
		many,
		span_of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:")));
	for (size_t i = 0; i + 5 < sizeof(many); i += 5)
		memcpy(many + i, "{id}/", 6);
	CHECK(!patterns_match(many, span_of("a1b2/c3/d4")));
}

int main(void)
{
	test_filter();
	test_rows();
	test_places();
	test_services();
	test_again();
	return failed;
}
