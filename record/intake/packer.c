/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "record/intake/packer.h"
#include "record/base/worker.h"

struct packer {
	pthread_t thread;
	clockid_t clock;
	struct obz_writer *writer;
};

static void *run(void *arg)
{
	obz_writer__serve(((struct packer *)arg)->writer);
	return NULL;
}

int packer__new(struct packer **out, struct obz_writer *writer)
{
	struct packer *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->writer = writer;
	err = worker_start(&p->thread, run, p);
	if (err) {
		free(p);
		return err;
	}
	err = -pthread_getcpuclockid(p->thread, &p->clock);
	if (err) {
		packer__free(p);
		return err;
	}
	*out = p;
	return 0;
}

void packer__free(struct packer *p)
{
	if (!p)
		return;
	obz_writer__dismiss(p->writer);
	pthread_join(p->thread, NULL);
	free(p);
}

uint64_t packer__cpu_ns(const struct packer *p)
{
	struct timespec ts = {0};

	clock_gettime(p->clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}
