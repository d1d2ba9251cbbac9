/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/table_fit.h"

#include <string.h>

/* A text column is not cut below these widths: as long as there are columns to spare; as long as
 * there are numbers to leave out; else. */
enum cut { CUT_READABLE = 16, CUT_SHORT = 8, CUT_LEAST = 3 };

/* Columns to spare, in the order in which they are left out: others of the same table say nearly
 * the same. `before`: the width to which text is cut before. */
static const struct {
	const char *name;
	enum cut before;
} spare[] = {
	{"response_bytes", CUT_READABLE},
	{"request_bytes", CUT_READABLE},
	{"max_ns", CUT_READABLE},
	{"p95_ns", CUT_READABLE},
	{"receives", CUT_READABLE},
	{"sends", CUT_READABLE},
	{"connection", CUT_READABLE},
	{"transport", CUT_READABLE},
	{"server_mean_ns", CUT_READABLE},
	{"side", CUT_READABLE},
	{"qps", CUT_READABLE},
	{"errors", CUT_READABLE},
	{"rtt_ns", CUT_READABLE},
	{"role", CUT_SHORT},
	{"who", CUT_SHORT},
};
enum { SPARE_CNT = sizeof(spare) / sizeof(*spare) };

static bool takes_room(const struct fit_column *c)
{
	return !c->omitted && !c->left_out;
}

static size_t total(const struct fit_column *columns, size_t cnt)
{
	size_t sum = 0;

	for (size_t i = 0; i < cnt; i++)
		if (takes_room(&columns[i]))
			sum += columns[i].width + (sum ? TABLE_GAP : 0);
	return sum;
}

/* A time cut short would be another time. */
static bool may_cut(const struct fit_column *c)
{
	return !c->number && takes_room(c) && strcmp(c->name, "time") && strcmp(c->name, "first");
}

/* Whether it is enough to cut the text columns to `least`. */
static bool fits_cut(const struct fit_column *columns, size_t cnt, size_t room, size_t least)
{
	size_t cut = 0;

	for (size_t i = 0; i < cnt; i++)
		if (may_cut(&columns[i]) && columns[i].width > least)
			cut += columns[i].width - least;
	return total(columns, cnt) <= room + cut;
}

/* Cuts the widest text column, one by one. */
static void cut(struct fit_column *columns, size_t cnt, size_t room, size_t least)
{
	for (size_t over = total(columns, cnt); over > room; over--) {
		struct fit_column *widest = NULL;

		for (size_t i = 0; i < cnt; i++)
			if (may_cut(&columns[i]) && columns[i].width > least &&
			    (!widest || columns[i].width > widest->width))
				widest = &columns[i];
		if (!widest)
			return;
		widest->width--;
	}
}

static struct fit_column *named(struct fit_column *columns, size_t cnt, const char *name)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(columns[i].name, name))
			return &columns[i];
	return NULL;
}

void table_fit(struct fit_column *columns, size_t cnt, size_t room)
{
	size_t least = CUT_READABLE;

	for (size_t i = 0; i < SPARE_CNT; i++) {
		struct fit_column *c = named(columns, cnt, spare[i].name);

		if (c && !fits_cut(columns, cnt, room, spare[i].before))
			c->left_out = !c->omitted;
	}
	if (!fits_cut(columns, cnt, room, least))
		least = CUT_SHORT;
	for (size_t i = cnt; i-- > 1 && !fits_cut(columns, cnt, room, least);)
		columns[i].left_out |= columns[i].number && !columns[i].omitted;
	if (!fits_cut(columns, cnt, room, least))
		least = CUT_LEAST;
	cut(columns, cnt, room, least);
}
