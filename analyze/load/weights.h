/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples added up in memory by kind, stack and (when asked for) thread: all that reports and flame
 * graphs need. */
#ifndef ANALYZE_WEIGHTS_H
#define ANALYZE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weights;

struct weight {
	int64_t thread; /* row id; 0 when threads are not told apart */
	uint32_t kind;	/* enum sample_kind */
	uint32_t stack; /* stacks.h */
	uint64_t count, value;
};

int weights__new(struct weights **w, bool by_thread);
void weights__free(struct weights *w);

/* 0 or -ENOMEM. Past a limit threads are not told apart any more (__merged). */
int weights__add(struct weights *w, const struct weight *add);

/* Of what will soon be added: first all __ahead, then all __guess, to have it in the cache. */
void weights__ahead(const struct weights *w, const struct weight *add);
void weights__guess(const struct weights *w, const struct weight *add);

size_t weights__cnt(const struct weights *w);
const struct weight *weights__get(const struct weights *w,
				  size_t i); /* by stack, then kind, after __sort */
void weights__sort(struct weights *w);
bool weights__merged(const struct weights *w);

#endif
