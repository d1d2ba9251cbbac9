/* SPDX-License-Identifier: BSD-2-Clause */
#include <dwarf.h>

#include "analyze/symbol/dwarf_name.h"
#include "analyze/symbol/symbol.h"
#include "format/demangle.h"
#include "format/dwarf/symbol_budget.h"

/* Limits for hostile files; beyond them only the plain name is shown. Template arguments make real
 * names up to some thousand bytes long. */
enum { SCOPES_MAX = 32, SCOPED_MAX = 16 << 10 };

/* One scope around a function, innermost first. */
struct level {
	uint64_t key; /* key in the memo */
	const char *name;
	char *owned; /* or NULL */
	bool whole;  /* the name includes the enclosing scopes */
};

struct chain {
	struct level v[SCOPES_MAX];
	size_t cnt;
	const char *known; /* enclosing scope of the outermost level; NULL: none */
};

static bool starts_with(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

/* gcc 12 and clang give the class of a lambda no name. */
static bool is_lambda_member(const char *name)
{
	static const char *const members[] = {"operator()", "_FUN", "__invoke", "<lambda",
					      "~<lambda"};

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (starts_with(name, members[i]))
			return true;
	return false;
}

/* "typedef struct { ... } T": gcc gives the class the linkage name of T. */
static char *name_of_typedef(const char *linkage, struct meter *m)
{
	char mangled[256];

	if (strnlen(linkage, 240) == 240 || !meter_work(m, 32 * strlen(linkage)))
		return NULL;
	stpcpy(stpcpy(mangled, "_Z"), linkage);
	return demangle(mangled);
}

static bool name_function(struct level *l, const struct die_name *n, struct meter *m)
{
	if (n->linkage) {
		l->whole = true;
		l->name = n->linkage;
		if (!meter_work(m, 32 * strnlen(n->linkage, SCOPED_MAX)))
			return false;
		l->owned = demangle_scope(n->linkage);
		if (l->owned)
			l->name = l->owned;
	}
	return l->name != NULL;
}

static bool name_level(struct level *l, const struct die_name *n, const char *inner,
		       struct meter *m)
{
	l->name = n->name;
	switch (n->attrs.tag) {
	case DW_TAG_subprogram:
		return name_function(l, n, m);
	case DW_TAG_namespace:
	case DW_TAG_module:
		if (!l->name)
			l->name = "(anonymous namespace)";
		return true;
	default:
		if (l->name)
			return true;
		if (n->attrs.has_signature) /* its name is in a type unit */
			return false;
		if (n->linkage)
			l->name = l->owned = name_of_typedef(n->linkage, m);
		if (!l->name)
			l->name = is_lambda_member(inner) ? "{lambda}" : "{unnamed type}";
		return true;
	}
}

/* Collects levels up to one whose name is known. False: one has no name, or there are too many. */
static bool collect(const struct name_search *s, struct chain *c, struct die d, const char *inner)
{
	while (scope_around(&d, s->abbrevs, s->meter)) {
		struct level *l = &c->v[c->cnt];
		struct name_slot *known;
		struct die_name n;

		if (c->cnt == SCOPES_MAX)
			return false;
		*l = (struct level){
			.key = ((d.off << 1 | (d.u->file != s->memo->file)) << 1 |
				is_lambda_member(inner)) +
			       1,
		};
		known = name_table_slot(&s->memo->scopes, l->key, s->meter);
		if (known && known->key) {
			c->known = known->name ? known->name->text : NULL;
			return known->name != NULL;
		}
		die_find_name(s->abbrevs, d, &n, s->meter);
		c->cnt++;
		if (!name_level(l, &n, inner, s->meter))
			return false;
		if (l->whole)
			return true;
		inner = l->name;
		d = n.last;
	}
	return true;
}

/* Writes "outer::inner" to buf. False: too long. */
static bool join(char *buf, const char *outer, const char *inner, struct meter *m)
{
	size_t a = strnlen(outer, SCOPED_MAX), b = strnlen(inner, SCOPED_MAX);

	if (!meter_work(m, 1 + (a + b) / 8) || a + b + 3 > SCOPED_MAX)
		return false;
	memmove(buf, outer, a);
	memcpy(buf + a, "::", 2);
	memcpy(buf + a + 2, inner, b + 1);
	return true;
}

/* Joins the names of all levels and memoizes each. NULL: no name. */
static const char *join_levels(const struct name_search *s, const struct chain *c, char *buf)
{
	const char *outer = c->known;

	for (size_t i = c->cnt; i-- > 0;) {
		struct name_slot *slot = name_table_slot(&s->memo->scopes, c->v[i].key, s->meter);
		const struct pooled *p;

		if (outer && !join(buf, outer, c->v[i].name, s->meter))
			return NULL;
		if (!outer && strnlen(c->v[i].name, SCOPED_MAX) == SCOPED_MAX)
			return NULL;
		p = name_pool__add(s->pool, outer ? buf : c->v[i].name, s->meter);
		if (!p)
			return NULL;
		outer = p->text;
		if (slot && !slot->key) {
			*slot = (struct name_slot){c->v[i].key, p};
			s->memo->scopes.cnt++;
		}
	}
	return outer;
}

const struct pooled *dwarf_scoped_name(const struct name_search *s, const struct die_name *n,
				       const struct dwarf_unit *asking)
{
	/* dwz's units may have no language */
	const struct dwarf_unit *u = n->last.u->language ? n->last.u : asking;
	struct chain c = {0};
	char buf[SCOPED_MAX];
	const char *scopes = NULL;

	if (!dwarf_unit_has_scopes(u))
		return name_pool__add_symbol(s->pool, n->name, s->meter);
	if (collect(s, &c, n->last, n->name))
		scopes = join_levels(s, &c, buf);
	for (size_t i = 0; i < c.cnt; i++)
		free(c.v[i].owned);
	if (!scopes || !join(buf, scopes, n->name, s->meter))
		return name_pool__add_symbol(s->pool, n->name, s->meter);
	return name_pool__add_scoped(s->pool, n->name, buf, s->meter);
}
