/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/index.h"

struct rates {
	struct index index;
	struct rate **v; /* allocated separately: they are few but large */
	size_t cnt, cap;
	uint64_t start_ns, interval_ns;
};

int rates__new(struct rates **out, uint64_t start_ns)
{
	struct rates *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return -ENOMEM;
	r->start_ns = start_ns;
	r->interval_ns = 1000000000;
	return 0;
}

void rates__free(struct rates *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->cnt; i++)
		free(r->v[i]);
	index_fini(&r->index);
	free(r->v);
	free(r);
}

static bool key_equal(const void *owner, uint32_t i, const void *key)
{
	return !memcmp(&((const struct rates *)owner)->v[i]->key, key, sizeof(struct rate_key));
}

static uint64_t key_hash(const struct rate_key *k)
{
	return hash_mix(hash_mix((uint64_t)k->client << 32 | k->server) ^
			((uint64_t)k->at_client << 32 | k->protocol));
}

static struct rate *rate_of(struct rates *r, struct rate_key key)
{
	uint64_t hash;
	uint32_t i;

	for (;;) {
		hash = key_hash(&key);
		if (index_find(&r->index, key_equal, r, hash, &key, &i))
			return r->v[i];
		if (key.client && r->cnt >= RATE_MAX)
			key.client = 0;
		else if (key.server && r->cnt >= 2 * RATE_MAX)
			key = (struct rate_key){.at_client = key.at_client};
		else
			break;
	}
	if (array_reserve(&r->v, &r->cap, r->cnt + 1) ||
	    !(r->v[r->cnt] = calloc(1, sizeof(**r->v))))
		return NULL;
	r->v[r->cnt]->key = key;
	if (index_add(&r->index, hash, r->cnt)) {
		free(r->v[r->cnt]);
		return NULL;
	}
	return r->v[r->cnt++];
}

static void halve(double *slots)
{
	for (int i = 0; i < RATE_SLOTS; i++)
		slots[i] = i < RATE_SLOTS / 2 ? slots[2 * i] + slots[2 * i + 1] : 0;
}

static void double_interval(struct rates *r)
{
	r->interval_ns *= 2;
	for (size_t i = 0; i < r->cnt; i++) {
		halve(r->v[i]->calls);
		halve(r->v[i]->errors);
	}
}

int rates__add(struct rates *r, const struct rate_key *key, uint64_t at_ns, double calls,
	       double errors)
{
	uint64_t since_ns = at_ns > r->start_ns ? at_ns - r->start_ns : 0;
	struct rate *rate;

	while (since_ns / r->interval_ns >= RATE_SLOTS)
		double_interval(r);
	rate = rate_of(r, *key);
	if (!rate)
		return -ENOMEM;
	rate->calls[since_ns / r->interval_ns] += calls;
	rate->errors[since_ns / r->interval_ns] += errors;
	return 0;
}

const struct rate *rates__find(const struct rates *r, const struct rate_key *key)
{
	uint32_t i;

	return index_find(&r->index, key_equal, r, key_hash(key), key, &i) ? r->v[i] : NULL;
}

size_t rates__cnt(const struct rates *r)
{
	return r->cnt;
}

const struct rate *rates__get(const struct rates *r, size_t i)
{
	return r->v[i];
}

uint64_t rates__interval_ns(const struct rates *r)
{
	return r->interval_ns;
}
