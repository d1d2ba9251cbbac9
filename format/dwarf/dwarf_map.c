/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_map.h"

#include <dwarf.h>

#include "format/dwarf/dwarf_abbrev.h"
#include "format/dwarf/dwarf_ranges.h"

struct endpoint {
	uint64_t addr;
	uint32_t unit;
	bool start;
};

struct builder {
	const struct dwarf_file *f;
	struct meter *meter;
	struct endpoint *v;
	size_t cnt, cap;
	uint32_t unit;	  /* unit whose ranges are being read */
	uint32_t *active; /* by unit: number of ranges open at the current address */
	uint32_t *heap;	  /* open units, lowest first; closed ones are removed at the top */
	size_t heap_cnt, heap_cap;
};

bool elf_image_has_code(const struct elf_image *e, uint64_t addr)
{
	size_t cnt, lo = 0, hi;
	const struct elf_range *code = elf_image__code(e, &cnt);

	hi = cnt;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (code[mid].hi <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return !cnt || (lo < cnt && code[lo].lo <= addr);
}

static int add_range(void *ctx, uint64_t lo, uint64_t hi)
{
	struct builder *b = ctx;

	if (!meter_work(b->meter, 4)) /* includes sorting them later */
		return -E2BIG;
	if (!elf_image_has_code(b->f->elf, lo))
		return 0;
	if (meter_grow(b->meter, &b->v, &b->cap, b->cnt + 2, sizeof(*b->v)))
		return meter_error(b->meter);
	b->v[b->cnt++] = (struct endpoint){lo, b->unit, true};
	b->v[b->cnt++] = (struct endpoint){hi, b->unit, false};
	return 0;
}

/* Reads one set of .debug_aranges (section 6.1.2): a unit's offset, then pairs of address and
 * length. */
static int read_set(struct builder *b, struct cursor *c, bool *seen)
{
	const uint8_t *start = c->p;
	uint64_t len = cursor_u32(c), unit_off;
	unsigned off_sz = 4, addr_sz, tuple;
	const struct dwarf_unit *u;
	struct cursor set;
	int err = 0;

	if (len == 0xffffffff) {
		off_sz = 8;
		len = cursor_u64(c);
	}
	if (c->bad || len > cursor_left(c)) {
		cursor_fail(c);
		return 0;
	}
	set = (struct cursor){c->p, c->p + len, false};
	c->p += len;
	cursor_u16(&set);
	unit_off = cursor_uint(&set, off_sz);
	addr_sz = cursor_u8(&set);
	cursor_u8(&set);
	u = dwarf_file_unit(b->f, unit_off + 16);
	if (set.bad || !u || u->off != unit_off || (addr_sz != 4 && addr_sz != 8))
		return 0;
	b->unit = (uint32_t)(u - b->f->units);
	tuple = 2 * addr_sz;
	if ((set.p - start) % tuple)
		cursor_skip(&set, tuple - (uint64_t)(set.p - start) % tuple);
	while (!err && cursor_left(&set) >= tuple) {
		uint64_t lo = cursor_uint(&set, addr_sz), sz = cursor_uint(&set, addr_sz);

		if (!lo && !sz)
			break;
		if (lo + sz > lo)
			err = add_range(b, lo, lo + sz);
	}
	seen[b->unit] = true;
	return err;
}

static int read_unit_ranges(struct builder *b, const struct dwarf_unit *u)
{
	struct cursor c = cursor_at(u->file->sec.info, u->die_off);
	struct range_attrs a = {0};
	struct abbrev_table t;
	uint64_t code = cursor_uleb(&c);
	const struct abbrev *ab;
	int err = abbrev_table_load(&t, u, code, b->meter);

	if (err)
		return err;
	ab = abbrev_table_find(&t, code);
	if (ab && !meter_work(b->meter, ab->attr_cnt))
		err = -E2BIG;
	for (uint32_t i = 0; ab && !err && i < ab->attr_cnt; i++) {
		const struct attr_spec *s = &t.attrs[ab->first_attr + i];
		struct attr_value v;

		dwarf_form_read(&c, u, s->form, s->implicit, &v);
		if (s->name == DW_AT_low_pc)
			a.low_pc = v;
		else if (s->name == DW_AT_high_pc)
			a.high_pc = v;
		else if (s->name == DW_AT_ranges)
			a.ranges = v;
	}
	abbrev_table_fini(&t);
	return err || c.bad ? err : dwarf_ranges(u, &a, b->meter, add_range, b);
}

static int by_addr(const void *a, const void *b)
{
	const struct endpoint *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int heap_push(struct builder *b, uint32_t unit)
{
	size_t i = b->heap_cnt;

	if (meter_grow(b->meter, &b->heap, &b->heap_cap, i + 1, sizeof(*b->heap)))
		return meter_error(b->meter);
	b->heap_cnt++;
	for (; i && b->heap[(i - 1) / 2] > unit; i = (i - 1) / 2)
		b->heap[i] = b->heap[(i - 1) / 2];
	b->heap[i] = unit;
	return 0;
}

static void heap_pop(struct builder *b)
{
	uint32_t last = b->heap[--b->heap_cnt];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= b->heap_cnt)
			break;
		if (child + 1 < b->heap_cnt && b->heap[child + 1] < b->heap[child])
			child++;
		if (b->heap[child] >= last)
			break;
		b->heap[i] = b->heap[child];
		i = child;
	}
	b->heap[i] = last;
}

