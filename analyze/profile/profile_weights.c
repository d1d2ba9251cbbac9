/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/profile/profile_weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/index.h"
#include "analyze/load/stack_view.h"

struct total {
	uint64_t self_count, self_value, count, value;
};

/* Totals by kind, allocated when the kind first occurs. */
struct totals {
	struct total *of[SAMPLE_KIND_CNT];
	size_t cnt;
};

static struct total *totals_of(struct totals *t, uint32_t kind, size_t i)
{
	if (!t->of[kind])
		t->of[kind] = calloc(t->cnt, sizeof(struct total));
	return t->of[kind] ? &t->of[kind][i] : NULL;
}

static void totals_fini(struct totals *t)
{
	for (size_t k = 0; k < SAMPLE_KIND_CNT; k++)
		free(t->of[k]);
}

/* Functions of the current stack without duplicates, leaf first. */
struct content {
	uint32_t *functions;
	size_t cnt, cap;
	uint32_t leaf_binary;
	struct stack_view stack;
	uint32_t *seen; /* by function: the last reading that found it */
	uint32_t reading;
};

static int content_read(struct content *c, const struct load *l, uint32_t stack)
{
	int err = stack_view__read(&c->stack, l, stack);

	c->cnt = 0;
	c->reading++;
	for (size_t i = c->stack.cnt; i-- > 0 && !err;) {
		const struct frame *frame = frames__get(l->frames, c->stack.frames[i]);

		if (c->seen[frame->function] == c->reading)
			continue;
		err = array_reserve(&c->functions, &c->cap, c->cnt + 1);
		if (err)
			break;
		if (!c->cnt)
			c->leaf_binary = frame->binary;
		c->seen[frame->function] = c->reading;
		c->functions[c->cnt++] = frame->function;
	}
	return err;
}

static int add_weight(const struct content *c, const struct weight *w, struct totals *functions,
		      struct totals *binaries)
{
	for (size_t i = 0; i < c->cnt; i++) {
		struct total *t = totals_of(functions, w->kind, c->functions[i]);

		if (!t)
			return -ENOMEM;
		t->count += w->count;
		t->value += w->value;
		if (!i) {
			t->self_count += w->count;
			t->self_value += w->value;
			t = totals_of(binaries, w->kind, c->leaf_binary);
			if (!t)
				return -ENOMEM;
			t->self_count += w->count;
			t->self_value += w->value;
		}
	}
	return 0;
}

static int add_all(const struct load *l, struct totals *functions, struct totals *binaries)
{
	struct content c = {.seen = calloc(functions->cnt + 1, sizeof(uint32_t))};
	uint32_t stack = UINT32_MAX;
	int err = c.seen ? 0 : -ENOMEM;

	for (size_t i = 0; i < weights__cnt(l->weights) && !err; i++) {
		const struct weight *w = weights__get(l->weights, i);

		stack_view__ahead(l, i);
		if (w->stack != stack)
			err = content_read(&c, l, stack = w->stack);
		if (!err)
			err = add_weight(&c, w, functions, binaries);
	}
	free(c.seen);
	free(c.functions);
	stack_view__fini(&c.stack);
	return err;
}

static void bind_kind(struct insert *in, const struct load *l, uint32_t kind)
{
	insert_text(in, sample_kinds__get(l->kinds, kind)->name);
}

static int write_functions(struct load *l, const struct totals *functions)
{
	struct insert in;
	int err = insert_open(&in, l->store, "INSERT INTO function_weight VALUES(?,?,?,?,?,?)");

	for (uint32_t k = 0; k < SAMPLE_KIND_CNT && !err; k++)
		for (size_t i = 0; functions->of[k] && i < functions->cnt && !err; i++) {
			const struct total *t = &functions->of[k][i];

			if (!t->count && !t->value)
				continue;
			bind_kind(&in, l, k);
			insert_int(&in, i + 1);
			insert_int(&in, t->self_count);
			insert_int(&in, t->self_value);
			insert_int(&in, t->count);
			insert_int(&in, t->value);
			err = insert_run(&in);
		}
	insert_close(&in);
	return err;
}

static int write_binaries(struct load *l, const struct totals *binaries)
{
	struct insert in;
	int err = insert_open(&in, l->store, "INSERT INTO binary_weight VALUES(?,nullif(?,0),?,?)");

	for (uint32_t k = 0; k < SAMPLE_KIND_CNT && !err; k++)
		for (size_t i = 0; binaries->of[k] && i < binaries->cnt && !err; i++) {
			const struct total *t = &binaries->of[k][i];

			if (!t->self_count && !t->self_value)
				continue;
			bind_kind(&in, l, k);
			insert_int(&in, i);
			insert_int(&in, t->self_count);
			insert_int(&in, t->self_value);
			err = insert_run(&in);
		}
	insert_close(&in);
	return err;
}

