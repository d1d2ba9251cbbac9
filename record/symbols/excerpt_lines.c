/* SPDX-License-Identifier: BSD-2-Clause */
/* Line tables: a new header (always version 5), followed by the needed sequences, copied unchanged.
 * File numbers stay the same; names that are not referred to are empty. */
#include <dwarf.h>

#include "record/symbols/excerpt_impl.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns one address for each needed sequence: the hit addresses and the start of each range. */
static uint64_t *addresses(struct excerpt_work *x, const struct src_unit *su, size_t *cnt)
{
	uint64_t *v = meter_calloc(x->m, su->wanted_cnt + su->ranges.cnt + 1, sizeof(*v));

	if (!v)
		return NULL;
	*cnt = 0;
	for (size_t i = 0; i < su->wanted_cnt; i++)
		v[(*cnt)++] = su->wanted[i];
	for (size_t i = 0; i < su->ranges.cnt; i++)
		v[(*cnt)++] = su->ranges.v[i].lo;
	qsort(v, *cnt, sizeof(*v), by_value);
	return v;
}

static bool used(const struct src_unit *su, uint64_t number)
{
	return number / 8 >= su->used_cnt || su->used_files[number / 8] >> number % 8 & 1;
}

static void note_rows(struct src_unit *su, const struct line_table *t)
{
	for (size_t i = 0; i < t->row_cnt; i++)
		if (t->rows[i].file / 8 < su->used_cnt)
			su->used_files[t->rows[i].file / 8] |= 1u << t->rows[i].file % 8;
}

static int put_string(struct excerpt_work *x, const char *s)
{
	return out_str(x, &x->line, s ? s : "");
}

/* Version 5 numbers both lists from 0, earlier ones from 1: for these an unused first entry is
 * added. */
static int put_names(struct excerpt_work *x, const struct src_unit *su, const struct line_table *t)
{
	static const uint8_t dir_format[] = {1, DW_LNCT_path, DW_FORM_string};
	static const uint8_t file_format[] = {2, DW_LNCT_path, DW_FORM_string,
					      DW_LNCT_directory_index, DW_FORM_udata};
	size_t shift = t->version < 5 ? 1 : 0;
	int err = out_put(x, &x->line, dir_format, sizeof(dir_format));

	if (!err)
		err = out_uleb(x, &x->line, t->dir_cnt + shift);
	if (!err && shift)
		err = put_string(x, NULL);
	for (size_t i = 0; i < t->dir_cnt && !err; i++)
		err = put_string(x, t->dirs[i]);
	if (!err)
		err = out_put(x, &x->line, file_format, sizeof(file_format));
	if (!err)
		err = out_uleb(x, &x->line, t->file_cnt + shift);
	if (!err && shift)
		err = out_uint(x, &x->line, 0, 2);
	for (size_t i = 0; i < t->file_cnt && !err; i++) {
		err = put_string(x, used(su, i + shift) ? t->files[i].name : NULL);
		if (!err)
			err = out_uleb(x, &x->line, t->files[i].dir);
	}
	return err;
}

static int put_header(struct excerpt_work *x, const struct src_unit *su, const struct line_table *t)
{
	const struct line_params *p = &t->params;
	const uint8_t start[] = {0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0};
	const uint8_t params[] = {p->min_inst_len, 1, 1, (uint8_t)p->line_base, p->line_range,
				  p->opcode_base};
	size_t at = x->line.len;
	uint32_t len;
	int err = out_put(x, &x->line, start, sizeof(start));

	if (!err)
		err = out_put(x, &x->line, params, sizeof(params));
	if (!err && p->opcode_base)
		err = out_put(x, &x->line, p->opcode_args + 1, p->opcode_base - 1u);
	if (!err)
		err = put_names(x, su, t);
	if (err)
		return err;
	len = (uint32_t)(x->line.len - at - sizeof(start));
	memcpy(x->line.p + at + 8, &len, sizeof(len));
	return 0;
}

int excerpt_write_lines(struct excerpt_work *x, struct src_unit *su)
{
	struct line_table t = {0};
	size_t cnt, at = x->line.len;
	uint64_t *wanted = addresses(x, su, &cnt);
	uint32_t len;
	int err;

	if (!wanted)
		return meter_error(x->m);
	err = line_table_load(&t, su->skeleton, wanted, cnt, x->m);
	if (!err) {
		note_rows(su, &t);
		err = put_header(x, su, &t);
	}
	for (size_t i = 0; i < t.sequence_cnt && !err; i++)
		err = out_put(x, &x->line, t.sequences[i].from,
			      (size_t)(t.sequences[i].to - t.sequences[i].from));
	if (!err) {
		len = (uint32_t)(x->line.len - at - 4);
		memcpy(x->line.p + at, &len, sizeof(len));
	}
	line_table_fini(&t);
	free(wanted);
	return err;
}
