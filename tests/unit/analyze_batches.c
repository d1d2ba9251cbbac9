/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples are looked up in batches. However they come, row by row or a thousand at once, with some
 * that are left out among them, the tables hold the same. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "analyze/load/load.h"
#include "analyze/store/table.h"

enum { SAMPLES = 1000, STACKS = 300 };

static uint64_t frames[STACKS + 2][3];

/* The stack before the last is defined behind its samples, the last one never. */
static int put_stacks(const struct loader *loader, struct load *l, void *state, uint32_t first,
		      uint32_t end)
{
	int err = 0;

	for (uint32_t i = first; i < end && !err; i++) {
		struct rec_stack s = {.id = i + 1, .frames = {frames[i], 3}};

		for (uint64_t k = 0; k < 3; k++)
			frames[i][k] = frame_pack(1, 4096 * k + (k ? i % 7 : i));
		err = loader->rows(l, state, 0, REC_stack, &s, 1);
	}
	return err;
}

static int put(const struct loader *loader, struct load *l, void *state, size_t at_once)
{
	static struct rec_sample samples[SAMPLES];
	int err = put_stacks(loader, l, state, 0, STACKS);

	for (uint32_t i = 0; i < SAMPLES; i++)
		samples[i] = (struct rec_sample){.kind = i % 5 ? 1 : 2,
						 .ts_ns = i,
						 .thread = 1 + i % 3,
						 .user_stack = 1 + i * 7 % (STACKS + 2),
						 .kernel_stack = i % 4 ? 0 : 1 + i % STACKS,
						 .count = i % 11 ? 1 : 0,
						 .value = i % 11 ? i : 0};
	for (size_t i = 0; i < SAMPLES && !err; i += at_once)
		err = loader->rows(l, state, 0, REC_sample, &samples[i],
				   i + at_once < SAMPLES ? at_once : SAMPLES - i);
	return err ? err : put_stacks(loader, l, state, STACKS, STACKS + 1);
}

/* What the tables hold; malloc'ed. */
static char *loaded(size_t at_once, bool rows)
{
	static const char *const tables[] = {"sample", "stack", "thread", "function"};
	const char *sql =
		rows ? "SELECT ts_ns, kind, thread_id, stack_id, count, value, error FROM "
		       "sample JOIN stack ON stack.id = stack_id ORDER BY sample.rowid"
		     : "SELECT * FROM thread_weight ORDER BY 1, 2";
	const struct loader *loader = &load_profile_entry;
	struct capture capture = {.started_ns = 1, .uuid = "", .host = ""};
	struct captures captures = {.v = &capture, .cnt = 1};
	struct load_opts opts = {.weights = true, .by_thread = true};
	struct table_style style = {.format = TABLE_CSV};
	struct store *store = NULL;
	sqlite3_stmt *stmt = NULL;
	struct load l = {0};
	void *state = NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int err = store__open(&store, NULL);

	if (!err)
		err = load__init(&l, &captures, store, &opts);
	for (size_t i = !rows; i < 4 && !err; i++)
		err = name_set_add(&l.wanted, tables[i]);
	if (!err)
		err = loader->begin(&l, &state);
	if (!err)
		err = put(loader, &l, state, at_once);
	if (!err)
		err = loader->finish(&l, state);
	for (size_t i = 0; i < weights__cnt(l.weights) && !err; i++) {
		const struct weight *w = weights__get(l.weights, i);

		fprintf(out, "%u %u %lld %llu %llu\n", w->stack, w->kind, (long long)w->thread,
			(unsigned long long)w->count, (unsigned long long)w->value);
	}
	loader->free(state);
	if (!err)
		err = sqlite3_prepare_v2(store__db(store), sql, -1, &stmt, NULL) ||
		      table_write(stmt, &style, out) < 0;
	CHECK(!err, "%zu at once: %d", at_once, err);
	sqlite3_finalize(stmt);
	fclose(out);
	load__fini(&l);
	store__close(store);
	return text;
}

int main(void)
{
	static const size_t at_once[] = {2, 63, 64, 65, 129, SAMPLES};

	for (int rows = 0; rows < 2; rows++) {
		char *one = loaded(1, rows);

		CHECK(strlen(one) > 5000, "the capture holds too little:\n%s", one);
		CHECK(!rows || strstr(one, "definition lost"), "a lost stack is among them");
		for (size_t i = 0; i < sizeof(at_once) / sizeof(*at_once); i++) {
			char *many = loaded(at_once[i], rows);

			CHECK(!strcmp(one, many), "%zu at once, rows %d", at_once[i], rows);
			free(many);
		}
		free(one);
	}
	return failed;
}
