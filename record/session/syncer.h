/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread for what the hot one must not wait for: every few seconds it brings the archive to the
 * disk, and every twenty times it calls malloc_trim(), for which it
 * takes the lock of each thread's, of one under SCHED_IDLE too. */
#ifndef RECORD_SYNCER_H
#define RECORD_SYNCER_H

#include <stdint.h>

#include "format/archive.h"

struct syncer;

int syncer__new(struct syncer **s, struct obz_writer *writer, uint64_t period_ns);
void syncer__free(struct syncer *s); /* ends the thread; does not wait for the next period */

#endif
