/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/hessian.h"

enum { FIELDS_MAX = 64 };

static uint8_t peek(const struct l7_cursor *c)
{
	return !c->cut && c->p < c->end ? *c->p : 0;
}

/* Lengths count UTF-16 units; the bytes are UTF-8. */
static bool characters(struct l7_cursor *c, uint32_t n, struct span *s)
{
	const uint8_t *begin = c->p;

	while (n && !c->cut) {
		uint8_t lead = l7_be(c, 1);
		unsigned more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;

		if (lead >= 0x80 && lead < 0xc0)
			return false;
		if (!c->cut)
			l7_take(c, more);
		n -= more == 3 && n > 1 ? 2 : 1;
	}
	if (c->cut)
		c->p = c->end;
	*s = (struct span){(const char *)begin, c->p - begin};
	return true;
}

bool hessian_string(struct l7_cursor *c, struct span *s)
{
	uint8_t tag = peek(c);

	*s = (struct span){"", 0};
	l7_take(c, 1);
	if (c->cut)
		return true;
	if (tag == 'N')
		return true;
	if (tag < 0x20)
		return characters(c, tag, s);
	if (tag >= 0x30 && tag <= 0x33)
		return characters(c, (tag - 0x30) << 8 | l7_be(c, 1), s);
	if (tag == 'S' || tag == 'R')
		return characters(c, l7_be(c, 2), s);
	return false;
}

bool hessian_int(struct l7_cursor *c, int32_t *v)
{
	uint8_t tag = peek(c);

	*v = 0;
	l7_take(c, 1);
	if (c->cut)
		return true;
	if (tag >= 0x80 && tag <= 0xbf)
		*v = tag - 0x90;
	else if (tag >= 0xc0 && tag <= 0xcf)
		*v = (tag - 0xc8) * 256 + (int32_t)l7_be(c, 1);
	else if (tag >= 0xd0 && tag <= 0xd7)
		*v = (tag - 0xd4) * 65536 + (int32_t)l7_be(c, 2);
	else if (tag == 'I')
		*v = (int32_t)l7_be(c, 4);
	else
		return false;
	return true;
}

/* Skips a value that contains no other values. False: it does. */
static bool skip_simple(struct l7_cursor *c)
{
	uint8_t tag = peek(c);
	struct span s;
	int32_t v;

	if (tag < 0x20 || (tag >= 0x30 && tag <= 0x33) || tag == 'S' || tag == 'N')
		return hessian_string(c, &s);
	if ((tag >= 0x80 && tag <= 0xd7) || tag == 'I')
		return hessian_int(c, &v);
	l7_take(c, 1);
	/* Booleans, small longs, 0.0 and 1.0. */
	if (tag == 'T' || tag == 'F' || (tag >= 0xd8 && tag <= 0xef) || tag == '[' || tag == '\\')
		return true;
	if (tag == 'Q') /* a reference to an earlier object */
		return hessian_int(c, &v);
	/* Longs, doubles, dates: by size. */
	if (tag >= 0xf0 || tag == ']')
		l7_take(c, 1);
	else if ((tag >= 0x38 && tag <= 0x3f) || tag == '^')
		l7_take(c, 2);
	else if (tag == 'Y' || tag == '_' || tag == 'K')
		l7_take(c, 4);
	else if (tag == 'L' || tag == 'D' || tag == 'J')
		l7_take(c, 8);
	else
		return false;
	return true;
}

/* 'C' class, number of fields, field names; then the object: class number, values */
bool hessian_exception(struct l7_cursor *c, struct span *type, struct span *text)
{
	int32_t fields, at = -1, number;
	struct span name;

	*type = *text = (struct span){"", 0};
	if (l7_be(c, 1) != 'C')
		return false;
	if (!hessian_string(c, type) || !hessian_int(c, &fields) || fields < 0)
		return false;
	if (c->cut || fields > FIELDS_MAX)
		return true;
	for (int32_t i = 0; i < fields; i++) {
		if (!hessian_string(c, &name) || c->cut)
			return true;
		if (l7_is(name, "detailMessage") || (at < 0 && l7_is(name, "message")))
			at = i;
	}
	if (peek(c) == 'O') {
		l7_take(c, 1);
		if (!hessian_int(c, &number))
			return true;
	} else if ((l7_be(c, 1) & 0xf0) != 0x60) {
		return true;
	}
	for (; at > 0; at--)
		if (!skip_simple(c) || c->cut)
			return true;
	if (!at && !hessian_string(c, text))
		*text = (struct span){"", 0};
	return true;
}
