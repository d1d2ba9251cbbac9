/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/bson.h"

static uint64_t size_at(const struct l7_cursor *c, uint64_t min, uint64_t more, bool *bad)
{
	struct l7_cursor at = *c;
	uint64_t n = l7_le(&at, 4);

	*bad |= !at.cut && (n < min || n > INT32_MAX);
	return at.cut ? UINT64_MAX : n + more;
}

/* Size of a value of that type at the cursor. UINT64_MAX: the size is not in view. */
static uint64_t value_size(const struct l7_cursor *c, uint8_t type, bool *bad)
{
	struct l7_cursor at = *c;

	switch (type) {
	case BSON_DOUBLE:
	case 9:	 /* date */
	case 17: /* timestamp */
	case BSON_INT64:
		return 8;
	case BSON_STRING:
	case 13: /* code */
	case 14: /* symbol */
		return size_at(c, 1, 4, bad);
	case BSON_DOCUMENT:
	case BSON_ARRAY:
	case 15: /* code with scope */
		return size_at(c, BSON_EMPTY, 0, bad);
	case 5: /* binary */
		return size_at(c, 0, 5, bad);
	case 7: /* object id */
		return 12;
	case BSON_BOOL:
		return 1;
	case BSON_INT32:
		return 4;
	case 11: /* regular expression, its options */
		l7_cstring(&at);
		l7_cstring(&at);
		return at.cut ? UINT64_MAX : (uint64_t)(at.p - c->p);
	case 12: /* pointer */
		return size_at(c, 1, 4 + 12, bad);
	case 19: /* decimal */
		return 16;
	case 6: /* undefined, null, min key, max key */
	case 10:
	case 0x7f:
	case 0xff:
		return 0;
	default:
		*bad = true;
		return 0;
	}
}

void bson_begin(struct bson *b, const uint8_t *p, size_t len)
{
	*b = (struct bson){.c = l7_cursor_at(p, len)};
	b->size = l7_le(&b->c, 4);
	b->bad = !b->c.cut && (b->size < BSON_EMPTY || b->size > INT32_MAX);
	if (!b->bad && !b->c.cut && b->size < len)
		b->c.end = p + b->size;
}

bool bson_next(struct bson *b, struct bson_field *f)
{
	uint64_t size, left;

	*f = (struct bson_field){.name = {"", 0}, .value = {"", 0}};
	if (b->bad || b->ended || b->c.cut)
		return false;
	f->type = l7_be(&b->c, 1);
	if (b->c.cut)
		return false;
	if (!f->type) {
		b->ended = true;
		return false;
	}
	f->name = l7_cstring(&b->c);
	if (b->c.cut)
		return false;
	size = value_size(&b->c, f->type, &b->bad);
	if (b->bad)
		return false;
	left = l7_left(&b->c);
	f->value = (struct span){(const char *)b->c.p, size < left ? size : left};
	b->c.cut = size > left;
	b->c.p += f->value.len;
	return true;
}

struct span bson_text(const struct bson_field *f)
{
	struct l7_cursor c = l7_cursor_in(f->value);
	uint64_t n = l7_le(&c, 4);

	if (f->type != BSON_STRING || c.cut || !n)
		return (struct span){"", 0};
	return l7_bytes(&c, n - 1);
}

bool bson_number(const struct bson_field *f, double *v)
{
	struct l7_cursor c = l7_cursor_in(f->value);
	uint64_t bits;

	switch (f->type) {
	case BSON_DOUBLE:
		bits = l7_le(&c, 8);
		memcpy(v, &bits, sizeof(bits));
		break;
	case BSON_INT32:
		*v = (int32_t)l7_le(&c, 4);
		break;
	case BSON_INT64:
		*v = (int64_t)l7_le(&c, 8);
		break;
	case BSON_BOOL:
		*v = l7_le(&c, 1);
		break;
	default:
		return false;
	}
	return !c.cut;
}

void bson_inner(const struct bson_field *f, struct bson *b)
{
	bson_begin(b, (const uint8_t *)f->value.p, f->value.len);
}
