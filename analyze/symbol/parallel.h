/* SPDX-License-Identifier: BSD-2-Clause */
/* Work items handed out one by one to a few threads. */
#ifndef ANALYZE_SYMBOL_PARALLEL_H
#define ANALYZE_SYMBOL_PARALLEL_H

#include <stddef.h>

/* Calls fn(ctx, worker, item) for each item below cnt; worker < jobs. Returns the first error,
 * after which no new item is begun. The calling thread is a worker. */
int parallel_run(unsigned jobs, size_t cnt, int (*fn)(void *ctx, unsigned worker, size_t item),
		 void *ctx);

#endif
