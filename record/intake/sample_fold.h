/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples on their way to the archive: equal ones of one interval become one row. */
#ifndef RECORD_FOLD_H
#define RECORD_FOLD_H

#include <stdint.h>

#include "format/archive.h"

struct fold;

/* interval_ns 0: every sample keeps its row and its time. The writer is borrowed. */
int fold__new(struct fold **f, struct obz_writer *writer, uint64_t interval_ns);
void fold__free(struct fold *f);

/* Equal: kind, thread and both stacks. The row keeps the time of the earliest. Returns what the
 * writer said. */
int fold__add(struct fold *f, const struct rec_sample *s);

/* Writes the rows of intervals that are over at now_ns; UINT64_MAX: all. */
int fold__flush(struct fold *f, uint64_t now_ns);

#endif
