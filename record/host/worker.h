/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads besides the main thread: they read files, write and sync. */
#ifndef RECORD_WORKER_H
#define RECORD_WORKER_H

#include <pthread.h>

/*
 * Starts a thread. It receives no signals; these go to the main thread. It has dropped its
 * privileges before this function returns, so that all are dropped when obrec reports "ready".
 * Returns 0 or a negative errno.
 */
int worker_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
