/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/dwarf_name.h"

#include <dwarf.h>

enum {
	HOPS_MAX = 16
}; /* abstract origin, specification, ...: three are normal; a cycle ends here */

struct die {
	const struct dwarf_unit *u;
	uint64_t off;
};

struct die_attrs {
	struct attr_value linkage, name, origin;
	struct call_site site;
};

static bool read_die(struct abbrev_cache *cache, const struct die *d, struct die_attrs *out,
		     struct meter *m)
{
	struct cursor c = cursor_at(bytes_sub(d->u->file->sec.info, 0, d->u->end), d->off);
	const struct abbrev_table *t = abbrev_cache_get(cache, d->u, m);
	const uint8_t *start = c.p;
	const struct abbrev *a = t ? abbrev_table_find(t, cursor_uleb(&c)) : NULL;

	*out = (struct die_attrs){0};
	if (!meter_work(m, 1 + (a ? a->attr_cnt : 0)))
		return false;
	for (uint32_t i = 0; a && i < a->attr_cnt && !c.bad; i++) {
		const struct attr_spec *s = &t->attrs[a->first_attr + i];
		struct attr_value v;

		dwarf_form_read(&c, d->u, s->form, s->implicit, &v);
		switch (s->name) {
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			out->linkage = v;
			break;
		case DW_AT_name:
			out->name = v;
			break;
		case DW_AT_abstract_origin:
			out->origin = v;
			break;
		case DW_AT_specification:
			if (out->origin.cls == ATTR_NONE)
				out->origin = v;
			break;
		case DW_AT_call_file:
			out->site.file = v.u;
			break;
		case DW_AT_call_line:
			out->site.line = v.u;
			break;
		}
	}
	return meter_work(m, (uint64_t)(c.p - start) / 8) && a && !c.bad;
}

/* The DIE that a reference leads to. */
static bool follow(struct die *d, const struct attr_value *v)
{
	const struct dwarf_file *f = d->u->file;

	if (v->cls == ATTR_REF_ALT)
		f = f->alt;
	else if (v->cls != ATTR_REF)
		return false;
	if (!f)
		return false;
	d->off = v->u;
	if (f != d->u->file || v->u < d->u->die_off || v->u >= d->u->end)
		d->u = dwarf_file_unit(f, v->u);
	return d->u != NULL;
}

static const char *find_name(struct abbrev_cache *cache, struct die d, struct meter *m)
{
	const char *name = NULL;

	for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
		struct die_attrs a;
		const char *linkage;

		if (!read_die(cache, &d, &a, m))
			break;
		linkage = dwarf_attr_string(d.u, &a.linkage);
		if (linkage)
			return linkage;
		if (!name)
			name = dwarf_attr_string(d.u, &a.name);
		if (!follow(&d, &a.origin))
			break;
	}
	return name;
}

static struct name_memo_slot *find_slot(struct name_memo *m, uint64_t key)
{
	size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (m->cap - 1);

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static bool make_room(struct name_memo *m, struct meter *meter)
{
	struct name_memo old = *m;

	if (m->cnt * 2 < m->cap)
		return true;
	m->cap = old.cap ? old.cap * 2 : 1024;
	m->slots = meter_calloc(meter, m->cap, sizeof(*m->slots));
	if (!m->slots) {
		*m = old;
		return false;
	}
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].key)
			*find_slot(m, old.slots[i].key) = old.slots[i];
	free(old.slots);
	return true;
}

static const struct pooled *name_of(struct name_memo *m, struct abbrev_cache *cache,
				    const struct die *d, struct name_pool *pool,
				    struct meter *meter)
{
	uint64_t key = (d->off << 1 | (d->u->file != m->file)) + 1; /* never 0 */
	struct name_memo_slot *s;
	const struct pooled *name;

	if (!make_room(m, meter))
		return name_pool__add_symbol(pool, find_name(cache, *d, meter), meter);
	s = find_slot(m, key);
	if (s->key)
		return s->name;
	name = name_pool__add_symbol(pool, find_name(cache, *d, meter), meter);
	*s = (struct name_memo_slot){key, name};
	m->cnt++;
	return name;
}

const struct pooled *dwarf_func_name(struct name_memo *m, struct abbrev_cache *abbrevs,
				     const struct dwarf_unit *u, uint64_t die_off,
				     struct name_pool *pool, struct call_site *site,
				     struct meter *meter)
{
	struct die d = {u, die_off};
	struct die_attrs a;

	*site = (struct call_site){0};
	if (m->file != u->file) {
		name_memo_fini(m);
		m->file = u->file;
	}
	if (!read_die(abbrevs, &d, &a, meter))
		return NULL;
	*site = a.site;
	if (a.linkage.cls == ATTR_NONE && a.name.cls == ATTR_NONE && !follow(&d, &a.origin))
		return NULL;
	return name_of(m, abbrevs, &d, pool, meter);
}

void name_memo_fini(struct name_memo *m)
{
	free(m->slots);
	*m = (struct name_memo){0};
}
