/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/dwarf_name.h"

static struct name_slot *find_slot(const struct name_table *t, uint64_t key)
{
	size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (t->cap - 1);

	while (t->slots[i].key && t->slots[i].key != key)
		i = (i + 1) & (t->cap - 1);
	return &t->slots[i];
}

static bool make_room(struct name_table *t, struct meter *meter)
{
	struct name_table old = *t;

	if (t->cnt * 2 < t->cap)
		return true;
	t->cap = old.cap ? old.cap * 2 : 1024;
	t->slots = meter_calloc(meter, t->cap, sizeof(*t->slots));
	if (!t->slots) {
		*t = old;
		return false;
	}
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].key)
			*find_slot(t, old.slots[i].key) = old.slots[i];
	free(old.slots);
	return true;
}

struct name_slot *name_table_slot(struct name_table *t, uint64_t key, struct meter *meter)
{
	return make_room(t, meter) ? find_slot(t, key) : NULL;
}

static const struct pooled *find_name(const struct name_search *s, const struct die *d,
				      const struct dwarf_unit *asking)
{
	struct die_name n;

	die_find_name(s->abbrevs, *d, &n, s->meter);
	if (n.linkage)
		return name_pool__add_symbol(s->pool, n.linkage, s->meter);
	return n.name ? dwarf_scoped_name(s, &n, asking) : NULL;
}

static const struct pooled *name_of(const struct name_search *s, const struct die *d,
				    const struct dwarf_unit *asking)
{
	uint64_t key = (d->off << 1 | (d->u->file != s->memo->file)) + 1; /* never 0 */
	struct name_table *t = &s->memo->functions;
	struct name_slot *slot = name_table_slot(t, key, s->meter);

	if (!slot)
		return find_name(s, d, asking);
	if (!slot->key) {
		*slot = (struct name_slot){key, find_name(s, d, asking)};
		t->cnt++;
	}
	return slot->name;
}

const struct pooled *dwarf_func_name(const struct name_search *s, const struct dwarf_unit *u,
				     uint64_t die_off, struct call_site *site)
{
	struct die d = {u, die_off};
	struct die_attrs a;

	*site = (struct call_site){0};
	if (s->memo->file != u->file) {
		name_memo_fini(s->memo);
		s->memo->file = u->file;
	}
	if (!die_read(s->abbrevs, &d, &a, s->meter))
		return NULL;
	*site = a.site;
	if (a.linkage.cls == ATTR_NONE && a.name.cls == ATTR_NONE && !die_follow(&d, &a.origin))
		return NULL;
	return name_of(s, &d, u);
}

void name_memo_fini(struct name_memo *m)
{
	free(m->functions.slots);
	free(m->scopes.slots);
	*m = (struct name_memo){0};
}
