/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>

#include "record/host/privilege.h"
#include "record/host/worker.h"

struct start {
	void *(*run)(void *);
	void *arg;
	sem_t dropped;
};

static void *worker_main(void *arg)
{
	struct start *start = arg, mine = *start;

	privilege_drop_worker();
	sem_post(&start->dropped); /* *start is invalid after this */
	return mine.run(mine.arg);
}

int worker_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	struct start start = {.run = run, .arg = arg};
	sigset_t all, old;
	int err;

	sem_init(&start.dropped, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(thread, NULL, worker_main, &start);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	while (!err && sem_wait(&start.dropped) && errno == EINTR)
		;
	sem_destroy(&start.dropped);
	return err;
}
