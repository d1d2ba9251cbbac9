/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct run {
	size_t cnt;
	int (*fn)(void *ctx, unsigned worker, size_t item);
	void *ctx;
	atomic_size_t next;
	atomic_int err;
};

struct worker {
	struct run *run;
	unsigned index;
	pthread_t thread;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;

	while (!atomic_load(&r->err)) {
		size_t item = atomic_fetch_add(&r->next, 1);
		int err, none = 0;

		if (item >= r->cnt)
			break;
		err = r->fn(r->ctx, w->index, item);
		if (err)
			atomic_compare_exchange_strong(&r->err, &none, err);
	}
	return NULL;
}

int parallel_run(unsigned jobs, size_t cnt, int (*fn)(void *ctx, unsigned worker, size_t item),
		 void *ctx)
{
	struct run r = {.cnt = cnt, .fn = fn, .ctx = ctx};
	struct worker *workers;
	unsigned started = 1;

	if (jobs > cnt)
		jobs = (unsigned)cnt;
	if (!jobs)
		return 0;
	workers = calloc(jobs, sizeof(*workers));
	if (!workers)
		return -ENOMEM;
	for (unsigned i = 0; i < jobs; i++)
		workers[i] = (struct worker){.run = &r, .index = i};
	/* If fewer threads can be started, those do all the work. */
	while (started < jobs &&
	       !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
		started++;
	work(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	return atomic_load(&r.err);
}
