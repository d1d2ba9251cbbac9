/* SPDX-License-Identifier: BSD-2-Clause */
/* Encodes one field of many rows, and decodes it (FORMAT.md, "Columns"). */
#ifndef FORMAT_COLUMN_H
#define FORMAT_COLUMN_H

#include "format/bytes.h"
#include "format/record.h"

/* Limits of the decoded size of a chunk; normative. */
enum {
	COLUMN_STR_MAX = 65535,	      /* bytes of a string */
	COLUMN_LIST_MAX = 65535,      /* elements of a list */
	COLUMN_LIST_SUM_MAX = 1 << 20 /* elements of all lists of a column */
};

/* Hash tables and arrays that one encoder reuses from column to column. */
struct column_scratch;
struct column_scratch *column_scratch_new(void);
void column_scratch_clear(struct column_scratch *s); /* resets to the initial state */
void column_scratch_free(struct column_scratch *s);

/* Appends the length and the column of field f; rows are cnt structs of `stride` bytes. 0 or
 * -ENOMEM. */
int column_encode(struct bytes *out, const struct rec_field *f, const void *rows, size_t stride,
		  size_t cnt, struct column_scratch *s);

/* Upper bound of the bytes that this field of one row adds to its column; for numbers independent
 * of the row. */
static inline size_t column_bound(const struct rec_field *f, const void *row)
{
	const uint8_t *p = row;
	size_t len;

	switch (f->type) {
	case REC_T_u32:
		return f->encoding == REC_E_DICT ? 8 : 5;
	case REC_T_u64:
		return f->encoding == REC_E_DICT ? 13 : 10;
	case REC_T_str:
		len = ((const struct span *)(p + f->offset))->len;
		return 6 + (len < COLUMN_STR_MAX ? len : COLUMN_STR_MAX);
	case REC_T_list:
		return 9 + 13 * ((const struct u64_span *)(p + f->offset))->len;
	}
	return 0;
}

/*
 * Sets field c->field of cnt rows from a complete column. Strings point into the column's bytes,
 * lists into *lists (malloc'ed, NULL when there are none). -EBADMSG: bytes that no encoder writes.
 */
int column_decode(struct view *v, const struct schema_column *c, void *rows, size_t stride,
		  size_t cnt, uint64_t **lists);

#endif
