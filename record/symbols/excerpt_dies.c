/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects the DIEs to copy. */
#include <dwarf.h>

#include "record/symbols/excerpt_impl.h"

/* How a DIE is nested in functions, with the same rules as obana's func_table. */
enum nest { NEST_NONE, NEST_KEPT, NEST_UNWANTED };

struct level {
	uint64_t off;
	enum nest nest;
	bool scope, kept;
};

struct walk {
	struct excerpt_work *x;
	struct src_unit *su;
	const struct abbrev_table *ab;
	struct level *levels;
	size_t depth, level_cap;
	bool look;   /* search for functions that contain a wanted address */
	bool wanted; /* a range contains a wanted address */
	struct u64_list targets;
	size_t target;
};

/* Returns true for scopes that qualify a name. */
static bool is_scope(unsigned tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		return true;
	}
	return false;
}

static void take_attr(struct die_copy *d, unsigned name, const struct attr_value *v)
{
	switch (name) {
	case DW_AT_name:
		d->name = *v;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		d->linkage = *v;
		break;
	case DW_AT_abstract_origin:
		d->origin = *v;
		break;
	case DW_AT_specification:
		d->specification = *v;
		break;
	case DW_AT_call_file:
		d->call_file = *v;
		break;
	case DW_AT_call_line:
		d->call_line = *v;
		break;
	case DW_AT_language:
		d->language = *v;
		break;
	case DW_AT_low_pc:
		d->ranges.low_pc = *v;
		break;
	case DW_AT_high_pc:
		d->ranges.high_pc = *v;
		break;
	case DW_AT_ranges:
		d->ranges.ranges = *v;
		break;
	}
}

static bool read_attrs(const struct dwarf_unit *u, const struct abbrev_table *t,
		       const struct abbrev *a, struct cursor *c, struct die_copy *d)
{
	*d = (struct die_copy){.tag = a->tag, .has_pc = a->has_pc};
	for (uint32_t i = 0; i < a->attr_cnt && !c->bad; i++) {
		const struct attr_spec *s = &t->attrs[a->first_attr + i];
		struct attr_value v;

		dwarf_form_read(c, u, s->form, s->implicit, &v);
		take_attr(d, s->name, &v);
	}
	return !c->bad;
}

bool excerpt_read_die(struct excerpt_work *x, const struct dwarf_unit *u, uint64_t off,
		      struct die_copy *d)
{
	struct cursor c = cursor_at(bytes_sub(u->file->sec.info, 0, u->end), off);
	const struct abbrev_table *t = abbrev_cache_get(&x->abbrevs, u, x->m);
	const struct abbrev *a = t ? abbrev_table_find(t, cursor_uleb(&c)) : NULL;

	return a && meter_work(x->m, 1 + a->attr_cnt) && read_attrs(u, t, a, &c, d);
}

static int by_off(const void *a, const void *b)
{
	const struct kept_die *x = a, *y = b;

	return x->off < y->off ? -1 : x->off > y->off;
}

