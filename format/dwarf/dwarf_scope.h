/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enclosing namespaces, types and functions of DIEs. A DIE does not refer to its parent, so the
 * scopes are found while walking over the unit: in the walk for its functions, or, for a unit that
 * is only referenced, in a separate walk when the first name in it is needed. All workers share the
 * result.
 */
#ifndef FORMAT_DWARF_SCOPE_H
#define FORMAT_DWARF_SCOPE_H

#include "format/dwarf/dwarf_die.h"

/* A DIE with functions among its descendants. */
struct scope {
	uint64_t off, end;
	uint32_t parent; /* 1 + index of the enclosing scope; 0: none */
	uint32_t depth;	 /* depth of the DIE, used while walking */
	bool used;
};

struct unit_scopes {
	struct scope *v; /* by offset */
	size_t cnt, cap;
};

/* Whether the unit's language has scopes (C++ and similar); false also for units without a
 * language, such as dwz's. */
bool dwarf_unit_has_scopes(const struct dwarf_unit *u);

/* Moves to the enclosing scope of a DIE. False: there is none, or over budget. */
bool scope_around(struct die *d, struct abbrev_cache *abbrevs, struct meter *m);

/* State of collecting scopes in a walk over all DIEs of a unit. s NULL: not collecting. */
struct scope_walk {
	struct unit_scopes *s;
	uint32_t open; /* 1 + index of the innermost scope; 0: none */
};

/* Starts collecting, unless the unit's scopes are known or its language has none. */
int scope_walk_begin(struct scope_walk *w, const struct dwarf_unit *u, struct meter *m);
/* Called before the children of a DIE whose abbreviation has `scope` set. */
int scope_walk_enter(struct scope_walk *w, uint64_t off, size_t depth, struct meter *m);
void scope_walk_leave(struct scope_walk *w, uint64_t end);
/* Called at the end of the walk; discards the scopes when err is set. */
void scope_walk_end(struct scope_walk *w, const struct dwarf_unit *u, int err);

/* Called for each function. */
static inline void scope_walk_function(struct scope_walk *w)
{
	if (w->open)
		w->s->v[w->open - 1].used = true;
}

/* Called after the last child of a DIE of this depth; `end`: its end offset. */
static inline void scope_walk_up(struct scope_walk *w, size_t depth, uint64_t end)
{
	if (w->open && w->s->v[w->open - 1].depth == depth)
		scope_walk_leave(w, end);
}

#endif
