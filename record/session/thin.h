/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --cpu-budget: measures the cost of recording (CPU time of this thread and of the one that
 * encodes, run time of the BPF programs), throttles as the budget (cpu_budget.h) decides, and
 * writes each step into the archive. Weights follow: every sample carries what it stands for.
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
	uint64_t budget_per_64k; /* of one CPU */
	/* Carries a step out. */
	void (*stepped)(void *ctx, const struct lever *lever, unsigned level);
	void *ctx;
};

/* How often news of processes wake obrec; at the end it only polls. Each session adds it. */
extern const struct lever thin_processes;

/* On the thread that records: its time is what counts. */
int thin__new(struct thin **t, const struct thin_opts *opts);
void thin__free(struct thin *t);

/* One more, before the first tick. all_per_64k: what is kept when nothing is thinned. */
void thin__add(struct thin *t, const struct lever *lever, uint32_t all_per_64k);

/* A record came, which a lever could have spared perhaps. */
void thin__record(struct thin *t, const struct wire_hdr *hdr);

/* Following processes, between these two: its time is put down to thin_processes. */
void thin__begin_processes(struct thin *t);
void thin__end_processes(struct thin *t);

/* Called often; acts about twice a second. The first error of writing. */
int thin__tick(struct thin *t, uint64_t now_ns);

/* Steps taken so far, and whether something is thinned now. */
unsigned thin__steps(const struct thin *t);

#endif
