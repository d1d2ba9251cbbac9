/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "record/host/memory.h"
#include "record/session/syncer.h"
#include "record/host/worker.h"

enum { GIVE_BACK = 20 }; /* number of periods */

struct syncer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	struct obz_writer *writer;
	uint64_t period_ns;
};

static void *run(void *arg)
{
	struct syncer *s = arg;
	struct timespec t;
	unsigned periods = 0;
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_nsec += s->period_ns % 1000000000;
		t.tv_sec += s->period_ns / 1000000000 + t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		for (rc = 0; !s->stop && !rc;)
			rc = pthread_cond_timedwait(&s->wake, &s->lock, &t);
		if (s->stop)
			break;
		pthread_mutex_unlock(&s->lock);
		obz_writer__sync(s->writer);
		if (++periods % GIVE_BACK == 0)
			memory_give_back();
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int syncer__new(struct syncer **out, struct obz_writer *writer, uint64_t period_ns)
{
	struct syncer *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;
	int err;

	if (!s)
		return -ENOMEM;
	s->writer = writer;
	s->period_ns = period_ns;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	err = worker_start(&s->thread, run, s);
	if (err) {
		pthread_cond_destroy(&s->wake);
		pthread_mutex_destroy(&s->lock);
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

void syncer__free(struct syncer *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
