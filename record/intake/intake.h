/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From ring records to archive records: samples get their thread and stack ids, a stack's frames
 * are resolved and its binaries and kernel symbols asked for. Counts what came, for the progress
 * line and obz.end.json.
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
	uint64_t interval_ns; /* fold samples over this long */
};

int intake__new(struct intake **in, const struct intake_opts *opts);
void intake__free(struct intake *in);

void intake__stack(struct intake *in, const struct wire_stack *s);
void intake__sample(struct intake *in, const struct wire_sample *s);
/* A typed row of whatever kind (bpf/event.h). False: there is none like it. */
bool intake__event(struct intake *in, const struct wire_hdr *hdr);

/* Writes folded rows that are due at now_ns (UINT64_MAX: all). The first error of any write since
 * the start. */
int intake__flush(struct intake *in, uint64_t now_ns);

/* All stacks are about to come again (every minute or so); those whose definition was lost and that
 * are forgotten are written as intake__finish() does. */
void intake__advance(struct intake *in);

/* No more records will come: stacks whose definition was lost are written as "not taken" and
 * counted. */
void intake__finish(struct intake *in);

struct intake_counts {
	uint64_t samples, user_stacks, complete;
};
struct intake_counts intake__counts(const struct intake *in);

/* Samples of a kind whose user stack ended with `error`. */
uint64_t intake__stacks(const struct intake *in, unsigned kind, unsigned error);

#endif
