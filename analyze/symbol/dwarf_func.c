/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/dwarf_func.h"

#include <dwarf.h>

#include "format/dwarf/dwarf_map.h"
#include "format/dwarf/dwarf_ranges.h"
#include "format/dwarf/dwarf_scope.h"

struct walk {
	struct func_table *t;
	const struct dwarf_unit *u;
	const struct abbrev_table *ab;
	struct meter *meter;
	struct scope_walk scopes;
	uint32_t func; /* function whose ranges are being added */
	bool wanted;   /* the function has a wanted address */
};

static bool wants(const struct func_table *t, uint64_t lo, uint64_t hi)
{
	size_t a = 0, b = t->wanted_cnt;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (t->wanted[mid] < lo)
			a = mid + 1;
		else
			b = mid;
	}
	return a < t->wanted_cnt && t->wanted[a] < hi;
}

static int add_range(void *ctx, uint64_t lo, uint64_t hi)
{
	struct walk *w = ctx;
	struct func_table *t = w->t;

	if (!meter_work(w->meter, 4))
		return -E2BIG;
	if (!elf_image_has_code(t->code, lo))
		return 0;
	if (t->range_cnt >= UINT32_MAX ||
	    meter_grow(w->meter, &t->ranges, &t->range_cap, t->range_cnt + 1, sizeof(*t->ranges)))
		return meter_error(w->meter);
	t->ranges[t->range_cnt] = (struct func_range){lo, hi, w->func, (uint32_t)t->range_cnt};
	t->range_cnt++;
	w->wanted |= wants(t, lo, hi);
	return 0;
}

static int read_ranges(struct walk *w, const struct abbrev *a, struct cursor *c)
{
	const struct attr_spec *s = w->ab->attrs + a->first_attr;
	struct range_attrs r = {0};

	for (uint32_t i = 0; i < a->attr_cnt; i++, s++) {
		struct attr_value v;

		switch (s->name) {
		case DW_AT_low_pc:
			dwarf_form_read(c, w->u, s->form, s->implicit, &r.low_pc);
			break;
		case DW_AT_high_pc:
			dwarf_form_read(c, w->u, s->form, s->implicit, &r.high_pc);
			break;
		case DW_AT_ranges:
			dwarf_form_read(c, w->u, s->form, s->implicit, &r.ranges);
			break;
		default:
			if (s->sz >= 0)
				cursor_skip(c, (uint64_t)s->sz);
			else
				dwarf_form_read(c, w->u, s->form, s->implicit, &v);
		}
	}
	return c->bad ? 0 : dwarf_ranges(w->u, &r, w->meter, add_range, w);
}

enum { UNWANTED = UINT32_MAX }; /* in nest: inside a function without wanted addresses */

/* Adds a function or inlined call. *nest: set to the enclosing function of its children. */
static int add_func(struct walk *w, const struct abbrev *a, uint64_t off, struct cursor *c,
		    uint32_t *nest)
{
	struct func_table *t = w->t;
	bool inlined = a->tag == DW_TAG_inlined_subroutine;
	int err = 0;

	if (inlined && *nest == UNWANTED) {
		abbrev_skip(w->ab, a, w->u, c);
		return 0;
	}
	if (t->func_cnt >= UINT32_MAX - 1 ||
	    meter_grow(w->meter, &t->funcs, &t->func_cap, t->func_cnt + 1, sizeof(*t->funcs)))
		return meter_error(w->meter);
	t->funcs[t->func_cnt] = (struct func){off, *nest == UNWANTED ? 0 : *nest, inlined};
	w->func = (uint32_t)t->func_cnt++;
	w->wanted = false;
	if (a->has_pc)
		err = read_ranges(w, a, c);
	else
		abbrev_skip(w->ab, a, w->u, c);
	*nest = w->func + 1;
	if (!inlined && a->has_pc && !w->wanted)
		*nest = UNWANTED;
	return err;
}

/* Attributes may have no bytes, so the unit's size does not bound their number. */
static uint64_t die_work(const struct abbrev *a)
{
	return a->fixed_sz < 0 || a->has_pc ? 1 + a->attr_cnt : 1;
}

