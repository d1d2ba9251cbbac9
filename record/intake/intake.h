/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts ring records to archive records. Assigns thread and stack ids to samples, resolves the
 * frames of stacks, and reports hits to binaries and kernel symbols. Counts records for the
 * progress line and obz.end.json.
 */
#ifndef RECORD_INTAKE_H
#define RECORD_INTAKE_H

#include <stdbool.h>

#include "bpf/wire.h"
#include "format/archive.h"

struct intake;
struct kallsyms;
struct loss;
struct tracker;

/* All borrowed. */
struct intake_opts {
	struct obz_writer *writer;
	struct tracker *tracker;
	struct kallsyms *kallsyms; /* NULL: kernel addresses are hidden */
	struct loss *loss;
	uint64_t interval_ns; /* aggregate identical samples per interval */
};

int intake__new(struct intake **in, const struct intake_opts *opts);
void intake__free(struct intake *in);

void intake__stack(struct intake *in, const struct wire_stack *s);
/* Returns false if the kind is unknown; nothing is then counted. */
bool intake__sample(struct intake *in, const struct wire_sample *s);
/* As above, for a sample that stands for `count` of what its kind counts. */
bool intake__weighted(struct intake *in, const struct wire_sample *s, uint64_t count);
/* Prevents that intake__advance() drops a stack that samples will need again. */
void intake__keep_stack(struct intake *in, uint64_t hash);
/* Handles a typed event (bpf/event.h). Returns false if the kind is unknown. */
bool intake__event(struct intake *in, const struct wire_hdr *hdr);

/* Writes the aggregated rows due at now_ns (UINT64_MAX: all). Returns the first write error since
 * the start. */
int intake__flush(struct intake *in, uint64_t now_ns);

/* Starts a new epoch (every minute or so), in which the kernel sends all stacks again. Old stacks
 * whose definition was lost are dropped and written as by intake__finish(). */
void intake__advance(struct intake *in);

/* The last record has been read: stacks whose definition was lost are written as "not taken" and
 * counted. */
void intake__finish(struct intake *in);

struct intake_counts {
	uint64_t samples, user_stacks, complete;
};
/* Number of samples whose user stack has its leaf frame in that binary. */
uint64_t intake__leaves(const struct intake *in, uint32_t binary);
struct intake_counts intake__counts(const struct intake *in);

/* Number of samples of a kind whose user stack ended with `error`. */
uint64_t intake__stacks(const struct intake *in, unsigned kind, unsigned error);

#endif
