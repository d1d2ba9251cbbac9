/* SPDX-License-Identifier: BSD-2-Clause */
/* String table on top of intern.h in which id 0 means "no string" (NULL). Text ends at its first
 * NUL. */
#ifndef ANALYZE_STRINGS_H
#define ANALYZE_STRINGS_H

#include <stdint.h>

#include "format/records.h"

struct strings;

int strings__new(struct strings **s);
void strings__free(struct strings *s);

/* Returns the id of the text, adding it if new. 0: NULL, or out of memory (sticky, see
 * __failed). */
uint32_t strings__add(struct strings *s, struct span text);
/* Looks up without adding. 0: not found. */
uint32_t strings__find(const struct strings *s, struct span text);
/* NULL for id 0. Valid as long as the table. */
const char *strings__get(const struct strings *s, uint32_t id);
/* Bytes of memory in use. */
size_t strings__held(const struct strings *s);
int strings__failed(const struct strings *s); /* 0 or -ENOMEM */

#endif
