/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks, weights and binaries in memory: what is equal is one, what was given comes back. */
#include <stdlib.h>
#include <string.h>

#include "analyze/base/index.h"
#include "analyze/load/binaries.h"
#include "analyze/load/stacks.h"
#include "analyze/load/weights.h"
#include "format/text.h"
#include "check.h"

static uint32_t chain(struct stacks *s, const uint64_t *root_first, size_t cnt)
{
	struct stack_step steps[8];
	uint32_t node = 0;

	for (size_t i = 0; i < cnt; i++) {
		steps[i] = (struct stack_step){.address = root_first[i] & UINT32_MAX,
					       .binary = root_first[i] >> 32};
		stacks__step(s, i ? &steps[i - 1] : NULL, &steps[i]);
	}
	for (size_t i = 0; i < cnt; i++)
		node = stacks__node(s, node, &steps[i]);
	return node;
}

static void check_walk(const struct stacks *s, uint32_t stack, const uint64_t *want, size_t cnt)
{
	struct stack_path p = {0};

	CHECK(stacks__walk(s, stack, &p) == 0 && p.cnt == cnt, "%zu frames", p.cnt);
	for (size_t i = 0; i < p.cnt; i++) {
		const struct location *l = &stacks__locations((struct stacks *)s)[p.v[i].location];

		CHECK(((uint64_t)l->binary << 32 | l->address) == want[i], "frame %zu", i);
	}
	CHECK(stacks__walk(s, stack, &p) == (long)cnt && p.cnt == cnt, "the same once more");
	stack_path_fini(&p);
}

static void test_stacks(void)
{
	static const uint64_t user[] = {1ull << 32 | 10, 1ull << 32 | 20, 2ull << 32 | 20},
			      kernel[] = {9ull << 32 | 5};
	static const uint64_t whole[] = {1ull << 32 | 10, 1ull << 32 | 20, 2ull << 32 | 20,
					 9ull << 32 | 5};
	struct stacks *s;
	uint32_t a, b;

	CHECK(!stacks__new(&s));
	a = stacks__add(s, (struct stack){chain(s, user, 3), chain(s, kernel, 1), 0});
	b = stacks__add(s, (struct stack){chain(s, user, 3), chain(s, kernel, 1), 0});
	CHECK(a == b);
	check_walk(s, a, whole, 4);
	b = stacks__add(s, (struct stack){chain(s, user, 3), chain(s, kernel, 1), STACK_NO_ROW});
	CHECK(a != b && stacks__cnt(s) == 4, "the cause tells stacks apart");
	CHECK(chain(s, user, 2) != chain(s, user, 3));
	CHECK(stacks__location_cnt(s) == 4);
	CHECK(stacks__add(s, (struct stack){.error = STACK_LOST}) == 0);
	CHECK(stacks__add(s, (struct stack){.user = STACK_NO_NODE}) == 1, "what does not fit");
	CHECK(stack_error_text(STACK_NONE) == NULL && stack_error_text(12345) != NULL);
	stacks__free(s);
}

/* Stacks of three frames: in the order of their ranks, each outer path of one frame, and each of
 * two, begins once. */
static void check_rank(const struct stacks *s, size_t paths1, size_t paths2)
{
	size_t cnt = stacks__cnt(s), begun1 = 0, begun2 = 0;
	uint32_t *rank, *order = calloc(cnt, sizeof(*order));
	struct stack_path p = {0};

	CHECK(order && !stacks__rank(s, &rank));
	for (size_t i = 0; i < cnt; i++)
		order[rank[i]] = i + 1;
	for (size_t i = 0; i < cnt; i++) {
		CHECK(order[i], "rank %zu is nobody's", i);
		long same = stacks__walk(s, order[i] - 1, &p);

		CHECK(same >= 0 && (p.cnt == 3 || !p.cnt), "%zu frames", p.cnt);
		begun1 += p.cnt && same < 1;
		begun2 += p.cnt && same < 2;
	}
	CHECK(begun1 == paths1 && begun2 == paths2, "%zu, %zu", begun1, begun2);
	free(rank);
	free(order);
	stack_path_fini(&p);
}

/* Paths turned from stack to stack, in an order that jumps, are those walked from nothing. */
static void test_walk(void)
{
	enum { STACKS = 500 };
	struct stack_path p = {0};
	struct stacks *s;
	uint64_t at = 1;

	CHECK(!stacks__new(&s));
	for (uint64_t i = 0; i < STACKS; i++) {
		uint64_t user[] = {i % 2, i % 5, i % 35}, kernel[] = {50 + i % 3, 60 + i % 7};

		stacks__add(s, (struct stack){chain(s, user, i % 4), chain(s, kernel, i / 4 % 3),
					      i % 2});
	}
	for (int i = 0; i < 20 * STACKS; i++) {
		struct stack_path whole = {0}, before = {0};
		uint32_t stack = at % stacks__cnt(s);
		long same, want = 0;

		CHECK(!array_reserve(&before.v, &before.cap, p.cnt + 1));
		before.cnt = p.cnt;
		for (size_t k = 0; k < p.cnt; k++)
			before.v[k] = p.v[k];
		same = stacks__walk(s, stack, &p);
		CHECK(!stacks__walk(s, stack, &whole) && p.cnt == whole.cnt);
		for (size_t k = 0; k < p.cnt; k++)
			CHECK(p.v[k].node == whole.v[k].node, "stack %u, level %zu", stack, k);
		while (want < (long)p.cnt && want < (long)before.cnt &&
		       before.v[want].node == p.v[want].node)
			want++;
		CHECK(same == want, "%ld frames stayed, not %ld", same, want);
		stack_path_fini(&whole);
		stack_path_fini(&before);
		at = at * 6364136223846793005 + 1442695040888963407;
	}
	stack_path_fini(&p);
	stacks__free(s);
}

