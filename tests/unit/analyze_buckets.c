/* SPDX-License-Identifier: BSD-2-Clause */
/* Percentiles and bars of histograms, and the SQL over them. */
#include "analyze/store/buckets.h"
#include "analyze/store/functions.h"
#include "check.h"

static void quantiles(void)
{
	struct buckets b = {0};
	double error;

	CHECK(buckets_quantile(&b, 0.5, NULL) == -1);
	for (int i = 99; i >= 0; i--) /* 0 .. 99, each a bucket of its own, in any order */
		CHECK(!buckets_add(&b, i, i + 1, 1));
	CHECK(!buckets_add(&b, 7, 8, 0) && b.total == 100);
	CHECK(buckets_quantile(&b, 0.5, &error) == 49 && error < 0.02);
	CHECK(buckets_quantile(&b, 0.01, &error) == 0 && error == 0);
	CHECK(buckets_quantile(&b, 0.99, NULL) == 98);
	CHECK(buckets_quantile(&b, 1, NULL) == 99);
	buckets_fini(&b);
	CHECK(!buckets_add(&b, 1024, 2048, 1));
	CHECK(buckets_quantile(&b, 0.99, &error) == 1536 && error > 0.33 && error < 0.34);
	buckets_fini(&b);
}

static void hostile(void)
{
	struct buckets b = {0}, coarse = {0};
	double error;

	CHECK(!buckets_add(&b, INT64_MIN, INT64_MAX, UINT64_MAX));
	CHECK(!buckets_add(&b, INT64_MAX, INT64_MAX, 1));
	CHECK(!buckets_add(&b, 9, 3, UINT64_MAX));
	CHECK(b.total == UINT64_MAX);
	buckets_quantile(&b, 0.5, &error);
	CHECK(!buckets_coarse(&b, &coarse) && coarse.cnt <= 64);
	buckets_fini(&b);
	buckets_fini(&coarse);
}

static void powers_of_two(void)
{
	struct buckets b = {0}, c = {0};

	CHECK(!buckets_add(&b, 0, 1, 3) && !buckets_add(&b, 4, 5, 1) && !buckets_add(&b, 7, 8, 2));
	CHECK(!buckets_coarse(&b, &c));
	CHECK(c.cnt == 4 && c.total == 6);
	CHECK(c.v[0].low == 0 && c.v[0].high == 1 && c.v[0].count == 3);
	CHECK(c.v[1].count == 0 && c.v[2].count == 0);
	CHECK(c.v[3].low == 4 && c.v[3].high == 8 && c.v[3].count == 3);
	buckets_fini(&b);
	buckets_fini(&c);
}

static void bars(void)
{
	CHECK(bar_length(0, 100, 40) == 0);
	CHECK(bar_length(1, 1000000, 40) == 1);
	CHECK(bar_length(50, 100, 40) == 20);
	CHECK(bar_length(100, 100, 40) == 40);
	CHECK(bar_length(5, 0, 40) == 1);
}

static long long value(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	long long v = -2;

	CHECK(!sqlite3_prepare_v2(db, sql, -1, &s, NULL) && sqlite3_step(s) == SQLITE_ROW, "%s",
	      sqlite3_errmsg(db));
	if (sqlite3_column_type(s, 0) != SQLITE_NULL)
		v = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return v;
}

static void sql(void)
{
	sqlite3 *db;

	CHECK(!sqlite3_open(":memory:", &db) && !functions_add(db));
	CHECK(value(db, "SELECT quantile(0.5, 0, 10, 1) WHERE 0") == -2);
	CHECK(value(db,
		    "SELECT quantile(0.5, column1, column1 + 1, column2) FROM (VALUES (1, 1), (7, "
		    "5), (9, 1))") == 7);
	/* one value of a bucket is known by the sum; of two, what the other may be at most */
	CHECK(value(db, "SELECT largest(1024, 1056, 1, 1030)") == 1030);
	CHECK(value(db, "SELECT largest(1024, 1056, 2, 2060)") == 1036);
	CHECK(value(db, "SELECT largest(1024, 1056, 3, 3150)") == 1056);
	CHECK(value(db, "SELECT largest(1024, 1056, 2, 0)") == 1056);
	CHECK(value(db, "SELECT largest(1024, 1056, 0, 5)") == 1056);
	CHECK(value(db, "SELECT largest(9223372036854775807, -9223372036854775807 - 1, "
			"9223372036854775807, 9223372036854775807)") < 0);
	CHECK(value(db, "SELECT quantile(0.99, 1024, 1056, 1, 1030)") == 1030);
	CHECK(value(db, "SELECT quantile(0.99, 1024, 1056, 2, 2060)") == 1030);
	CHECK(value(db, "SELECT quantile(0.99, 1024, 1056, 2, 7)") == 1040);
	CHECK(value(db, "SELECT function_title('_ZN1AC1Ev') = 'A::A()' AND "
			"function_title('_ZN1AC2Ev') = 'A::A() [base]' AND "
			"function_title('_ZN1AD0Ev') = 'A::~A() [deleting]' AND "
			"function_title('_ZN1AD1Ev') = 'A::~A()' AND "
			"function_title('_ZN1AD2Ev') = 'A::~A() [base]' AND "
			"function_title('_ZN1AD4Ev') = 'A::~A() [unified]'") == 1);
	CHECK(value(db, "SELECT function_title('_ZL1fi@0x12') = 'f(int)@0x12' AND "
			"function_title('f@0x12') = 'f@0x12' AND function_title('@') = '@' AND "
			"function_title('') = ''") == 1);
	CHECK(value(db, "SELECT function_title(NULL)") == -2);
	CHECK(value(db, "SELECT part('a' || char(9) || '42', 'x' || char(9) || 'y', 'y')") == 42);
	CHECK(value(db, "SELECT part('(other)', 'x' || char(9) || 'y', 'y')") == -2);
	CHECK(value(db, "SELECT part(NULL, 'x', 'x')") == -2);
	CHECK(value(db, "SELECT part('5', 'x', 'z')") == -2);
	sqlite3_close(db);
}

int main(void)
{
	quantiles();
	hostile();
	powers_of_two();
	bars();
	sql();
	return failed;
}
