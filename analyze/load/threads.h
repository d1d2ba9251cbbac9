/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of all captures with what groups and filters of samples need of them. */
#ifndef ANALYZE_THREADS_H
#define ANALYZE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load;
struct threads;

/* Strings of load.strings; 0: not known. */
struct thread {
	int64_t id; /* thread.id */
	uint32_t tid, pid, comm, process, cgroup, container;
	bool wanted; /* sample_filter.h */
};

/* Reads the tables thread and process, once their stream is loaded. 0 or negative errno. */
int threads__new(struct threads **t, struct load *l);
void threads__free(struct threads *t);

/* NULL: no such thread, its record was lost. */
const struct thread *threads__find(const struct threads *t, int64_t id);

#endif
