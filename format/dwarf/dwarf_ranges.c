/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_ranges.h"

#include <dwarf.h>

struct range_list {
	const struct dwarf_unit *u;
	struct cursor c;
	uint64_t base, tombstone;
	struct meter *meter;
	range_fn fn;
	void *ctx;
};

/* Linkers mark discarded code with the highest address; in .debug_ranges with the one below it,
 * because the highest one selects a base. */
static int give(const struct range_list *l, uint64_t lo, uint64_t hi)
{
	if (lo >= hi || lo >= l->tombstone - 1)
		return 0;
	return l->fn(l->ctx, lo, hi);
}

static uint64_t max_address(const struct dwarf_unit *u)
{
	return u->addr_sz == 4 ? UINT32_MAX : UINT64_MAX;
}

/* Reads pairs of addresses relative to a base; (max, x) sets the base, (0, 0) ends the list. */
static int walk_pairs(struct range_list *l)
{
	int err = 0;

	while (!l->c.bad && !err) {
		uint64_t lo = cursor_uint(&l->c, l->u->addr_sz);
		uint64_t hi = cursor_uint(&l->c, l->u->addr_sz);

		if (!meter_work(l->meter, 1))
			return -E2BIG;
		if (l->c.bad || (!lo && !hi))
			break;
		if (lo == l->tombstone)
			l->base = hi;
		else if (lo != l->tombstone - 1 && l->base < l->tombstone - 1)
			err = give(l, lo + l->base, hi + l->base);
	}
	return err;
}

static bool indexed(struct range_list *l, uint64_t *addr)
{
	return dwarf_addr_index(l->u, cursor_uleb(&l->c), addr);
}

static int walk_entries(struct range_list *l)
{
	const unsigned sz = l->u->addr_sz;
	const uint8_t *start = l->c.p;
	int err = 0;

	while (!l->c.bad && !err) {
		uint64_t lo = 0, hi = 0;
		bool ok = true;

		if (!meter_work(l->meter, 1 + (uint64_t)(l->c.p - start) / 8))
			return -E2BIG;
		start = l->c.p;
		switch (cursor_u8(&l->c)) {
		case DW_RLE_end_of_list:
			return 0;
		case DW_RLE_base_addressx:
			if (!indexed(l, &l->base))
				l->base = l->tombstone;
			continue;
		case DW_RLE_base_address:
			l->base = cursor_uint(&l->c, sz);
			continue;
		case DW_RLE_startx_endx:
			ok = indexed(l, &lo);
			ok = indexed(l, &hi) && ok;
			break;
		case DW_RLE_startx_length:
			ok = indexed(l, &lo);
			hi = lo + cursor_uleb(&l->c);
			break;
		case DW_RLE_offset_pair:
			lo = l->base + cursor_uleb(&l->c);
			hi = l->base + cursor_uleb(&l->c);
			ok = l->base < l->tombstone - 1;
			break;
		case DW_RLE_start_end:
			lo = cursor_uint(&l->c, sz);
			hi = cursor_uint(&l->c, sz);
			break;
		case DW_RLE_start_length:
			lo = cursor_uint(&l->c, sz);
			hi = lo + cursor_uleb(&l->c);
			break;
		default:
			return 0;
		}
		if (ok && !l->c.bad)
			err = give(l, lo, hi);
	}
	return err;
}

static int walk_list(const struct dwarf_unit *u, const struct attr_value *v, struct meter *m,
		     range_fn fn, void *ctx)
{
	const struct dwarf_unit *skeleton = u->skeleton ? u->skeleton : u;
	struct range_list l = {.u = u,
			       .base = skeleton->low_pc,
			       .tombstone = max_address(u),
			       .meter = m,
			       .fn = fn,
			       .ctx = ctx};
	uint64_t off = v->u;

	if (u->version < 5) {
		if (u->skeleton) /* GNU split DWARF 4: from the skeleton's base */
			off += skeleton->ranges_base;
		l.c = cursor_at(skeleton->file->sec.ranges, off);
		return walk_pairs(&l);
	}
	if (v->cls == ATTR_LIST_INDEX) {
		struct bytes table = u->file->sec.rnglists;
		struct cursor c;

		if (v->u > table.len)
			return 0;
		c = cursor_at(table, u->rnglists_base + v->u * u->off_sz);
		off = u->rnglists_base + cursor_uint(&c, u->off_sz);
		if (c.bad)
			return 0;
	}
	l.c = cursor_at(u->file->sec.rnglists, off);
	return walk_entries(&l);
}

int dwarf_ranges(const struct dwarf_unit *u, const struct range_attrs *a, struct meter *m,
		 range_fn fn, void *ctx)
{
	uint64_t lo, hi;

	if (dwarf_attr_addr(u, &a->low_pc, &lo) && a->high_pc.cls != ATTR_NONE) {
		if (a->high_pc.cls == ATTR_CONST)
			hi = lo + a->high_pc.u;
		else if (!dwarf_attr_addr(u, &a->high_pc, &hi))
			return 0;
		return lo < hi && lo < max_address(u) - 1 ? fn(ctx, lo, hi) : 0;
	}
	switch (a->ranges.cls) {
	case ATTR_CONST: /* DWARF 3 and older have no separate form for offsets */
	case ATTR_OFFSET:
	case ATTR_LIST_INDEX:
		return walk_list(u, &a->ranges, m, fn, ctx);
	default:
		return 0;
	}
}
