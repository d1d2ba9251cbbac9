/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_left_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(const struct packet_kind_id *a, const struct packet_kind_id *b)
{
	if (a->name && b->name)
		return !strcmp(a->name, b->name);
	return a->name == b->name && a->id == b->id && !strcmp(a->space, b->space);
}

void left_out__add(struct left_out *l, const struct packet_kind_id *kind, uint64_t cnt)
{
	static const struct packet_kind_id others = {"other", 0, "packets of other kinds"};
	uint32_t i = 0;

	if (!cnt)
		return;
	while (i < l->cnt && !same(&l->rows[i].kind, kind))
		i++;
	if (i >= LEFT_OUT_MAX - 1)
		i = LEFT_OUT_MAX - 1;
	if (i >= l->cnt) {
		l->rows[i].kind = i == LEFT_OUT_MAX - 1 ? others : *kind;
		l->cnt = i + 1;
	}
	l->rows[i].cnt += cnt;
}

const char *left_out_text(const struct packet_kind_id *kind, char *buf, size_t sz)
{
	if (kind->name)
		return kind->name;
	/* Number formats as in the registries. */
	snprintf(buf, sz, kind->id > 255 || *kind->space == 'L' ? "%s 0x%02x" : "%s %u",
		 kind->space, kind->id);
	return buf;
}

static int by_count(const void *a, const void *b)
{
	const struct left_out_row *x = a, *y = b;
	char x_text[48], y_text[48];

	if (x->cnt != y->cnt)
		return x->cnt < y->cnt ? 1 : -1;
	return strcmp(left_out_text(&x->kind, x_text, sizeof(x_text)),
		      left_out_text(&y->kind, y_text, sizeof(y_text)));
}

void left_out__sort(struct left_out *l)
{
	qsort(l->rows, l->cnt, sizeof(*l->rows), by_count);
}
