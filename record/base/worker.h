/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads beside the main one: reading files, writing, syncing. */
#ifndef RECORD_WORKER_H
#define RECORD_WORKER_H

#include <pthread.h>

/*
 * Starts one: no signal reaches it (they are the main thread's), and when this returns it has given
 * up what it does not need, so that "ready" is never told by a process with more than it keeps.
 * 0 or negative errno.
 */
int worker_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
