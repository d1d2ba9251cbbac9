/* SPDX-License-Identifier: BSD-2-Clause */
/* Aggregates samples: identical samples of one interval become one row. */
#ifndef RECORD_FOLD_H
#define RECORD_FOLD_H

#include <stdint.h>

#include "format/archive.h"

struct fold;

/* interval_ns 0: every sample keeps its own row and time. The writer is borrowed. */
int fold__new(struct fold **f, struct obz_writer *writer, uint64_t interval_ns);
void fold__free(struct fold *f);

/* Samples are identical if kind, thread and both stacks are equal. The row has the time of the
 * earliest. Returns the writer's result. */
int fold__add(struct fold *f, const struct rec_sample *s);

/* Writes the rows of intervals that have ended at now_ns; UINT64_MAX: all. */
int fold__flush(struct fold *f, uint64_t now_ns);

#endif
