/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --cpu-budget: measures the cost of the capture (CPU time of the main and the packer thread, run
 * time of the BPF programs), throttles as decided by cpu_budget.h, and writes each step to the
 * archive. Sample weights are adjusted: each sample carries the number it stands for.
 */
#ifndef RECORD_THIN_H
#define RECORD_THIN_H

#include "format/archive.h"
#include "record/probe/cpu_budget.h"

struct bpf_object;
struct packer;
struct readers;
struct thin;
struct wire_hdr;

struct thin_opts {
	struct bpf_object *programs;
	struct obz_writer *writer;
	const struct packer *packer;
	const struct readers *readers;
	uint64_t budget_per_64k; /* share of one CPU */
	/* Applies a step. */
	void (*stepped)(void *ctx, const struct lever *lever, unsigned level);
	void *ctx;
};

/* Rate of wake-ups by process events; at the last level obrec only polls. Added by every
 * session. */
extern const struct lever thin_processes;

/* Call it on the main thread, whose CPU time is measured. */
int thin__new(struct thin **t, const struct thin_opts *opts);
void thin__free(struct thin *t);

/* Adds a lever; before the first tick. all_per_64k: share recorded when nothing is throttled. */
void thin__add(struct thin *t, const struct lever *lever, uint32_t all_per_64k);

/* Counts a record for the lever that could have throttled it. */
void thin__record(struct thin *t, const struct wire_hdr *hdr);

/* CPU time between these two calls is assigned to thin_processes. */
void thin__begin_processes(struct thin *t);
void thin__end_processes(struct thin *t);

/* Call it often; it acts about twice a second. Returns the first write error. */
int thin__tick(struct thin *t, uint64_t now_ns);

/* Returns the number of steps taken so far. */
unsigned thin__steps(const struct thin *t);

#endif
