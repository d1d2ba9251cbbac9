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
	const char *text;      /* as in the file */
	const char *demangled; /* or with its scopes; NULL: the same, or not asked for yet */
};

int name_pool__new(struct name_pool **p);
void name_pool__free(struct name_pool *p);

/* NULL when out of memory, when m (NULL: no bound) does not afford it, or for a NULL text. */
const struct pooled *name_pool__add(struct name_pool *p, const char *text, struct meter *m);
/* With its demangled form worked out. */
const struct pooled *name_pool__add_symbol(struct name_pool *p, const char *text, struct meter *m);
/* A name that is not mangled, with the scopes that it stands in: "parse", "feed::Feed::parse". */
const struct pooled *name_pool__add_scoped(struct name_pool *p, const char *text,
					   const char *scoped, struct meter *m);
/* Either of these where that is known: NULL for a name that is neither mangled nor scoped. */
const struct pooled *name_pool__add_known(struct name_pool *p, const char *text,
					  const char *demangled);

#endif
