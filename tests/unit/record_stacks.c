/* SPDX-License-Identifier: BSD-2-Clause */
/* Stack ids: they stay, are never used again; what is not used any more is forgotten when there are
 * too many; memory follows how many there are. */
#include <stdint.h>

#include "record/intake/stack_table.h"
#include "check.h"
#include "heap.h"

static uint64_t hash(uint64_t i)
{
	return i * 0x9e3779b97f4a7c15ULL;
}

static void not_lost(void *ctx, struct stack_entry *e)
{
	CHECK(false, "%u", e->id);
}

static void count(void *ctx, struct stack_entry *e)
{
	++*(size_t *)ctx;
}

/* Counts them, and as they come in pieces of one sample of kind 1 and two of kind 2, these. */
struct lost {
	struct stacks *s;
	size_t cnt, ones, twos;
};

static void give_up(void *ctx, struct stack_entry *e)
{
	struct lost *l = ctx;
	uint32_t waited[STACK_KINDS];

	stacks__define(l->s, e, 11, waited);
	l->cnt++;
	l->ones += waited[1];
	l->twos += waited[2];
}

static void define(struct stacks *s, struct stack_entry *e, uint32_t error)
{
	uint32_t waited[STACK_KINDS];

	stacks__define(s, e, error, waited);
	e->current = true;
}

static void test_ids(void)
{
	struct stacks *s;
	uint32_t first;

	CHECK(!stacks__new(&s));
	first = stacks__get(s, 7)->id;
	for (uint64_t i = 1; i <= 20000; i++)
		CHECK(stacks__get(s, hash(i))->id == first + i);
	CHECK(stacks__get(s, 7)->id == first && stacks__get(s, hash(20000))->id == first + 20000);
	CHECK(stacks__get(s, 0)->id == stacks__get(s, 0)->id);
	stacks__free(s);
}

/* Once in a while, each epoch, never again. */
static void test_epochs(void)
{
	struct stacks *s;
	uint32_t rare, often, burst;
	size_t left = 0;

	CHECK(!stacks__new(&s));
	rare = stacks__get(s, hash(1))->id;
	often = stacks__get(s, hash(2))->id;
	burst = stacks__get(s, hash(3))->id;
	define(s, stacks__get(s, hash(1)), 4);
	define(s, stacks__get(s, hash(2)), 5);
	define(s, stacks__get(s, hash(3)), 6);
	CHECK(stacks__get(s, hash(2))->current);
	stacks__advance(s, 3, not_lost, NULL);
	CHECK(stacks__get(s, hash(2))->id == often && !stacks__get(s, hash(2))->current);
	CHECK(stacks__get(s, hash(2))->defined && stacks__get(s, hash(2))->error == 5);
	stacks__advance(s, 3, not_lost, NULL);
	CHECK(stacks__get(s, hash(1))->id == rare, "forgotten, and there is room");
	stacks__get(s, hash(2));
	stacks__advance(s, 2, not_lost, NULL);
	CHECK(stacks__get(s, hash(1))->id == rare && stacks__get(s, hash(2))->id == often);
	CHECK(stacks__get(s, hash(3))->id > burst && !stacks__get(s, hash(3))->defined);
	stacks__each_undefined(s, count, &left);
	CHECK(left == 1, "%zu", left);
	stacks__free(s);
}

/* Samples before their definition: they are handed out once, when it comes or is given up. */
static void test_waiting(void)
{
	enum { CNT = 30000 };
	uint32_t waited[STACK_KINDS];
	struct lost lost = {0};
	struct stacks *s;

	CHECK(!stacks__new(&s));
	lost.s = s;
	for (uint64_t i = 1; i <= CNT; i++) {
		CHECK(stacks__wait(s, stacks__get(s, hash(i)), 1));
		CHECK(stacks__wait(s, stacks__get(s, hash(i)), 2));
	}
	for (uint64_t i = 1; i <= CNT; i++)
		CHECK(stacks__wait(s, stacks__get(s, hash(i)), 2));
	for (uint64_t i = 1; i <= CNT; i += 3) {
		stacks__define(s, stacks__get(s, hash(i)), 0, waited);
		CHECK(waited[0] == 0 && waited[1] == 1 && waited[2] == 2);
		stacks__define(s, stacks__get(s, hash(i)), 3, waited);
		CHECK(waited[1] == 0 && stacks__get(s, hash(i))->error == 3);
	}
	stacks__advance(s, 100, give_up, &lost);
	CHECK(lost.cnt == 0, "all were used");
	for (uint64_t i = 1; i <= CNT; i += 2)
		stacks__get(s, hash(i));
	stacks__advance(s, 100, give_up, &lost);
	CHECK(lost.cnt == CNT / 3 && lost.ones == CNT / 3 && lost.twos == CNT / 3 * 2, "%zu, %zu",
	      lost.cnt, lost.twos);
	stacks__each_undefined(s, give_up, &lost);
	CHECK(lost.cnt == CNT / 3 * 2 && lost.twos == CNT / 3 * 4, "%zu, %zu", lost.cnt, lost.twos);
	stacks__free(s);
}

/* 60,000 in use, others each minute, and one burst. */
static void test_bound(void)
{
	enum { CNT = 60000, BURST = 500000 };
	struct lost lost = {0};
	size_t before = heap_in_use(), flat, after;
	struct stacks *s;

	CHECK(!stacks__new(&s));
	lost.s = s;
	for (int epoch = 0; epoch < 3; epoch++) {
		for (uint64_t i = 1; i <= CNT; i++)
			define(s, stacks__get(s, hash(i)), 0);
		stacks__advance(s, 16384, not_lost, NULL);
	}
	flat = heap_in_use() - before;
	CHECK(flat <= 3 << 20, "%zu bytes for %d", flat, CNT);
	for (uint64_t i = CNT + 1; i <= BURST; i++)
		CHECK(stacks__wait(s, stacks__get(s, hash(i)), 1));
	for (int epoch = 0; epoch < 2; epoch++) {
		for (uint64_t i = 1; i <= CNT; i++)
			define(s, stacks__get(s, hash(i)), 0);
		stacks__advance(s, 16384, give_up, &lost);
	}
	after = heap_in_use() - before;
	CHECK(after <= flat, "%zu bytes, %zu before a burst", after, flat);
	CHECK(lost.ones == BURST - CNT && lost.cnt == lost.ones, "%zu", lost.ones);
	stacks__free(s);
}

int main(void)
{
	test_ids();
	test_epochs();
	test_waiting();
	test_bound();
	return failed;
}
