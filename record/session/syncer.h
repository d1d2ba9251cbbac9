/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thread for slow work that must not block the main thread: syncs the archive to disk every period,
 * and calls malloc_trim() every 20 periods. malloc_trim() takes the locks of all threads' heaps,
 * including those of threads under SCHED_IDLE.
 */
#ifndef RECORD_SYNCER_H
#define RECORD_SYNCER_H

#include <stdint.h>

#include "format/archive.h"

struct syncer;

int syncer__new(struct syncer **s, struct obz_writer *writer, uint64_t period_ns);
void syncer__free(struct syncer *s); /* stops the thread without waiting for the period */

#endif
