/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash table from a u64 key to a non-NULL pointer. It does not own the values. Initialise it with
 * {0}. Not thread-safe. */
#ifndef RECORD_IDMAP_H
#define RECORD_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	uint64_t key;
	void *value; /* NULL: empty */
};

struct idmap {
	struct idmap_slot *slots;
	size_t cap, cnt; /* cap is 0 or a power of two */
};

void *idmap_get(const struct idmap *m, uint64_t key);
int idmap_put(struct idmap *m, uint64_t key, void *value); /* replaces; 0 or -ENOMEM */
void *idmap_del(struct idmap *m, uint64_t key);		   /* the removed value, or NULL */
void idmap_fini(struct idmap *m);

/* Iteration: for (size_t i = 0; (v = idmap_next(m, &i));). Do not put or delete during it. */
void *idmap_next(const struct idmap *m, size_t *i);

/* Mixes the bits of x so that the low bits depend on all others. Used to build keys from several
 * numbers. */
static inline uint64_t idmap_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

#endif
