/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/libbpf.h>
#include <pthread.h>

#include "links.h"

enum { THREADS = 16 };

struct share {
	struct bpf_link **links;
	size_t cnt, first;
};

static void *destroy(void *arg)
{
	const struct share *s = arg;

	for (size_t i = s->first; i < s->cnt; i += THREADS)
		bpf_link__destroy(s->links[i]);
	return NULL;
}

void links_destroy(struct bpf_link **links, size_t cnt)
{
	struct share share[THREADS];
	pthread_t thread[THREADS];
	size_t started = 0;

	for (size_t i = 0; i < THREADS; i++)
		share[i] = (struct share){links, cnt, i};
	while (started < THREADS - 1 && started + 1 < cnt &&
	       !pthread_create(&thread[started], NULL, destroy, &share[started]))
		started++;
	for (size_t i = started; i < THREADS; i++)
		destroy(&share[i]);
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}