static int write_threads(struct load *l, const struct weights *threads)
{
	struct insert in;
	int err = insert_open(&in, l->store, "INSERT INTO thread_weight VALUES(?,?,?,?)");

	for (size_t i = 0; i < weights__cnt(threads) && !err; i++) {
		const struct weight *w = weights__get(threads, i);

		bind_kind(&in, l, w->kind);
		insert_int(&in, w->thread);
		insert_int(&in, w->count);
		insert_int(&in, w->value);
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

/* Sums consecutive weights of the same kind and error. The upsert replaces the GROUP BY of the
 * view. */
static int write_errors(struct load *l)
{
	struct insert in;
	int err = insert_open(&in, l->store,
			      "INSERT INTO error_weight VALUES(?,?,?,?) "
			      "ON CONFLICT DO UPDATE SET count = count + excluded.count, value = "
			      "value + excluded.value");
	struct weight sum = {0};
	const char *error = NULL;

	for (size_t i = 0; i <= weights__cnt(l->weights) && !err; i++) {
		const struct weight *w =
			i < weights__cnt(l->weights) ? weights__get(l->weights, i) : NULL;
		const char *now =
			w ? stack_error_text(stacks__get(l->stacks, w->stack).error) : NULL;

		if (i && (!w || w->kind != sum.kind || now != error)) {
			bind_kind(&in, l, sum.kind);
			insert_text(&in, error);
			insert_int(&in, sum.count);
			insert_int(&in, sum.value);
			err = insert_run(&in);
			sum.count = sum.value = 0;
		}
		if (w) {
			sum.kind = w->kind;
			sum.count += w->count;
			sum.value += w->value;
			error = now;
		}
	}
	insert_close(&in);
	return err;
}

static bool is_futex(const struct load *l, uint32_t kind)
{
	const char *name = sample_kinds__get(l->kinds, kind)->name;

	return !strcmp(name, "lock") || !strcmp(name, "futex");
}

int profile_weights_mark(struct load *l)
{
	int err = 0;

	for (size_t i = 0; l->opts.futex_weights && i < weights__cnt(l->weights) && !err; i++) {
		const struct weight *w = weights__get(l->weights, i);

		if (is_futex(l, w->kind))
			err = stacks__mark(l->stacks, w->stack, STACK_OF_EVENT);
	}
	return err;
}

static int write_futexes(struct load *l)
{
	struct insert in;
	int err = store__exec(l->store, "DROP VIEW futex_weight;"
					"CREATE TABLE futex_weight(kind, stack_id, thread_id, "
					"count, value)");

	if (err)
		return err;
	err = insert_open(&in, l->store, "INSERT INTO futex_weight VALUES(?,?,?,?,?)");
	for (size_t i = 0; i < weights__cnt(l->weights) && !err; i++) {
		const struct weight *w = weights__get(l->weights, i);

		if (!is_futex(l, w->kind))
			continue;
		bind_kind(&in, l, w->kind);
		insert_int(&in, (int64_t)w->stack + 1);
		insert_int(&in, w->thread);
		insert_int(&in, w->count);
		insert_int(&in, w->value);
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

int profile_weights_write(struct load *l, const struct weights *threads)
{
	struct totals functions = {.cnt = frames__function_cnt(l->frames)};
	struct totals binaries = {.cnt = binaries__cnt(l->binaries)};
	int err;

	err = store__exec(
		l->store,
		"DROP VIEW function_weight; DROP VIEW binary_weight; DROP VIEW thread_weight; DROP "
		"VIEW error_weight;"
		"CREATE TABLE function_weight(kind, function_id, self_count, self_value, "
		"total_count, total_value);"
		"CREATE TABLE binary_weight(kind, binary_id, self_count, self_value);"
		"CREATE TABLE thread_weight(kind, thread_id, count, value);"
		"CREATE TABLE error_weight(kind, error, count, value);"
		"CREATE UNIQUE INDEX error_key ON error_weight(kind, ifnull(error, ''));");
	if (!err)
		err = add_all(l, &functions, &binaries);
	if (!err)
		err = write_functions(l, &functions);
	if (!err)
		err = write_binaries(l, &binaries);
	if (!err)
		err = write_threads(l, threads);
	if (!err)
		err = write_errors(l);
	if (!err && l->opts.futex_weights)
		err = write_futexes(l);
	totals_fini(&functions);
	totals_fini(&binaries);
	return err;
}
