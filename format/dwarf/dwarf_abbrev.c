/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_abbrev.h"

#include <dwarf.h>

void abbrev_table_fini(struct abbrev_table *t)
{
	free(t->v);
	free(t->attrs);
	*t = (struct abbrev_table){0};
}

static void add_size(struct abbrev *a, int sz)
{
	if (sz < 0 || a->fixed_sz < 0 || a->fixed_sz > 1 << 20)
		a->fixed_sz = -1;
	else
		a->fixed_sz += sz;
}

/* Inlined calls are not scopes: declarations inside a function are in its abstract instance. */
static bool is_scope(uint64_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type: /* of Rust */
	case DW_TAG_subprogram:
		return true;
	default:
		return false;
	}
}

/* Reads one entry: code, tag, children flag, then pairs of name and form up to 0, 0. */
static int read_entry(struct abbrev_table *t, const struct dwarf_unit *u, struct cursor *c,
		      uint64_t code, struct meter *m)
{
	struct abbrev a = {.code = code, .first_attr = (uint32_t)t->attr_cnt};
	uint64_t tag = cursor_uleb(c);

	a.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	a.children = cursor_u8(c) == DW_CHILDREN_yes;
	a.scope = a.children && is_scope(tag);
	while (!c->bad) {
		uint64_t name = cursor_uleb(c), form = cursor_uleb(c);
		int64_t implicit = 0;
		int sz;

		if (form == DW_FORM_implicit_const)
			implicit = cursor_sleb(c);
		if (!name && !form)
			break;
		if (form > UINT16_MAX) {
			cursor_fail(c);
			break;
		}
		if (meter_grow(m, &t->attrs, &t->attr_cap, t->attr_cnt + 1, sizeof(*t->attrs)))
			return meter_error(m);
		sz = dwarf_form_size(u, (unsigned)form);
		t->attrs[t->attr_cnt++] = (struct attr_spec){
			.name = name > UINT16_MAX ? 0 : (uint16_t)name,
			.form = (uint16_t)form,
			.sz = (int8_t)sz,
			.implicit = implicit,
		};
		a.attr_cnt++;
		a.has_pc |= name == DW_AT_low_pc || name == DW_AT_ranges;
		add_size(&a, sz);
	}
	if (c->bad)
		return 0;
	if (meter_grow(m, &t->v, &t->cap, t->cnt + 1, sizeof(*t->v)))
		return meter_error(m);
	t->dense = (!t->cnt || t->dense) && code == t->cnt + 1;
	t->v[t->cnt++] = a;
	return 0;
}

static int by_code(const void *a, const void *b)
{
	const struct abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

/* Charges one step per byte of an entry, because tables are shared and read again for each unit. */
int abbrev_table_load(struct abbrev_table *t, const struct dwarf_unit *u, uint64_t only_code,
		      struct meter *m)
{
	struct cursor c = cursor_at(u->file->sec.abbrev, u->abbrev_off);
	int err = 0;

	*t = (struct abbrev_table){0};
	while (!c.bad && !err) {
		const uint8_t *start = c.p;
		uint64_t code = cursor_uleb(&c);

		if (code)
			err = read_entry(t, u, &c, code, m);
		if (!err && !meter_work(m, 1 + (uint64_t)(c.p - start)))
			err = -E2BIG;
		if (!code || code == only_code)
			break;
	}
	if (!err && !t->dense && !meter_sort(m, t->cnt))
		err = -E2BIG;
	if (err)
		abbrev_table_fini(t);
	else if (!t->dense && t->cnt)
		qsort(t->v, t->cnt, sizeof(*t->v), by_code);
	return err;
}

const struct abbrev *abbrev_table_find(const struct abbrev_table *t, uint64_t code)
{
	size_t lo = 0, hi = t->cnt;

	if (t->dense)
		return code - 1 < t->cnt ? &t->v[code - 1] : NULL;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].code < code)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->cnt && t->v[lo].code == code ? &t->v[lo] : NULL;
}

void abbrev_skip(const struct abbrev_table *t, const struct abbrev *a, const struct dwarf_unit *u,
		 struct cursor *c)
{
	const struct attr_spec *s;

	if (a->fixed_sz >= 0) {
		cursor_skip(c, (uint64_t)a->fixed_sz);
		return;
	}
	s = t->attrs + a->first_attr; /* at least one has no fixed size */
	for (uint32_t i = 0; i < a->attr_cnt; i++, s++) {
		struct attr_value v;

		if (s->sz >= 0)
			cursor_skip(c, (uint64_t)s->sz);
		else
			dwarf_form_read(c, u, s->form, s->implicit, &v);
	}
}

const struct abbrev_table *abbrev_cache_get(struct abbrev_cache *c, const struct dwarf_unit *u,
					    struct meter *m)
{
	struct abbrev_cached *oldest = &c->slots[0];

	for (unsigned i = 0; i < ABBREV_CACHE; i++) {
		struct abbrev_cached *s = &c->slots[i];

		if (s->file == u->file && s->off == u->abbrev_off && s->addr_sz == u->addr_sz &&
		    s->off_sz == u->off_sz && s->version == u->version) {
			s->used = ++c->clock;
			return &s->table;
		}
		if (s->used < oldest->used)
			oldest = s;
	}
	abbrev_table_fini(&oldest->table);
	*oldest = (struct abbrev_cached){0};
	if (abbrev_table_load(&oldest->table, u, 0, m))
		return NULL;
	oldest->file = u->file;
	oldest->off = u->abbrev_off;
	oldest->addr_sz = u->addr_sz;
	oldest->off_sz = u->off_sz;
	oldest->version = (uint8_t)u->version;
	oldest->used = ++c->clock;
	return &oldest->table;
}

void abbrev_cache_drop(struct abbrev_cache *c, const struct dwarf_file *f)
{
	for (unsigned i = 0; i < ABBREV_CACHE; i++) {
		if (c->slots[i].file != f)
			continue;
		abbrev_table_fini(&c->slots[i].table);
		c->slots[i] = (struct abbrev_cached){0};
	}
}

void abbrev_cache_fini(struct abbrev_cache *c)
{
	for (unsigned i = 0; i < ABBREV_CACHE; i++)
		abbrev_table_fini(&c->slots[i].table);
	*c = (struct abbrev_cache){0};
}
