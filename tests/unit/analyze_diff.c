/* SPDX-License-Identifier: BSD-2-Clause */
/* Two profiles in one tree: what is taken for the same, scaling, and figures by function. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/graph/diff.h"

static const struct profile_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
static const struct profile_info info = {.types = types, .type_cnt = 2, .primary = 0};

struct sample {
	struct profile_frame frames[5];
	size_t cnt;
	uint64_t ns;
};

#define FN(n, path, k)                                                                             \
	{                                                                                          \
		.name = n, .binary = path, .kind = k                                               \
	}
#define OLD "/opt/app-1/bin/app"
#define NEW "/opt/app-2/bin/app"

static const struct sample before[] = {
	{{FN("app (10)", NULL, PROFILE_GROUP), FN("main", OLD, 0), FN("parse", OLD, 0),
	  FN("next", OLD, PROFILE_INLINED)},
	 4,
	 300},
	{{FN("app (10)", NULL, PROFILE_GROUP), FN("main", OLD, 0), FN("eval", OLD, 0),
	  FN("eval", OLD, 0)},
	 4,
	 600},
	{{FN("app (10)", NULL, PROFILE_GROUP), FN("main", OLD, 0), FN("gone", OLD, 0)}, 3, 100},
};
static const struct sample after[] = {
	{{FN("app (999)", NULL, PROFILE_GROUP), FN("main", NEW, 0), FN("parse", NEW, 0),
	  FN("next", NEW, 0)},
	 4,
	 900},
	{{FN("app (999)", NULL, PROFILE_GROUP), FN("main", NEW, 0), FN("eval", NEW, 0),
	  FN("eval", NEW, 0)},
	 4,
	 600},
	{{FN("app (999)", NULL, PROFILE_GROUP), FN("main", NEW, 0), FN("new (2)", NEW, 0)}, 3, 500},
};

static void feed(struct flamegraph *f, int which, const struct sample *samples, size_t cnt)
{
	struct diff_side side;
	void *state;

	diff_side_init(&side, f, which);
	assert(!side.sink.begin(&side.sink, &state, &info, NULL));
	for (size_t i = 0; i < cnt; i++) {
		const uint64_t values[] = {7, samples[i].ns};
		const struct profile_stack s = {
			.frames = samples[i].frames, .cnt = samples[i].cnt, .values = values};

		assert(!side.sink.stack(state, &s));
	}
	assert(!side.sink.end(state));
}

static struct flamegraph *make(void)
{
	struct flamegraph *f;

	assert(!flamegraph__new(&f, 0));
	feed(f, 0, before, 3);
	feed(f, 1, after, 3);
	return f;
}

static void expect(sqlite3 *db, const char *sql, const char *want)
{
	char got[1024] = "";
	sqlite3_stmt *s;

	assert(!sqlite3_prepare_v2(db, sql, -1, &s, NULL));
	while (sqlite3_step(s) == SQLITE_ROW)
		for (int c = 0; c < sqlite3_column_count(s); c++) {
			strcat(got, (const char *)sqlite3_column_text(s, c));
			strcat(got, c + 1 < sqlite3_column_count(s) ? " " : "\n");
		}
	sqlite3_finalize(s);
	if (!strcmp(got, want))
		return;
	fprintf(stderr, "%s gave\n%sexpected\n%s", sql, got, want);
	abort();
}

static void functions(void)
{
	struct flamegraph *f = make();
	sqlite3 *db;

	assert(flamegraph__weight(f, 0) == 1000 && flamegraph__weight(f, 1) == 2000);
	assert(diff_normalize(f) == 0.5 && flamegraph__weight(f, 1) == 1000);
	assert(!sqlite3_open(":memory:", &db) && !diff_store(f, db));
	expect(db,
	       "SELECT function, binary, kind, old_self_ns, new_self_ns, old_total_ns, "
	       "new_total_ns FROM diff_function "
	       "ORDER BY change_self_share DESC, function",
	       "new (2) app user 0 250 0 250\n"
	       "next app user 300 450 300 450\n"
	       "app  group 0 0 1000 1000\n"
	       "main app user 0 0 1000 1000\n"
	       "parse app user 0 0 300 450\n"
	       "gone app user 100 0 100 0\n"
	       "eval app user 600 300 600 300\n"); /* recursion counts once */
	expect(db,
	       "SELECT function, round(change_self_share, 3), old_self_share, new_total_share FROM "
	       "diff_function "
	       "WHERE function IN ('eval', 'next') ORDER BY 1",
	       "eval -0.3 0.6 0.3\nnext 0.15 0.3 0.45\n");
	sqlite3_close(db);
	flamegraph__free(f);
}

static void scaling(void)
{
	const uint64_t totals[] = {1, 3, 999, 1000, 1001, 123456789, UINT64_MAX};

	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++) {
		struct flamegraph *f = make();
		struct flame_function *list;
		uint64_t sum = 0;
		size_t cnt;

		flamegraph__scale(f, 1, totals[i]);
		assert(!flamegraph__functions(f, &list, &cnt) && cnt == 7);
		for (size_t n = 0; n < cnt; n++)
			sum += list[n].self[1];
		assert(sum == flamegraph__weight(f, 1) &&
		       (sum == totals[i] || totals[i] == UINT64_MAX));
		free(list);
		flamegraph__free(f);
	}
}

static void one_side(void)
{
	struct flamegraph *f;
	sqlite3 *db;

	assert(!flamegraph__new(&f, 0));
	assert(diff_normalize(f) == 1);
	assert(!sqlite3_open(":memory:", &db) && !diff_store(f, db));
	expect(db, "SELECT count(*) FROM diff_function", "0\n");
	sqlite3_close(db);
	feed(f, 1, after, 3);
	assert(diff_normalize(f) == 1 && flamegraph__weight(f, 1) == 2000);
	assert(!sqlite3_open(":memory:", &db) && !diff_store(f, db));
	expect(db, "SELECT change_self_share FROM diff_function WHERE function = 'next'", "0.45\n");
	sqlite3_close(db);
	flamegraph__free(f);
}

int main(void)
{
	functions();
	scaling();
	one_side();
	return 0;
}
