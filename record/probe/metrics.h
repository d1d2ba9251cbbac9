/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What probes count in the kernel (bpf/metric.bpf.h), from their `series` to rows of the archive:
 * what each cell has grown by, every second and once more at the end.
 */
#ifndef RECORD_METRICS_H
#define RECORD_METRICS_H

#include <stdint.h>

struct metrics;
struct probe_env;

/* Skeleton open: sizes the maps for the wanted probes, sets the rates of events. */
int metrics_prepare(struct probe_env *env);

/* env is borrowed. *m is NULL when nothing is counted. */
int metrics__new(struct metrics **m, struct probe_env *env);
void metrics__free(struct metrics *m);

/* The interval since the last call, or the start, ends. The first error of writing. */
int metrics__tick(struct metrics *m, uint64_t now_ns);

/* What the series are is written again at the next tick. */
void metrics__reanchor(struct metrics *m);

#endif
