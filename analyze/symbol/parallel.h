/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs work items on several threads. */
#ifndef ANALYZE_SYMBOL_PARALLEL_H
#define ANALYZE_SYMBOL_PARALLEL_H

#include <stddef.h>

/* Calls fn(ctx, worker, item) for each item < cnt, with worker < jobs. The calling thread is one of
 * the workers. Returns the first error; after an error no new item is started. */
int parallel_run(unsigned jobs, size_t cnt, int (*fn)(void *ctx, unsigned worker, size_t item),
		 void *ctx);

#endif
