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

	diff_side_init(&side, f, NULL, which);
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
	assert(!sqlite3_open(":memory:", &db) && !diff_store(f, NULL, false, db));
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
	assert(!sqlite3_open(":memory:", &db) && !diff_store(f, NULL, false, db));
	expect(db, "SELECT count(*) FROM diff_function", "0\n");
	sqlite3_close(db);
	feed(f, 1, after, 3);
	assert(diff_normalize(f) == 1 && flamegraph__weight(f, 1) == 2000);
	assert(!sqlite3_open(":memory:", &db) && !diff_store(f, NULL, false, db));
	expect(db, "SELECT change_self_share FROM diff_function WHERE function = 'next'", "0.45\n");
	sqlite3_close(db);
	flamegraph__free(f);
}

/* ---- significance: random captures of a program with known shares ---- */

enum { FUNCS = 100, SAMPLES = 4000, ROUNDS = 20 };

static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 11) * 0x1p-53;
}

/* Samples of FUNCS functions of equal shares. more: function 0 is sampled so much more often.
 * bursts: in each part, one function takes half the samples. */
static void capture(struct diff_side *side, double more, bool bursts)
{
	char names[FUNCS][8];
	uint32_t burst = 0;
	void *state;

	for (int i = 0; i < FUNCS; i++)
		snprintf(names[i], sizeof(names[i]), "f%d", i);
	assert(!side->sink.begin(&side->sink, &state, &info, NULL));
	for (int i = 0; i < SAMPLES; i++) {
		uint32_t part = i * (int64_t)PROFILE_PART_CNT / SAMPLES;
		uint32_t f = uniform() * (FUNCS + more);
		struct profile_frame frames[] = {{.name = "main"}, {.name = names[0]}};
		const uint64_t values[] = {1, 10};
		const struct profile_stack s = {
			.frames = frames, .cnt = 2, .values = values, .part = part};

		if (i % (SAMPLES / PROFILE_PART_CNT) == 0)
			burst = uniform() * FUNCS;
		if (bursts && uniform() < 0.5)
			f = burst;
		frames[1].name = names[f < FUNCS ? f : 0];
		assert(!side->sink.stack(state, &s));
	}
	assert(!side->sink.end(state));
}

struct verdict {
	unsigned significant, covered, of; /* of: functions; covered: the interval has the change */
	bool first;			   /* function 0 is significant */
};

static struct verdict compare(double more, bool bursts)
{
	struct verdict v = {0};
	struct flamegraph *f;
	struct diff_parts *parts;
	struct diff_side sides[2];
	sqlite3_stmt *s;
	sqlite3 *db;

	assert(!flamegraph__new(&f, 0) && !diff_parts__new(&parts));
	for (int k = 0; k < 2; k++) {
		diff_side_init(&sides[k], f, parts, k);
		capture(&sides[k], k ? more : 0, bursts);
	}
	diff_normalize(f);
	assert(!sqlite3_open(":memory:", &db) && !diff_store(f, parts, false, db));
	assert(!sqlite3_prepare_v2(db,
				   "SELECT function, significant_self, abs(change_self_share) <= "
				   "interval_self_share FROM diff_function WHERE function <> "
				   "'main'",
				   -1, &s, NULL));
	while (sqlite3_step(s) == SQLITE_ROW) {
		v.of++;
		v.significant += sqlite3_column_int(s, 1);
		v.covered += sqlite3_column_int(s, 2);
		if (!strcmp((const char *)sqlite3_column_text(s, 0), "f0"))
			v.first = sqlite3_column_int(s, 1);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	diff_parts__free(parts);
	flamegraph__free(f);
	return v;
}

/* Of 20 pairs of equal captures, at most 5 % are expected to have a change that is called
 * significant; the intervals cover 95 % of no change. */
static void equal(bool bursts)
{
	unsigned wrong = 0, covered = 0, of = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct verdict v = compare(0, bursts);

		wrong += v.significant > 0;
		covered += v.covered;
		of += v.of;
	}
	printf("bursts %d: %u of %d called significant, intervals cover %.3f\n", bursts, wrong,
	       ROUNDS, (double)covered / of);
	assert(wrong <= 4 && of == ROUNDS * FUNCS && covered > of * 0.93);
}

static void changed(void)
{
	unsigned found = 0;

	for (int i = 0; i < ROUNDS; i++)
		found += compare(3, false).first; /* from 1 % to 3.9 % */
	assert(found == ROUNDS);
}

int main(void)
{
	equal(false);
	equal(true);
	changed();
	functions();
	scaling();
	one_side();
	return 0;
}
