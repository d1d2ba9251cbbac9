/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_die.h"

#include <dwarf.h>

enum {
	HOPS_MAX = 16
}; /* abstract origin, specification, ...: normally at most three; limits cycles */

static void take_attr(struct die_attrs *out, unsigned name, const struct attr_value *v)
{
	switch (name) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		out->linkage = *v;
		break;
	case DW_AT_name:
		out->name = *v;
		break;
	case DW_AT_abstract_origin:
		out->origin = *v;
		break;
	case DW_AT_specification:
		if (out->origin.cls == ATTR_NONE)
			out->origin = *v;
		break;
	case DW_AT_signature:
		out->has_signature = true;
		break;
	case DW_AT_call_file:
		out->site.file = v->u;
		break;
	case DW_AT_call_line:
		out->site.line = v->u;
		break;
	}
}

bool die_read(struct abbrev_cache *cache, const struct die *d, struct die_attrs *out,
	      struct meter *m)
{
	struct cursor c = cursor_at(bytes_sub(d->u->file->sec.info, 0, d->u->end), d->off);
	const struct abbrev_table *t = abbrev_cache_get(cache, d->u, m);
	const uint8_t *start = c.p;
	const struct abbrev *a = t ? abbrev_table_find(t, cursor_uleb(&c)) : NULL;

	*out = (struct die_attrs){.tag = a ? a->tag : 0};
	if (!meter_work(m, 1 + (a ? a->attr_cnt : 0)))
		return false;
	for (uint32_t i = 0; a && i < a->attr_cnt && !c.bad; i++) {
		const struct attr_spec *s = &t->attrs[a->first_attr + i];
		struct attr_value v;

		dwarf_form_read(&c, d->u, s->form, s->implicit, &v);
		take_attr(out, s->name, &v);
	}
	return meter_work(m, (uint64_t)(c.p - start) / 8) && a && !c.bad;
}

bool die_follow(struct die *d, const struct attr_value *v)
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

void die_find_name(struct abbrev_cache *cache, struct die d, struct die_name *out, struct meter *m)
{
	*out = (struct die_name){.last = d};
	for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
		struct die_attrs a;

		if (!die_read(cache, &d, &a, m))
			break;
		out->last = d;
		out->attrs = a;
		out->linkage = dwarf_attr_string(d.u, &a.linkage);
		if (!out->name)
			out->name = dwarf_attr_string(d.u, &a.name);
		if (out->linkage || !die_follow(&d, &a.origin))
			break;
	}
}
