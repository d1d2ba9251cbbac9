/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/bulk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"

/* Texts are aligned to multiples of this. While their lengths differ little, the following texts
 * keep their positions and need not be bound again. */
enum { TEXT_STEP = 32 };

struct bulk_value {
	enum { VALUE_NULL, VALUE_INT, VALUE_TEXT } kind; /* fresh statements hold NULL */
	uint32_t len;					 /* text length */
	int64_t v;					 /* number, or offset in texts */
};

static struct bulk_value *next(struct bulk *b)
{
	return &b->held[b->at++];
}

int bulk_open(struct bulk *b, struct store *s, const char *sql)
{
	int err;

	*b = (struct bulk){0};
	err = insert_open(&b->one, s, sql);
	if (err)
		return err;
	b->columns = sqlite3_bind_parameter_count(b->one.stmt);
	b->held = calloc(b->columns * BULK_ROWS, sizeof(*b->held));
	b->bound = calloc(b->columns * BULK_ROWS, sizeof(*b->bound));
	return b->held && b->bound ? 0 : -ENOMEM;
}

void bulk_int(struct bulk *b, int64_t v)
{
	*next(b) = (struct bulk_value){VALUE_INT, 0, v};
}

void bulk_null(struct bulk *b)
{
	*next(b) = (struct bulk_value){VALUE_NULL, 0, 0};
}

void bulk_span(struct bulk *b, struct span text)
{
	size_t at = b->texts.len;
	uint8_t *p = bytes_room(&b->texts, text.len + TEXT_STEP);

	*next(b) = (struct bulk_value){VALUE_TEXT, text.len, at};
	if (!p || text.len > UINT32_MAX) {
		b->texts.failed = true;
		return;
	}
	if (text.len)
		memcpy(p, text.p, text.len);
	b->texts.len += (text.len + TEXT_STEP - 1) / TEXT_STEP * TEXT_STEP;
}

void bulk_text(struct bulk *b, const char *text)
{
	if (text)
		bulk_span(b, span_of(text));
	else
		bulk_null(b);
}

/* ---- into the table ---- */

static const char *text_of(const struct bulk *b, const struct bulk_value *v)
{
	return (const char *)b->texts.p + v->v;
}

static int put_one(struct bulk *b, const struct bulk_value *row)
{
	for (const struct bulk_value *v = row; v < row + b->columns; v++)
		switch (v->kind) {
		case VALUE_NULL:
			insert_null(&b->one);
			break;
		case VALUE_INT:
			insert_int(&b->one, v->v);
			break;
		case VALUE_TEXT:
			insert_span(&b->one, (struct span){text_of(b, v), v->len});
			break;
		}
	return insert_run(&b->one);
}

static int open_many(struct bulk *b)
{
	const char *sql = sqlite3_sql(b->one.stmt), *row = strrchr(sql, '(');
	struct strbuf all = {0};
	int err = -ENOMEM;

	strbuf_addf(&all, "%s", sql);
	for (int i = 1; i < BULK_ROWS; i++)
		strbuf_addf(&all, ",%s", row);
	if (!all.failed)
		err = sqlite3_prepare_v3(store__db(b->one.store), all.p, -1,
					 SQLITE_PREPARE_PERSISTENT, &b->many, NULL)
			      ? store__failed(b->one.store)
			      : 0;
	strbuf_fini(&all);
	return err;
}

static void bind(const struct bulk *b, int parameter, const struct bulk_value *v)
{
	switch (v->kind) {
	case VALUE_NULL:
		sqlite3_bind_null(b->many, parameter);
		break;
	case VALUE_INT:
		sqlite3_bind_int64(b->many, parameter, v->v);
		break;
	case VALUE_TEXT:
		sqlite3_bind_text64(b->many, parameter, text_of(b, v), v->len, SQLITE_STATIC,
				    SQLITE_UTF8);
		break;
	}
}

static bool same(const struct bulk_value *a, const struct bulk_value *b)
{
	return a->v == b->v && a->kind == b->kind && a->len == b->len;
}

/* Binding costs more than comparing, and many values are the same in all rows. */
static int put_many(struct bulk *b)
{
	bool moved = b->bound_texts != b->texts.p;
	int err = b->many ? 0 : open_many(b);

	if (err)
		return err;
	for (size_t i = 0; i < b->columns * BULK_ROWS; i++) {
		const struct bulk_value *v = &b->held[i];

		if (same(v, &b->bound[i]) && !(moved && v->kind == VALUE_TEXT))
			continue;
		bind(b, i + 1, v);
		b->bound[i] = *v;
	}
	b->bound_texts = b->texts.p;
	sqlite3_step(b->many);
	return sqlite3_reset(b->many) ? store__failed(b->one.store) : 0;
}

int bulk_flush(struct bulk *b)
{
	size_t rows = b->rows;
	int err = b->texts.failed ? -ENOMEM : 0;

	b->rows = b->at = 0;
	if (!err && rows == BULK_ROWS)
		err = put_many(b);
	else
		for (size_t i = 0; i < rows && !err; i++)
			err = put_one(b, b->held + i * b->columns);
	b->texts.len = 0;
	return err;
}

int bulk_row(struct bulk *b)
{
	return ++b->rows == BULK_ROWS ? bulk_flush(b) : 0;
}

void bulk_close(struct bulk *b)
{
	insert_close(&b->one);
	sqlite3_finalize(b->many);
	free(b->held);
	free(b->bound);
	bytes_fini(&b->texts);
	*b = (struct bulk){0};
}
