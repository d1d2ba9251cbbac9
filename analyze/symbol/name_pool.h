/* SPDX-License-Identifier: BSD-2-Clause */
/* Interned strings with their demangled form. Thread-safe. Returned names are valid as long as the
 * pool. */
#ifndef ANALYZE_SYMBOL_NAME_POOL_H
#define ANALYZE_SYMBOL_NAME_POOL_H

#include <stddef.h>
#include <stdint.h>

struct meter;
struct name_pool;

struct pooled {
	const char *text;      /* as in the file */
	const char *demangled; /* or qualified; NULL: same as text, or not demangled yet */
};

int name_pool__new(struct name_pool **p);
void name_pool__free(struct name_pool *p);

/* NULL: text is NULL, out of memory, or over the budget of m (m NULL: no limit). */
const struct pooled *name_pool__add(struct name_pool *p, const char *text, struct meter *m);
/* Also demangles the name. */
const struct pooled *name_pool__add_symbol(struct name_pool *p, const char *text, struct meter *m);
/* Adds a name that is not mangled, with its qualified form: "parse", "feed::Feed::parse". */
const struct pooled *name_pool__add_scoped(struct name_pool *p, const char *text,
					   const char *scoped, struct meter *m);
/* Adds a name whose demangled or qualified form is already known. demangled: NULL if it has
 * neither. */
const struct pooled *name_pool__add_known(struct name_pool *p, const char *text,
					  const char *demangled);

#endif
