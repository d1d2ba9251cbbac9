/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Archives of one host that were recorded at the same time, as with obrec -a and -p: samples and
 * events of a thread at a moment count once, in the first of the archives that has such of it.
 * Connections: traffic/traffic_twice.h.
 */
#ifndef ANALYZE_OVERLAP_H
#define ANALYZE_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/load/captures.h"

struct overlap;

/* *o: NULL if no two of the archives overlap, to the functions below: everything counts. */
int overlap__new(struct overlap **o, const struct captures *captures);
void overlap__free(struct overlap *o);

/* Threads of an archive, before the rows that refer to them. 0 or -ENOMEM. */
int overlap__threads(struct overlap *o, uint32_t capture, const struct rec_thread *v, size_t cnt);

/*
 * Whether a row counts; it stands for `count`. kind: a number of what it is, the same in all
 * archives. ts_ns: time of the archive. To be asked for all rows, the first archive's first.
 */
bool overlap__counts(struct overlap *o, uint32_t capture, uint32_t kind, uint32_t thread,
		     uint64_t ts_ns, uint64_t count);

/* What did not count. */
uint64_t overlap__left_out(const struct overlap *o, uint32_t capture);

#endif