/* Adds the range from..to, which is covered by one or more open units. */
static int add_stretch(struct unit_map *m, struct builder *b, uint64_t from, uint64_t to)
{
	struct unit_range *last = m->cnt ? &m->v[m->cnt - 1] : NULL;

	while (b->heap_cnt && !b->active[b->heap[0]])
		heap_pop(b);
	if (!b->heap_cnt)
		return 0;
	if (last && last->hi == from && b->active[last->unit]) {
		last->hi = to;
		return 0;
	}
	if (meter_grow(b->meter, &m->v, &m->cap, m->cnt + 1, sizeof(*m->v)))
		return meter_error(b->meter);
	m->v[m->cnt++] = (struct unit_range){from, to, b->heap[0]};
	return 0;
}

static int sweep(struct unit_map *m, struct builder *b)
{
	uint64_t prev = 0;
	int err = 0;

	b->active = meter_calloc(b->meter, b->f->unit_cnt + 1, sizeof(*b->active));
	if (!b->active || !meter_sort(b->meter, b->cnt))
		return meter_error(b->meter);
	if (b->cnt)
		qsort(b->v, b->cnt, sizeof(*b->v), by_addr);
	for (size_t i = 0; i < b->cnt && !err; i++) {
		const struct endpoint *e = &b->v[i];

		if (prev < e->addr)
			err = add_stretch(m, b, prev, e->addr);
		/* At the same address an end may be sorted before its start: the counter wraps,
		 * then wraps back. */
		if (e->start && !err) {
			if (b->active[e->unit]++ == 0)
				err = heap_push(b, e->unit);
		} else {
			b->active[e->unit]--;
		}
		prev = e->addr;
	}
	return err;
}

int unit_map_build(struct unit_map *m, const struct dwarf_file *f, struct meter *meter)
{
	struct builder b = {.f = f, .meter = meter};
	struct cursor c = cursor_at(f->sec.aranges, 0);
	bool *seen = meter_calloc(meter, f->unit_cnt + 1, sizeof(*seen));
	int err = seen ? 0 : meter_error(meter);

	*m = (struct unit_map){0};
	while (!err && cursor_left(&c))
		err = read_set(&b, &c, seen);
	for (size_t i = 0; i < f->unit_cnt && !err; i++) {
		b.unit = (uint32_t)i;
		if (!seen[i])
			err = read_unit_ranges(&b, &f->units[i]);
	}
	if (!err)
		err = sweep(m, &b);
	if (err)
		unit_map_fini(m);
	free(seen);
	free(b.v);
	free(b.active);
	free(b.heap);
	return err;
}

void unit_map_fini(struct unit_map *m)
{
	free(m->v);
	*m = (struct unit_map){0};
}

const struct unit_range *unit_map_next(const struct unit_map *m, uint64_t addr)
{
	size_t lo = 0, hi = m->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->v[mid].hi <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->cnt ? &m->v[lo] : NULL;
}

const struct unit_range *unit_map_find(const struct unit_map *m, uint64_t addr)
{
	const struct unit_range *r = unit_map_next(m, addr);

	return r && r->lo <= addr ? r : NULL;
}