static void test_many(void)
{
	struct stacks *s;
	uint32_t first = 0, last = 0;

	CHECK(!stacks__new(&s));
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 20000; i++) {
			uint64_t frames[] = {1ull << 32 | i % 7, 2ull << 32 | i % 301,
					     3ull << 32 | i};

			last = stacks__add(s, (struct stack){chain(s, frames, 3), 0, 0});
			first = i ? first : last;
		}
		CHECK(stacks__cnt(s) == 20002 && last == first + 19999, "round %d: %zu", round,
		      stacks__cnt(s));
	}
	check_rank(s, 7, 301);
	stacks__free(s);
}

static void test_weights(void)
{
	static const uint32_t rank[] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
	struct weights *w;
	uint32_t hint = 0;

	CHECK(!weights__new(&w));
	for (int i = 0; i < 1000; i++)
		CHECK(!weights__add(w, &(struct weight){i % 3, 0, 1 + i % 2, i % 10, 1, 5}, &hint));
	CHECK(weights__cnt(w) == 10, "%zu", weights__cnt(w));
	CHECK(!weights__sort(w, rank, 10));
	CHECK(weights__get(w, 0)->stack == 8 && weights__get(w, 0)->count == 100 &&
	      weights__get(w, 0)->value == 500);
	CHECK(weights__get(w, 9)->stack == 1 && weights__get(w, 9)->thread == 0);
	weights__free(w);
	CHECK(!weights__new(&w));
	weights__by_thread(w);
	for (int i = 0; i < 30; i++)
		CHECK(!weights__add(w, &(struct weight){i % 3, 0, 1, 4, 1, 5}, &hint));
	CHECK(weights__cnt(w) == 3);
	weights__free(w);
}

static struct rec_binary binary(uint32_t id, const char *build_id, const char *path)
{
	return (struct rec_binary){id, span_of(build_id), span_of(path), 0};
}

static void test_binaries(void)
{
	struct strings *strings;
	struct binaries *b;
	const struct host_symbol *s;
	struct rec_binary same = binary(4, "ab12", "/bin/x"), other = binary(9, "ab12", "/bin/x"),
			  jit = binary(5, "", "[jit 7]");
	struct rec_symbol sym[] = {
		{5, 100, 10, span_of("f"), span_of("")},
		{5, 200, 0, span_of("g"), span_of("")},
		{0xffff, 0xffffffff81000000, 0, span_of("ip_rcv"), span_of("")},
		{0xffff, 0xffffffffc0000000, 0, span_of("nf_hook"), span_of("nf_tables")}};

	CHECK(!strings__new(&strings) && !binaries__new(&b, strings));
	CHECK(!binaries__define(b, 0, &same, "") && !binaries__define(b, 1, &other, "") &&
	      !binaries__define(b, 0, &jit, "") && !binaries__define(b, 1, &jit, ""));
	CHECK(binaries__find(b, 0, 4) == binaries__find(b, 1, 9),
	      "the same file in two captures is one");
	CHECK(binaries__find(b, 0, 5) != binaries__find(b, 1, 5), "JIT code is a capture's own");
	CHECK(binaries__find(b, 0, 0) == 0 && binaries__find(b, 0, 77) != 0 &&
	      binaries__find(b, 0, 0x10000) == 0);
	for (int i = 0; i < 3; i++) /* repeated now and then */
		for (size_t k = 0; k < 4; k++)
			CHECK(!binaries__symbol(b, 0, &sym[k]));
	s = binaries__symbol_at(b, binaries__find(b, 0, 5), 109);
	CHECK(s && !strcmp(strings__get(strings, s->name), "f"));
	CHECK(!binaries__symbol_at(b, binaries__find(b, 0, 5), 110), "behind f's end");
	CHECK(!binaries__symbol_at(b, binaries__find(b, 0, 5), 99));
	s = binaries__symbol_at(b, binaries__find(b, 0, 5), 5000);
	CHECK(s && !strcmp(strings__get(strings, s->name), "g"), "no size: until the next");
	s = binaries__symbol_at(b, binaries__find(b, 0, 0xffff), 0xffffffffc0000010);
	CHECK(s &&
	      !strcmp(strings__get(strings, binaries__get(b, s->binary)->path), "[nf_tables]"));
	CHECK(binaries__get(b, binaries__find(b, 0, 0xffff))->host_cnt == 2);
	binaries__free(b);
	strings__free(strings);
}

int main(void)
{
	test_stacks();
	test_walk();
	test_many();
	test_weights();
	test_binaries();
	return failed;
}
