/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which namespaces, types and functions the DIEs of a unit are in. A DIE does not refer to its
 * parent, so a walk over the unit finds out: the one for its functions, or of a unit that is only
 * referred to one of its own, when the first name in it is asked for. All workers share the result.
 */
#ifndef ANALYZE_SYMBOL_DWARF_SCOPE_H
#define ANALYZE_SYMBOL_DWARF_SCOPE_H

#include "analyze/symbol/dwarf_die.h"

/* A DIE that has functions among its descendants. */
struct scope {
	uint64_t off, end;
	uint32_t parent; /* 1 + index of the scope around it; 0: none */
	uint32_t depth;	 /* of the DIE, while walking */
	bool used;
};

struct unit_scopes {
	struct scope *v; /* by offset */
	size_t cnt, cap;
};

/* C++ and the like; false too where the unit does not say its language, as dwz's. */
bool dwarf_unit_has_scopes(const struct dwarf_unit *u);

/* Moves to the scope around a DIE. False: it is in none, or more than is afforded. */
bool scope_around(struct die *d, struct abbrev_cache *abbrevs, struct meter *m);

/* What a walk over all DIEs of a unit calls. s NULL: nobody wants to know. */
struct scope_walk {
	struct unit_scopes *s;
	uint32_t open; /* 1 + index of the innermost; 0: none */
};

/* Unless the unit's scopes are known, or it has none. */
int scope_walk_begin(struct scope_walk *w, const struct dwarf_unit *u, struct meter *m);
/* Before the children of a DIE whose abbreviation says that it is a scope. */
int scope_walk_enter(struct scope_walk *w, uint64_t off, size_t depth, struct meter *m);
void scope_walk_leave(struct scope_walk *w, uint64_t end);
/* The walk is over; with an error nothing is kept. */
void scope_walk_end(struct scope_walk *w, const struct dwarf_unit *u, int err);

/* At a function. */
static inline void scope_walk_function(struct scope_walk *w)
{
	if (w->open)
		w->s->v[w->open - 1].used = true;
}

/* After the last child of a DIE of this depth, at the offset where that ends. */
static inline void scope_walk_up(struct scope_walk *w, size_t depth, uint64_t end)
{
	if (w->open && w->s->v[w->open - 1].depth == depth)
		scope_walk_leave(w, end);
}

#endif
