/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads arbitrary bytes as records of one capture, in two ways: as rows, from which the views
 * compute the weights, and aggregated in memory, as in reports. Both must give the same rows. Used
 * by a unit test and a fuzz target.
 */
#ifndef TESTS_LOAD_ROWS_H
#define TESTS_LOAD_ROWS_H

#include <stdlib.h>
#include <string.h>

#include "analyze/load/load.h"
#include "analyze/store/table.h"
#include "row_bytes.h"

/* Loads one record; false: no bytes left. Sums of counts must not overflow in SQL. */
static bool load_row(struct bytes *b, const struct loader *loader, struct load *l, void *state,
		     int *err)
{
	struct row r;

	if (!take_row(b, &r))
		return false;
	if (r.kind == REC_sample) {
		r.sample.count &= 0xfffff;
		r.sample.value &= 0xfffffffff;
	}
	*err = loader->rows(l, state, 0, r.kind, &r.process, 1);
	return !*err;
}

/* Runs a loader over the bytes. */
static int run_loader(const struct loader *loader, struct load *l, struct bytes b)
{
	void *state = NULL;
	int err = loader->begin(l, &state);

	while (!err && load_row(&b, loader, l, state, &err))
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
	/* a sum of shares in undefined order: the last digit may differ */
	"SELECT kind, count, value, round(share, 9), threads, pid, comm, exe, process_id FROM "
	"hot_process ORDER BY kind, process_id",
	"SELECT * FROM stack_completeness ORDER BY kind, cause",
	"SELECT * FROM binary_symbols ORDER BY 1",
};

/* All compared views as one text, malloc'ed; NULL after an error. */
static char *loaded_text(struct bytes b, bool rows)
{
	static const char *const always[] = {"process", "thread", "binary", "function"};
	static const char *const with_rows[] = {"sample", "frame", "stack", "stack_frame"};
	struct capture capture = {.started_ns = 1, .uuid = "", .host = ""};
	struct captures captures = {.v = &capture, .cnt = 1};
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
