/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/base/links.h"

enum { THREADS_MAX = 256, STACK_SZ = 64 << 10 };

struct attached {
	struct bpf_link *link; /* NULL: fd */
	int fd;
};

static void detach(const struct attached *a)
{
	if (a->link)
		bpf_link__destroy(a->link);
	else
		close(a->fd);
}

static int keep(struct links *l, struct attached a)
{
	/* Once closed, the array belongs to the detaching threads. */
	struct attached *all = l->closed ? NULL : realloc(l->all, (l->cnt + 1) * sizeof(*all));

	if (!all) {
		detach(&a);
		return l->closed ? -ECANCELED : -ENOMEM;
	}
	l->all = all;
	all[l->cnt++] = a;
	return 0;
}

int links__keep(struct links *l, struct bpf_link *link)
{
	return link ? keep(l, (struct attached){.link = link}) : -errno;
}

int links__keep_fd(struct links *l, int fd)
{
	return fd < 0 ? fd : keep(l, (struct attached){.fd = fd});
}

void links__drop(struct links *l, struct bpf_link *link)
{
	size_t left = 0;

	if (l->closed)
		return;
	for (size_t i = 0; i < l->cnt; i++)
		if (l->all[i].link != link)
			l->all[left++] = l->all[i];
	l->cnt = left;
	bpf_link__destroy(link);
}

/* Detaches the links that no other thread has taken. */
static void *detach_rest(void *arg)
{
	struct links *l = arg;
	size_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < l->cnt)
		detach(&l->all[i]);
	return NULL;
}

void links__take(struct links *to, struct links *from)
{
	for (size_t i = 0; i < from->cnt; i++)
		keep(to, from->all[i]);
	free(from->all);
	*from = (struct links){0};
}

static bool start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SZ);
	err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return !err;
}

static void *detach_own(void *arg)
{
	struct links *l = arg;

	detach_rest(l);
	free(l->all);
	free(l);
	return NULL;
}

void links__let_go(struct links *l)
{
	struct links *own = malloc(sizeof(*own));
	pthread_t thread;

	if (own) {
		*own = *l;
		if (start(&thread, detach_own, own))
			pthread_detach(thread);
		else
			detach_own(own);
	} else {
		detach_rest(l);
		free(l->all);
	}
	*l = (struct links){0};
}

void links__detach(struct links *l)
{
	size_t most = l->cnt < THREADS_MAX ? l->cnt : THREADS_MAX;

	l->closed = true;
	l->threads = calloc(most, sizeof(*l->threads));
	while (l->threads && l->thread_cnt < most &&
	       start(&l->threads[l->thread_cnt], detach_rest, l))
		l->thread_cnt++;
}

void links__fini(struct links *l)
{
	if (!l->threads)
		links__detach(l);
	detach_rest(l);
	for (size_t i = 0; i < l->thread_cnt; i++)
		pthread_join(l->threads[i], NULL);
	free(l->threads);
	free(l->all);
	*l = (struct links){.closed = true};
}
