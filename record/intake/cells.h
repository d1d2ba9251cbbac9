/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What cells of the kernel (bpf/metric.h) have grown by: they only grow, and are read again and
 * again, some perhaps twice or not at all in one reading; the difference to what was seen before is
 * told once.
 */
#ifndef RECORD_CELLS_H
#define RECORD_CELLS_H

#include "bpf/metric.h"

struct cells;

int cells__new(struct cells **c);
void cells__free(struct cells *c);

/* What is new of the key since it was seen last. 0 or -ENOMEM: it will be told at the next call. */
int cells__grown(struct cells *c, const struct metric_key *key, const struct metric_cell *now,
		 struct metric_cell *grown);

#endif
