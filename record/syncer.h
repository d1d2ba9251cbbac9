/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that brings the archive to the disk every few seconds, so that the hot one never waits
 * for it. */
#ifndef RECORD_SYNCER_H
#define RECORD_SYNCER_H

#include <stdint.h>

#include "../format/archive.h"

struct syncer;

int syncer__new(struct syncer **s, struct obz_writer *writer, uint64_t period_ns);
void syncer__free(struct syncer *s); /* ends the thread; does not wait for the next period */

#endif
