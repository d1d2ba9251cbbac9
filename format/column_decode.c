/* SPDX-License-Identifier: BSD-2-Clause */
/* Column decoder. The input is untrusted: every count is checked against the remaining bytes before
 * use. */
#include "format/column.h"

#include <errno.h>

static bool number_set(const struct rec_field *f, uint8_t *field, uint64_t v)
{
	if (f->type == REC_T_u32) {
		*(uint32_t *)field = v;
		return v <= UINT32_MAX;
	}
	*(uint64_t *)field = v;
	return true;
}

static int decode_plain(struct view *v, const struct rec_field *f, uint8_t *field, size_t stride,
			size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (!number_set(f, field + i * stride, view_varint(v)))
			return -EBADMSG;
	return 0;
}

static int decode_delta(struct view *v, const struct rec_field *f, uint8_t *field, size_t stride,
			size_t cnt)
{
	uint64_t value = 0;

	for (size_t i = 0; i < cnt; i++) {
		value += unzigzag(view_varint(v));
		if (!number_set(f, field + i * stride, value))
			return -EBADMSG;
	}
	return 0;
}

static int decode_dict(struct view *v, const struct rec_field *f, uint8_t *field, size_t stride,
		       size_t cnt)
{
	uint64_t n = view_varint(v), value = 0, *values;
	int err = 0;

	if (n == 0)
		return decode_plain(v, f, field, stride, cnt);
	if (n > view_left(v)) /* each has at least one byte */
		return -EBADMSG;
	values = malloc(n * sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		values[i] = value += unzigzag(view_varint(v));
	for (size_t i = 0; i < cnt && !err; i++) {
		uint64_t index = view_varint(v);

		if (index >= n || !number_set(f, field + i * stride, values[index]))
			err = -EBADMSG;
	}
	free(values);
	return err;
}

/* Reads cnt lengths, then the bytes. */
static int take_strings(struct view *v, uint8_t *strings, size_t stride, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		uint64_t len = view_varint(v);

		if (len > COLUMN_STR_MAX)
			return -EBADMSG;
		((struct span *)(strings + i * stride))->len = len;
	}
	for (size_t i = 0; i < cnt; i++) {
		struct span *s = (struct span *)(strings + i * stride);

		s->p = (const char *)view_take(v, s->len);
		if (!s->p)
			return -EBADMSG;
	}
	return 0;
}

static int decode_dict_strings(struct view *v, uint8_t *field, size_t stride, size_t cnt)
{
	uint64_t n = view_varint(v);
	struct span *strings;
	int err;

	if (n == 0)
		return take_strings(v, field, stride, cnt);
	if (n > view_left(v))
		return -EBADMSG;
	strings = malloc(n * sizeof(*strings));
	if (!strings)
		return -ENOMEM;
	err = take_strings(v, (uint8_t *)strings, sizeof(*strings), n);
	for (size_t i = 0; i < cnt && !err; i++) {
		uint64_t index = view_varint(v);

		if (index >= n)
			err = -EBADMSG;
		else
			*(struct span *)(field + i * stride) = strings[index];
	}
	free(strings);
	return err;
}

/* ---- lists ---- */

struct lists {
	uint64_t *dict;	 /* sorted values */
	uint32_t *heads; /* back, shared, new: cnt each */
	uint64_t n;
	size_t sum;
};

static int list_heads(struct view *v, struct lists *l, size_t cnt)
{
	uint64_t value = 0;

	l->n = view_varint(v);
	if (l->n > view_left(v) || cnt > view_left(v) / 3)
		return -EBADMSG;
	l->dict = malloc((l->n + 1) * sizeof(*l->dict));
	l->heads = malloc((3 * cnt + 1) * sizeof(*l->heads));
	if (!l->dict || !l->heads)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		l->dict[i] = value += view_varint(v);
	for (size_t i = 0; i < 3 * cnt; i++) {
		uint64_t head = view_varint(v);

		if (head > (i < cnt ? i : COLUMN_LIST_MAX))
			return -EBADMSG;
		l->heads[i] = head;
	}
	for (size_t i = 0; i < cnt; i++) {
		size_t len = (size_t)l->heads[cnt + i] + l->heads[2 * cnt + i];

		l->sum += len;
		if (len > COLUMN_LIST_MAX || l->sum > COLUMN_LIST_SUM_MAX)
			return -EBADMSG;
	}
	return v->bad ? -EBADMSG : 0;
}

static int decode_suffix(struct view *v, uint8_t *field, size_t stride, size_t cnt,
			 uint64_t **lists)
{
	struct lists l = {0};
	uint64_t *to;
	int err = list_heads(v, &l, cnt);

	if (err)
		goto cleanup;
	err = -ENOMEM;
	to = *lists = malloc((l.sum + 1) * sizeof(*to));
	if (!to)
		goto cleanup;
	err = -EBADMSG;
	for (size_t i = 0; i < cnt; i++) {
		struct u64_span *row = (struct u64_span *)(field + i * stride);
		uint32_t back = l.heads[i], shared = l.heads[cnt + i], new = l.heads[2 * cnt + i];

		if (shared) {
			const struct u64_span *from =
				(struct u64_span *)(field + (i - back) * stride);

			if (!back || shared > from->len)
				goto cleanup;
			memcpy(to + new, from->v + from->len - shared, shared * sizeof(*to));
		}
		for (size_t j = new; j-- > 0;) {
			uint64_t index = view_varint(v);

			if (index >= l.n)
				goto cleanup;
			to[j] = l.dict[index];
		}
		*row = (struct u64_span){to, (size_t)shared + new};
		to += row->len;
	}
	err = 0;
cleanup:
	free(l.dict);
	free(l.heads);
	return err;
}

int column_decode(struct view *v, const struct schema_column *c, void *rows, size_t stride,
		  size_t cnt, uint64_t **lists)
{
	uint8_t *field = (uint8_t *)rows + c->field->offset;
	int err;

	*lists = NULL;
	if (c->type == REC_T_list)
		err = decode_suffix(v, field, stride, cnt, lists);
	else if (c->type == REC_T_str)
		err = c->encoding == REC_E_DICT ? decode_dict_strings(v, field, stride, cnt)
						: take_strings(v, field, stride, cnt);
	else if (c->encoding == REC_E_DICT)
		err = decode_dict(v, c->field, field, stride, cnt);
	else if (c->encoding == REC_E_DELTA)
		err = decode_delta(v, c->field, field, stride, cnt);
	else
		err = decode_plain(v, c->field, field, stride, cnt);
	return err ? err : v->bad || v->p != v->end ? -EBADMSG : 0;
}
