/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arbitrary bytes as records of one capture, loaded twice: as rows, from which the views compute
 * the weights, and added up in memory, as reports do. Both must agree in every row. Shared by a
 * unit test and a fuzz target.
 */
#ifndef TESTS_LOAD_ROWS_H
#define TESTS_LOAD_ROWS_H

#include <stdlib.h>
#include <string.h>

#include "../../analyze/load.h"
#include "../../analyze/table.h"

struct bytes {
	const uint8_t *p;
	size_t left;
};

static uint64_t take(struct bytes *b, size_t n)
{
	uint64_t v = 0;

	for (; n && b->left; n--, b->left--)
		v = v << 8 | *b->p++;
	return v;
}

/* Small numbers mostly, so that records refer to each other; now and then any. */
static uint64_t take_number(struct bytes *b, unsigned bits)
{
	uint8_t v = take(b, 1);

	return v < 240 ? v % 24 : v == 255 ? take(b, 8) & (~0ull >> (64 - bits)) : 0xffff;
}

static struct span take_text(struct bytes *b)
{
	static const char *const common[] = {"",     "[jit 7]", "/bin/a", "/bin/b",
					     "ab12", "dwarf",	"f",	  "g"};
	uint8_t v = take(b, 1);
	struct span s = {(const char *)b->p, v % 16};

	if (v < 200)
		return (struct span){common[v % 8], strlen(common[v % 8])};
	if (s.len > b->left)
		s.len = b->left;
	b->p += s.len;
	b->left -= s.len;
	return s;
}

static struct u64_span take_list(struct bytes *b, uint64_t *items)
{
	size_t cnt = take(b, 1) % 12;

	for (size_t i = 0; i < cnt; i++)
		items[i] = frame_pack(take_number(b, 16), take_number(b, 48));
	return (struct u64_span){items, cnt};
}

/* One record; false: no bytes left. Sums of counts must not overflow in SQL. */
static bool take_record(struct bytes *b, const struct loader *loader, struct load *l, void *state,
			int *err)
{
	uint64_t items[12];
	union {
#define RECORD(kind, ...) struct rec_##kind kind;
#define FIELD(...)
#define END(...)
#include "../../format/records.def"
	} rec;
	int kind = take(b, 1) % REC_KIND_MAX;

	if (!b->left)
		return false;
#define TAKE_u32(m) m = take_number(b, 32);
#define TAKE_u64(m) m = take_number(b, 64);
#define TAKE_str(m) m = take_text(b);
#define TAKE_list(m) m = take_list(b, items);
	switch (kind) {
#define RECORD(kind, ...)                                                                          \
	case REC_##kind: {                                                                         \
		struct rec_##kind *r = &rec.kind;
#define FIELD(kind, type, name, ...) TAKE_##type(r->name)
#define END(...)                                                                                   \
	break;                                                                                     \
	}
#include "../../format/records.def"
	default:
		kind = REC_sample;
		rec.sample = (struct rec_sample){1 + take(b, 1) % 2,
						 take_number(b, 40),
						 take_number(b, 5),
						 take_number(b, 5),
						 take_number(b, 5),
						 1,
						 10};
	}
	if (kind == REC_sample) {
		rec.sample.count &= 0xfffff;
		rec.sample.value &= 0xfffffffff;
	}
	*err = loader->rows(l, state, 0, kind, &rec, 1);
	return !*err;
}

/* Runs a loader over the bytes. */
static int run_loader(const struct loader *loader, struct load *l, struct bytes b)
{
	void *state = NULL;
	int err = loader->begin(l, &state);

	while (!err && take_record(&b, loader, l, state, &err))
		;
	if (!err)
		err = loader->finish(l, state);
	loader->free(state);
	return err;
}

static const char *const compared[] = {
	"SELECT * FROM function_weight ORDER BY 1, 2",
	"SELECT * FROM binary_weight ORDER BY 1, 2",
	"SELECT * FROM thread_weight ORDER BY 1, 2",
	"SELECT * FROM error_weight ORDER BY 1, 2",
	"SELECT * FROM hot_function ORDER BY kind, function_id",
	/* a sum of shares, in no order of its own: the last digit is open */
	"SELECT kind, count, value, round(share, 9), threads, pid, comm, exe, process_id FROM "
	"hot_process ORDER BY kind, process_id",
	"SELECT * FROM stack_completeness ORDER BY kind, cause",
	"SELECT * FROM binary_symbols ORDER BY 1",
};

/* All the compared views as one text; NULL after an error. Malloc'ed. */
static char *loaded_text(struct bytes b, bool rows)
{
	static const char *const always[] = {"process", "thread", "binary", "function"};
	static const char *const with_rows[] = {"sample", "frame", "stack", "stack_frame"};
	struct capture capture = {.started_ns = 1, .uuid = "", .host = ""};
	struct captures captures = {&capture, 1};
	struct load_opts opts = {.weights = !rows};
	struct table_style style = {.format = TABLE_CSV};
	struct store *store = NULL;
	struct load l = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int err = store__open(&store, NULL);

	if (!err)
		err = load__init(&l, &captures, store, &opts);
	for (size_t i = 0; i < 4 && !err; i++)
		err = name_set_add(&l.wanted, always[i]);
	for (size_t i = 0; i < 4 && !err && rows; i++)
		err = name_set_add(&l.wanted, with_rows[i]);
	if (!err)
		err = run_loader(&load_identity_entry, &l, b);
	if (!err)
		err = run_loader(&load_profile_entry, &l, b);
	for (size_t i = 0; i < sizeof(compared) / sizeof(*compared) && !err; i++) {
		sqlite3_stmt *stmt = NULL;

		err = sqlite3_prepare_v2(store__db(store), compared[i], -1, &stmt, NULL) ||
		      table_write(stmt, &style, out) < 0;
		sqlite3_finalize(stmt);
	}
	fclose(out);
	load__fini(&l);
	store__close(store);
	if (!err)
		return text;
	free(text);
	return NULL;
}

#endif
