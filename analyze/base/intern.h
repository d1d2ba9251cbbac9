/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte strings to dense ids, each kept once. The table owns its copies, which stay put until
 * __free. */
#ifndef ANALYZE_INTERN_H
#define ANALYZE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "format/records.h"

#define INTERN_FAILED UINT32_MAX

struct intern;

int intern__new(struct intern **t);
void intern__free(struct intern *t);

/* The id of these bytes, counted from 0 in order of first sight; INTERN_FAILED: out of memory. */
uint32_t intern__add(struct intern *t, struct span bytes);
/* The same without adding; INTERN_FAILED: it is not there. */
uint32_t intern__find(const struct intern *t, struct span bytes);
/* NUL-terminated besides. */
struct span intern__get(const struct intern *t, uint32_t id);
uint32_t intern__count(const struct intern *t);
/* The memory that it takes. */
size_t intern__held(const struct intern *t);

/* A fast hash, not for keys an enemy may choose unless `seed` is secret: intern_seed() is random.
 */
uint64_t intern_hash(struct span bytes, uint64_t seed);
uint64_t intern_seed(void);

#endif
