/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts the metrics that probes count in the kernel (bpf/metric.bpf.h) into rows of the archive,
 * according to their `series`: the increase of each cell, every second and at the end. */
#ifndef RECORD_METRICS_H
#define RECORD_METRICS_H

#include <stdint.h>

struct metrics;
struct probe_env;

/* After open, before load: sizes the maps for the enabled probes and sets event rates. */
int metrics_prepare(struct probe_env *env);

/* env is borrowed. *m is NULL if there are no metrics. */
int metrics__new(struct metrics **m, struct probe_env *env);
void metrics__free(struct metrics *m);

/* Ends the current interval. Returns the first write error. */
int metrics__tick(struct metrics *m, uint64_t now_ns);

/* Adds an occurrence of a counter, in addition to those of the programs, which must have ended. */
struct metric_key;
void metrics_add(struct probe_env *env, const struct metric_key *key, uint64_t value);
/* Adds `count` occurrences of `sum` in total; at any time if no program uses the key. */
void metrics_add_many(struct probe_env *env, const struct metric_key *key, uint64_t count,
		      uint64_t sum);

/* Writes the series definitions again at the next tick. */
void metrics__reanchor(struct metrics *m);

#endif
