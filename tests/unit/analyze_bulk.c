/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows put many at a time are those that were put one by one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/store/bulk.h"
#include "check.h"

static int64_t number_in(struct store *s, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t n = -1;

	CHECK(!sqlite3_prepare_v2(store__db(s), sql, -1, &stmt, NULL), "%s", sql);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

/* The text of a value; every other row of 16 has the same one, so that some are bound once. */
static struct span text_of(char *buf, unsigned row, unsigned column)
{
	size_t len = column == 1 ? 4 : row % 7 == 3 ? 5000 + row : row % 40;

	memset(buf, 'a' + row % 16 + column, len);
	if (row % 5 == 1 && len)
		buf[len / 2] = 0;
	return (struct span){buf, len};
}

enum kind { NONE, NUMBER, TEXT };

static enum kind kind_of(unsigned row, unsigned column)
{
	return column == 0 ? NUMBER : column == 1 ? TEXT : (row / 3 + column) % 3;
}

static void add(struct bulk *b, struct insert *in, unsigned row, char *buf)
{
	for (unsigned column = 0; column < 4; column++) {
		struct span text = text_of(buf + column * 10000, row, column);
		int64_t number = column ? row % 16 : (int64_t)row << 40;

		switch (kind_of(row, column)) {
		case NONE:
			bulk_null(b);
			insert_null(in);
			break;
		case NUMBER:
			bulk_int(b, number);
			insert_int(in, number);
			break;
		case TEXT:
			bulk_span(b, text);
			insert_span(in, text);
			break;
		}
	}
	CHECK(!bulk_row(b));
	CHECK(!insert_run(in));
	memset(buf, '!', 40000); /* texts were copied */
}

static void test_same(unsigned rows)
{
	struct store *s;
	struct bulk b;
	struct insert in;
	char *buf = malloc(40000);
	int64_t n;

	CHECK(!store__open(&s, NULL));
	CHECK(!store__exec(s, "CREATE TABLE many(a, b, c, d); CREATE TABLE one(a, b, c, d)"));
	CHECK(!bulk_open(&b, s, "INSERT INTO many VALUES(?,?,?,?)"));
	CHECK(!insert_open(&in, s, "INSERT INTO one VALUES(?,?,?,?)"));
	for (unsigned i = 0; i < rows; i++)
		add(&b, &in, i, buf);
	n = number_in(s, "SELECT count(*) FROM many");
	CHECK(n == rows / BULK_ROWS * BULK_ROWS, "%lld of %u", (long long)n, rows);
	CHECK(!bulk_flush(&b));
	CHECK(!bulk_flush(&b)); /* nothing is left */
	n = number_in(s, "SELECT count(*) FROM many");
	CHECK(n == rows, "%lld of %u", (long long)n, rows);
	n = number_in(s, "SELECT count(*) FROM many m JOIN one o ON m.rowid = o.rowid AND m.a IS "
			 "o.a AND m.b IS o.b AND m.c IS o.c AND m.d IS o.d");
	CHECK(n == rows, "%lld of %u are the same", (long long)n, rows);
	insert_close(&in);
	bulk_close(&b);
	store__close(s);
	free(buf);
}

/* Errors come with the row that fills the statement, or with the flush. */
static void test_refused(void)
{
	struct store *s;
	struct bulk b;

	CHECK(!store__open(&s, NULL));
	CHECK(!store__exec(s, "CREATE TABLE few(a CHECK (a < 20))"));
	CHECK(!bulk_open(&b, s, "INSERT INTO few VALUES(?)"));
	for (int i = 0; i < 2 * BULK_ROWS; i++) {
		bulk_int(&b, i);
		CHECK(bulk_row(&b) == (i + 1 == 2 * BULK_ROWS ? -EIO : 0), "row %d", i);
	}
	bulk_int(&b, 20);
	CHECK(!bulk_row(&b));
	CHECK(bulk_flush(&b) == -EIO);
	bulk_close(&b);
	CHECK(bulk_open(&b, s, "INSERT INTO nowhere VALUES(?)") == -EIO);
	bulk_close(&b);
	store__close(s);
}

int main(void)
{
	static const unsigned rows[] = {0, 1, BULK_ROWS - 1, BULK_ROWS, BULK_ROWS + 1, 500};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		test_same(rows[i]);
	test_refused();
	return failed;
}