const struct kept_die *excerpt_kept(const struct src_unit *su, uint64_t off)
{
	size_t lo = 0, hi = su->sorted;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (su->kept[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < su->sorted && su->kept[lo].off == off ? &su->kept[lo] : NULL;
}

static int sort_kept(struct excerpt_work *x, struct src_unit *su)
{
	size_t n = 0;

	if (!meter_sort(x->m, su->kept_cnt))
		return -E2BIG;
	if (su->kept_cnt)
		qsort(su->kept, su->kept_cnt, sizeof(*su->kept), by_off);
	for (size_t i = 0; i < su->kept_cnt; i++)
		if (!n || su->kept[n - 1].off != su->kept[i].off)
			su->kept[n++] = su->kept[i];
	su->kept_cnt = su->sorted = n;
	return 0;
}

/* ---- references */

static int want_die(struct excerpt_work *x, const struct dwarf_unit *from,
		    const struct attr_value *v)
{
	struct src_file *f = excerpt_target(x, from, v);
	struct src_unit *su = f ? excerpt_unit_at(x, f, v->u) : NULL;
	struct u64_list *l;

	if (!f)
		return 0;
	if (!su) /* no unit at that offset, or out of memory */
		return meter_over(x->m) ? -E2BIG : 0;
	if (excerpt_kept(su, v->u))
		return 0;
	l = &su->targets;
	if (meter_grow(x->m, &l->v, &l->cap, l->cnt + 1, sizeof(*l->v)))
		return meter_error(x->m);
	l->v[l->cnt++] = v->u;
	if (!su->queued) {
		su->queued = true;
		su->next_queued = x->queue;
		x->queue = su;
	}
	return 0;
}

static int want_references(struct excerpt_work *x, const struct dwarf_unit *u, uint64_t off)
{
	struct die_copy d;
	int err;

	if (!excerpt_read_die(x, u, off, &d))
		return meter_over(x->m) ? -E2BIG : 0;
	err = want_die(x, u, &d.origin);
	return err ? err : want_die(x, u, &d.specification);
}

/* ---- traversal of a unit */

static int keep(struct walk *w, uint64_t off, uint64_t parent)
{
	struct src_unit *su = w->su;

	if (meter_grow(w->x->m, &su->kept, &su->kept_cap, su->kept_cnt + 1, sizeof(*su->kept)))
		return meter_error(w->x->m);
	su->kept[su->kept_cnt++] = (struct kept_die){off, parent, 0};
	return want_references(w->x, su->u, off);
}

/* Keeps a DIE and its enclosing scopes. Blocks within a function are omitted; their contents move
 * up. */
static int keep_in_scopes(struct walk *w, uint64_t off)
{
	uint64_t parent = 0;
	int err = 0;

	for (size_t i = 0; i < w->depth && !err; i++) {
		struct level *l = &w->levels[i];

		if (!l->scope)
			continue;
		if (!l->kept)
			err = keep(w, l->off, parent);
		l->kept = true;
		parent = l->off;
	}
	return err ? err : keep(w, off, parent);
}

static bool wants(const struct src_unit *su, uint64_t lo, uint64_t hi)
{
	size_t a = 0, b = su->wanted_cnt;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (su->wanted[mid] < lo)
			a = mid + 1;
		else
			b = mid;
	}
	return a < su->wanted_cnt && su->wanted[a] < hi;
}

static int look_at_range(void *ctx, uint64_t lo, uint64_t hi)
{
	struct walk *w = ctx;

	if (!meter_work(w->x->m, 4))
		return -E2BIG;
	if (elf_image_has_code(w->x->file.elf, lo))
		w->wanted |= wants(w->su, lo, hi);
	return 0;
}

static int answer_for_range(void *ctx, uint64_t lo, uint64_t hi)
{
	struct walk *w = ctx;
	struct range_list_of *l = &w->su->ranges;

	if (!elf_image_has_code(w->x->file.elf, lo))
		return 0;
	if (meter_grow(w->x->m, &l->v, &l->cap, l->cnt + 1, sizeof(*l->v)))
		return meter_error(w->x->m);
	l->v[l->cnt++] = (struct excerpt_range){lo, hi};
	return 0;
}

/* Nested as in obana's func_table: inlined calls are examined only in wanted functions. */
static int visit_function(struct walk *w, const struct abbrev *a, struct cursor c, enum nest *nest,
			  bool *take)
{
	bool inlined = a->tag == DW_TAG_inlined_subroutine;
	struct die_copy d;
	int err = 0;

	*take = inlined && *nest == NEST_KEPT;
	if (*take || (inlined && *nest == NEST_UNWANTED))
		return 0;
	if (!a->has_pc) {
		if (!inlined)
			*nest = NEST_NONE;
		return 0;
	}
	w->wanted = false;
	if (read_attrs(w->su->u, w->ab, a, &c, &d))
		err = dwarf_ranges(w->su->u, &d.ranges, w->x->m, look_at_range, w);
	*take = w->wanted;
	*nest = w->wanted ? NEST_KEPT : inlined ? *nest : NEST_UNWANTED;
	if (!err && w->wanted)
		err = dwarf_ranges(w->su->u, &d.ranges, w->x->m, answer_for_range, w);
	return err;
}

static bool is_target(struct walk *w, uint64_t off)
{
	const struct u64_list *l = &w->targets;

	while (w->target < l->cnt && l->v[w->target] < off)
		w->target++;
	return w->target < l->cnt && l->v[w->target] == off;
}

static int visit(struct walk *w, const struct abbrev *a, uint64_t off, struct cursor *c)
{
	enum nest nest = w->depth ? w->levels[w->depth - 1].nest : NEST_NONE;
	bool scope = !w->depth || is_scope(a->tag), take = !w->depth || is_target(w, off);
	int err = 0;

	if (w->look && (a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine)) {
		bool function;

		err = visit_function(w, a, *c, &nest, &function);
		take |= function;
	}
	abbrev_skip(w->ab, a, w->su->u, c);
	if (!err && take && !c->bad)
		err = keep_in_scopes(w, off);
	if (err || !a->children)
		return err;
	if (meter_grow(w->x->m, &w->levels, &w->level_cap, w->depth + 1, sizeof(*w->levels)))
		return meter_error(w->x->m);
	w->levels[w->depth++] = (struct level){off, nest, scope, take};
	return 0;
}

static int walk_unit(struct walk *w)
{
	struct bytes info = w->su->u->file->sec.info;
	struct cursor c = cursor_at(bytes_sub(info, 0, w->su->u->end), w->su->u->die_off);
	int err = 0;

	while (!err && c.p < c.end) {
		uint64_t off = (uint64_t)(c.p - info.p), code = cursor_uleb(&c);
		const struct abbrev *a;

		if (!code) {
			if (w->depth <= 1)
				break;
			w->depth--;
			continue;
		}
		/* following references may have evicted the table from the cache */
		w->ab = abbrev_cache_get(&w->x->abbrevs, w->su->u, w->x->m);
		a = w->ab ? abbrev_table_find(w->ab, code) : NULL;
		if (!a || !meter_work(w->x->m, 1 + (a->fixed_sz < 0 ? a->attr_cnt : 0)))
			return meter_over(w->x->m) ? -E2BIG : 0;
		err = visit(w, a, off, &c);
		if (!w->depth)
			break;
	}
	return err;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int visit_unit(struct excerpt_work *x, struct src_unit *su)
{
	struct walk w = {.x = x, .su = su, .look = su->wanted && !su->sorted};
	struct u64_list targets = su->targets;
	size_t left = 0;
	int err = 0;

	su->targets = (struct u64_list){0}; /* targets found from here on belong to the next
					     * visit */

	for (size_t i = 0; i < targets.cnt; i++)
		if (!excerpt_kept(su, targets.v[i]))
			targets.v[left++] = targets.v[i];
	targets.cnt = left;
	if (!meter_sort(x->m, left))
		err = -E2BIG;
	if (left)
		qsort(targets.v, left, sizeof(*targets.v), by_value);
	w.targets = targets;
	if (!err && (left || w.look))
		err = walk_unit(&w);
	if (!err)
		err = sort_kept(x, su);
	free(targets.v);
	free(w.levels);
	return err;
}

/* Bound on the number of rounds: a name is two or three references away. */
enum { VISITS_MAX = 64 };

/* Pages of the mapped file are resident until released. */
enum { RELEASE_SZ = 16 << 20 };

int excerpt_choose(struct excerpt_work *x)
{
	uint64_t touched = 0;
	int err = 0;

	for (unsigned round = 0; x->queue && round < VISITS_MAX && !err; round++) {
		struct src_unit *now = x->queue, *next;

		x->queue = NULL;
		for (; now && !err; now = next) {
			next = now->next_queued;
			now->queued = false;
			err = visit_unit(x, now);
			touched += now->u->end - now->u->off;
			if (touched > RELEASE_SZ) {
				elf_image__release_pages(x->file.elf);
				touched = 0;
			}
		}
	}
	return err;
}
