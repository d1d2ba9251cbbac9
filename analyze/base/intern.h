/* SPDX-License-Identifier: BSD-2-Clause */
/* String interning: maps byte strings to dense ids and stores each string once. The table owns its
 * copies; they do not move until __free. */
#ifndef ANALYZE_INTERN_H
#define ANALYZE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "format/records.h"

#define INTERN_FAILED UINT32_MAX

struct intern;

int intern__new(struct intern **t);
void intern__free(struct intern *t);

/* Returns the id of these bytes, adding them if new. Ids count from 0. INTERN_FAILED: out of
 * memory. */
uint32_t intern__add(struct intern *t, struct span bytes);
/* Looks up without adding. INTERN_FAILED: not found. */
uint32_t intern__find(const struct intern *t, struct span bytes);
/* The returned span is also NUL-terminated. */
struct span intern__get(const struct intern *t, uint32_t id);
uint32_t intern__count(const struct intern *t);
/* Bytes of memory in use. */
size_t intern__held(const struct intern *t);

/* Fast hash. Unsafe for keys chosen by an attacker unless `seed` is secret; intern_seed() is
 * random. */
uint64_t intern_hash(struct span bytes, uint64_t seed);
uint64_t intern_seed(void);

#endif
