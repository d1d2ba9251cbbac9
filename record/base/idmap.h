/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table from u64 to a pointer that is not NULL; owns neither. Init with {0}. Not
 * thread-safe. */
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
void *idmap_del(struct idmap *m, uint64_t key);		   /* what was there, or NULL */
void idmap_fini(struct idmap *m);

/* Walk: for (size_t i = 0; (v = idmap_next(m, &i));). Nothing may be put or deleted meanwhile. */
void *idmap_next(const struct idmap *m, size_t *i);

/* Mixes its argument so that the low bits depend on all of it; for keys made of several numbers. */
static inline uint64_t idmap_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

#endif
