/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_scope.h"

#include <dwarf.h>

bool dwarf_unit_has_scopes(const struct dwarf_unit *u)
{
	switch (u->language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2a: /* DW_LANG_C_plus_plus_17 */
	case 0x2b: /* DW_LANG_C_plus_plus_20 */
	case DW_LANG_ObjC_plus_plus:
	case DW_LANG_Rust:
		return true;
	default:
		return false;
	}
}

static _Atomic(struct unit_scopes *) *slot_of(const struct dwarf_unit *u)
{
	return &u->file->scopes[u - u->file->units];
}

static int begin(struct scope_walk *w, struct meter *m)
{
	*w = (struct scope_walk){.s = meter_calloc(m, 1, sizeof(*w->s))};
	return w->s ? 0 : meter_error(m);
}

int scope_walk_begin(struct scope_walk *w, const struct dwarf_unit *u, struct meter *m)
{
	*w = (struct scope_walk){0};
	return dwarf_unit_has_scopes(u) && !atomic_load(slot_of(u)) ? begin(w, m) : 0;
}

int scope_walk_enter(struct scope_walk *w, uint64_t off, size_t depth, struct meter *m)
{
	struct unit_scopes *s = w->s;

	if (!s)
		return 0;
	if (s->cnt >= UINT32_MAX - 1 || depth > UINT32_MAX ||
	    meter_grow(m, &s->v, &s->cap, s->cnt + 1, sizeof(*s->v)))
		return meter_error(m);
	s->v[s->cnt++] = (struct scope){.off = off, .parent = w->open, .depth = (uint32_t)depth};
	w->open = (uint32_t)s->cnt;
	return 0;
}

/* Removes a scope without functions: it is the last one, because scopes inside it were removed
 * before. */
void scope_walk_leave(struct scope_walk *w, uint64_t end)
{
	struct unit_scopes *s = w->s;
	struct scope *x = &s->v[w->open - 1];

	w->open = x->parent;
	if (!x->used) {
		s->cnt--;
		return;
	}
	x->end = end;
	if (x->parent)
		s->v[x->parent - 1].used = true;
}

/* Two workers may walk at the same time: the first result is kept. */
void scope_walk_end(struct scope_walk *w, const struct dwarf_unit *u, int err)
{
	struct unit_scopes *first = NULL;

	while (!err && w->open)
		scope_walk_leave(w, u->end);
	if (w->s && (err || !atomic_compare_exchange_strong(slot_of(u), &first, w->s)))
		dwarf_scopes_free(w->s);
	w->s = NULL;
}

static int walk_dies(struct scope_walk *w, const struct dwarf_unit *u,
		     const struct abbrev_table *ab, struct meter *m)
{
	struct bytes info = u->file->sec.info;
	struct cursor c = cursor_at(bytes_sub(info, 0, u->end), u->die_off);
	size_t depth = 0;
	int err = 0;

	while (!err && c.p < c.end) {
		uint64_t off = (uint64_t)(c.p - info.p), code = cursor_uleb(&c);
		const struct abbrev *a;

		if (!code) {
			if (depth <= 1)
				break;
			scope_walk_up(w, --depth, (uint64_t)(c.p - info.p));
			continue;
		}
		a = abbrev_table_find(ab, code);
		if (!a)
			break;
		if (!meter_work(m, a->fixed_sz < 0 ? 1 + a->attr_cnt : 1))
			return -E2BIG;
		abbrev_skip(ab, a, u, &c);
		if (a->tag == DW_TAG_subprogram)
			scope_walk_function(w);
		if (a->scope)
			err = scope_walk_enter(w, off, depth, m);
		if (a->children)
			depth++;
		else if (!depth)
			break;
	}
	return err;
}

static const struct unit_scopes *scopes_of(const struct dwarf_unit *u, struct abbrev_cache *abbrevs,
					   struct meter *m)
{
	struct unit_scopes *s = atomic_load(slot_of(u));
	const struct abbrev_table *ab;
	struct scope_walk w;
	int err;

	if (s)
		return s;
	ab = abbrev_cache_get(abbrevs, u, m);
	if (!ab || begin(&w, m))
		return NULL;
	err = meter_work(m, (u->end - u->off) / 8) ? walk_dies(&w, u, ab, m) : -E2BIG;
	scope_walk_end(&w, u, err);
	return err ? NULL : atomic_load(slot_of(u));
}

bool scope_around(struct die *d, struct abbrev_cache *abbrevs, struct meter *m)
{
	const struct unit_scopes *s = scopes_of(d->u, abbrevs, m);
	size_t lo = 0, hi = s ? s->cnt : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].off < d->off)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo && s->v[lo - 1].end <= d->off) {
		if (!meter_work(m, 1))
			return false;
		lo = s->v[lo - 1].parent;
	}
	if (!lo)
		return false;
	d->off = s->v[lo - 1].off;
	return true;
}

void dwarf_scopes_free(struct unit_scopes *s)
{
	if (s)
		free(s->v);
	free(s);
}
