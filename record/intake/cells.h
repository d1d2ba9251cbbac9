/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes by how much the kernel's metric cells (bpf/metric.h) have grown. Cells only grow and are
 * read repeatedly. One pass over the map may return a cell twice or not at all. Each increase is
 * reported once.
 */
#ifndef RECORD_CELLS_H
#define RECORD_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/metric.h"

struct cells;

int cells__new(struct cells **c);
void cells__free(struct cells *c);

/* Sets *grown to the increase since the key was last seen. Returns 0, or -ENOMEM; then the next
 * call reports it. */
int cells__grown(struct cells *c, const struct metric_key *key, const struct metric_cell *now,
		 struct metric_cell *grown);

/* For cells in several places: adds them up. -ENOMEM: not added. */
int cells__add(struct cells *c, const struct metric_key *key, const struct metric_cell *more);
/* Sets *key and *sum to the next cell after *i, which is 0 at first; false: no more. */
bool cells__next(const struct cells *c, size_t *i, struct metric_key *key, struct metric_cell *sum);
void cells__clear(struct cells *c);

#endif
