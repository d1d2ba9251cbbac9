/* SPDX-License-Identifier: BSD-2-Clause */
/* intern.h with a "no string": number 0 is NULL. Text ends at its first NUL. */
#ifndef ANALYZE_STRINGS_H
#define ANALYZE_STRINGS_H

#include <stdint.h>

#include "format/records.h"

struct strings;

int strings__new(struct strings **s);
void strings__free(struct strings *s);

/* The text's number; 0 for NULL and when memory is out (sticky: see __failed). */
uint32_t strings__add(struct strings *s, struct span text);
/* The number it has; 0: none. */
uint32_t strings__find(const struct strings *s, struct span text);
/* NULL for 0. Lives as long as the table. */
const char *strings__get(const struct strings *s, uint32_t id);
/* The memory that they take. */
size_t strings__held(const struct strings *s);
int strings__failed(const struct strings *s); /* 0 or -ENOMEM */

#endif
