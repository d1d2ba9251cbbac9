/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings kept once, with their demangled form. Thread-safe; what it returns lives as long as the
 * pool. */
#ifndef ANALYZE_SYMBOL_NAME_POOL_H
#define ANALYZE_SYMBOL_NAME_POOL_H

#include <stddef.h>
#include <stdint.h>

struct meter;
struct name_pool;

struct pooled {
	const char *text;      /* as given */
	const char *demangled; /* NULL: not mangled, or not asked for yet */
};

int name_pool__new(struct name_pool **p);
void name_pool__free(struct name_pool *p);

/* NULL when out of memory, when m (NULL: no bound) does not afford it, or for a NULL text. */
const struct pooled *name_pool__add(struct name_pool *p, const char *text, struct meter *m);
/* With its demangled form worked out. */
const struct pooled *name_pool__add_symbol(struct name_pool *p, const char *text, struct meter *m);
/* The same where that is known: NULL for a name that is not mangled. */
const struct pooled *name_pool__add_known(struct name_pool *p, const char *text,
					  const char *demangled);

#endif
