/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/unwind/unwind_rules.h"

static uint32_t hash(const struct rule *r)
{
	uint32_t w[3];
	uint64_t h;

	_Static_assert(sizeof(w) == sizeof(*r), "rules are 12 bytes");
	memcpy(w, r, sizeof(w));
	h = (w[0] | (uint64_t)w[1] << 32) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 29 ^ w[2]) * 0xbf58476d1ce4e5b9ULL;
	return h >> 32;
}

static int buckets_grow(struct rule_set *s)
{
	size_t cnt = s->bucket_cnt ? 2 * s->bucket_cnt : 512;
	uint32_t *b = calloc(cnt, sizeof(*b));

	if (!b)
		return -ENOMEM;
	for (size_t i = 0; i < s->cnt; i++) {
		size_t at = hash(&s->v[i]) & (cnt - 1);

		while (b[at])
			at = (at + 1) & (cnt - 1);
		b[at] = i + 1;
	}
	free(s->buckets);
	s->buckets = b;
	s->bucket_cnt = cnt;
	return 0;
}

static int append(struct rule_set *s, const struct rule *rule)
{
	if (s->cnt == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 256;
		struct rule *v = realloc(s->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->cnt++] = *rule;
	return 0;
}

int rule_set__intern(struct rule_set *s, const struct rule *rule, uint32_t *id)
{
	size_t at;

	if (2 * (s->cnt + 1) > s->bucket_cnt && buckets_grow(s))
		return -ENOMEM;
	for (at = hash(rule) & (s->bucket_cnt - 1); s->buckets[at];
	     at = (at + 1) & (s->bucket_cnt - 1)) {
		if (!memcmp(&s->v[s->buckets[at] - 1], rule, sizeof(*rule))) {
			*id = s->buckets[at] - 1;
			return 0;
		}
	}
	*id = RULE_ID_BAD;
	if (s->cnt == RULE_CNT)
		return 0;
	if (append(s, rule))
		return -ENOMEM;
	*id = s->cnt - 1;
	s->buckets[at] = s->cnt;
	return 0;
}

int rule_set__init(struct rule_set *s)
{
	const struct rule none = {0}, bad = {.cfa = CFA_BAD};
	uint32_t id;
	int err;

	memset(s, 0, sizeof(*s));
	err = rule_set__intern(s, &none, &id);
	return err ? err : rule_set__intern(s, &bad, &id);
}

void rule_set__fini(struct rule_set *s)
{
	free(s->v);
	free(s->buckets);
	memset(s, 0, sizeof(*s));
}

struct rule *rule_set__take(struct rule_set *s)
{
	struct rule *v = realloc(s->v, s->cnt * sizeof(*v));

	if (!v)
		v = s->v;
	s->v = NULL;
	rule_set__fini(s);
	return v;
}