static int walk_dies(struct walk *w)
{
	struct func_table *t = w->t;
	struct bytes info = w->u->file->sec.info;
	struct cursor c = cursor_at(bytes_sub(info, 0, w->u->end), w->u->die_off);
	size_t depth = 0;
	int err = 0;

	if (meter_grow(w->meter, &t->nest, &t->nest_cap, 2, sizeof(*t->nest)))
		return meter_error(w->meter);
	t->nest[0] = 0;
	while (!err && c.p < c.end) {
		uint64_t off = (uint64_t)(c.p - info.p), code = *c.p;
		const struct abbrev *a;
		uint32_t nest = t->nest[depth];

		if (code < 0x80)
			c.p++;
		else
			code = cursor_uleb(&c);
		if (!code) {
			if (depth <= 1)
				break;
			scope_walk_up(&w->scopes, --depth, (uint64_t)(c.p - info.p));
			continue;
		}
		a = abbrev_table_find(w->ab, code);
		if (!a)
			break;
		if (!meter_work(w->meter, die_work(a)))
			return -E2BIG;
		if (a->tag == DW_TAG_subprogram)
			scope_walk_function(&w->scopes);
		if (a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine)
			err = add_func(w, a, off, &c, &nest);
		else
			abbrev_skip(w->ab, a, w->u, &c);
		if (!a->children) {
			if (!depth)
				break;
			continue;
		}
		if (meter_grow(w->meter, &t->nest, &t->nest_cap, depth + 2, sizeof(*t->nest)))
			return meter_error(w->meter);
		if (a->scope && !err)
			err = scope_walk_enter(&w->scopes, off, depth, w->meter);
		t->nest[++depth] = nest;
	}
	return err;
}

static int by_lo(const void *a, const void *b)
{
	const struct func_range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int add_segment(struct func_table *t, uint64_t lo, uint64_t hi, uint32_t func,
		       struct meter *m)
{
	if (lo >= hi)
		return 0;
	if (meter_grow(m, &t->segments, &t->segment_cap, t->segment_cnt + 1, sizeof(*t->segments)))
		return meter_error(m);
	t->segments[t->segment_cnt++] = (struct func_segment){lo, hi, func};
	return 0;
}

/*
 * Flattens nested ranges into disjoint segments. Ranges are visited by start address, then in the
 * order of DIEs (parents come before children). Open ranges form a stack linked through `order`,
 * which is no longer needed.
 */
static int flatten(struct func_table *t, struct meter *m)
{
	enum { NONE = UINT32_MAX };
	uint32_t top = NONE;
	uint64_t at = 0; /* end of the segments so far */
	int err = meter_sort(m, t->range_cnt) ? 0 : -E2BIG;

	if (t->range_cnt && !err)
		qsort(t->ranges, t->range_cnt, sizeof(*t->ranges), by_lo);
	for (size_t i = 0; i <= t->range_cnt && !err; i++) {
		uint64_t next = i < t->range_cnt ? t->ranges[i].lo : UINT64_MAX;

		for (; top != NONE && !err; top = t->ranges[top].order) {
			struct func_range *r = &t->ranges[top];

			err = add_segment(t, at, r->hi < next ? r->hi : next, r->func, m);
			if (r->hi > at)
				at = r->hi < next ? r->hi : next;
			if (r->hi > next)
				break;
		}
		if (i < t->range_cnt) {
			t->ranges[i].order = top;
			top = (uint32_t)i;
			at = next;
		}
	}
	return err;
}

int func_table_load(struct func_table *t, const struct dwarf_unit *u, const struct abbrev_table *ab,
		    const struct elf_image *code, const uint64_t *wanted, size_t cnt,
		    struct meter *m)
{
	struct walk w = {.t = t, .u = u, .ab = ab, .meter = m};
	int err;

	t->wanted = wanted;
	t->wanted_cnt = cnt;
	t->code = code;
	t->func_cnt = t->range_cnt = t->segment_cnt = 0;
	if (!meter_work(m, (u->end - u->off) / 8))
		return -E2BIG;
	err = scope_walk_begin(&w.scopes, u, m);
	if (err)
		return err;
	err = walk_dies(&w);
	scope_walk_end(&w.scopes, u, err);
	return err ? err : flatten(t, m);
}

const struct func *func_table_find(const struct func_table *t, uint64_t addr, uint64_t *lo,
				   uint64_t *hi)
{
	size_t a = 0, b = t->segment_cnt;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (t->segments[mid].hi <= addr)
			a = mid + 1;
		else
			b = mid;
	}
	*lo = a ? t->segments[a - 1].hi : 0;
	*hi = a < t->segment_cnt ? t->segments[a].lo : UINT64_MAX;
	if (a == t->segment_cnt || t->segments[a].lo > addr)
		return NULL;
	*lo = t->segments[a].lo;
	*hi = t->segments[a].hi;
	return &t->funcs[t->segments[a].func];
}

void func_table_fini(struct func_table *t)
{
	free(t->funcs);
	free(t->ranges);
	free(t->segments);
	free(t->nest);
	*t = (struct func_table){0};
}
