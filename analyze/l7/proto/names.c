/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/proto/names.h"

static struct name **bucket(const struct names *n, struct span key)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < key.len; i++)
		h = (h ^ (unsigned char)key.p[i]) * 16777619u;
	return &n->buckets[(h ^ h >> 16) % NAMES_MAX];
}

static struct name **find(const struct names *n, struct span key)
{
	struct name **at = bucket(n, key);

	while (*at && ((*at)->key.len != key.len || memcmp((*at)->key.p, key.p, key.len)))
		at = &(*at)->next;
	return at;
}

static void drop(struct names *n, struct name **at)
{
	struct name *gone = *at;

	*at = gone->next;
	free(gone);
	n->cnt--;
}

/* Called rarely: only for connections that prepare statements without end, once per half a
 * table. */
static void forget_older_half(struct names *n)
{
	for (size_t i = 0; i < NAMES_MAX; i++)
		for (struct name **at = &n->buckets[i]; *at;)
			if ((*at)->number + NAMES_MAX / 2 < n->last_number)
				drop(n, at);
			else
				at = &(*at)->next;
}

static struct span keep(char **p, struct span s)
{
	struct span copy = {*p, s.len};

	if (s.len)
		memcpy(*p, s.p, s.len);
	*p += s.len;
	return copy;
}

void names_put(struct names *n, struct span key, struct span method, struct span target)
{
	struct name *name = malloc(sizeof(*name) + key.len + method.len + target.len), **at;
	char *p;

	if (!name)
		return;
	if (!n->buckets)
		n->buckets = calloc(NAMES_MAX, sizeof(*n->buckets));
	if (!n->buckets) {
		free(name);
		return;
	}
	if (n->cnt >= NAMES_MAX)
		forget_older_half(n);
	p = (char *)(name + 1);
	*name = (struct name){.key = keep(&p, key),
			      .method = keep(&p, method),
			      .target = keep(&p, target),
			      .number = ++n->last_number};
	at = find(n, key);
	if (*at)
		drop(n, at);
	at = bucket(n, name->key);
	name->next = *at;
	*at = name;
	n->cnt++;
}

const struct name *names_get(const struct names *n, struct span key)
{
	return n->buckets ? *find(n, key) : NULL;
}

void names_remove(struct names *n, struct span key)
{
	struct name **at = n->buckets ? find(n, key) : NULL;

	if (at && *at)
		drop(n, at);
}

void names_fini(struct names *n)
{
	for (size_t i = 0; n->buckets && i < NAMES_MAX; i++)
		while (n->buckets[i])
			drop(n, &n->buckets[i]);
	free(n->buckets);
	*n = (struct names){0};
}
