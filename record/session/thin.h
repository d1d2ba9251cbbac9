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

struct obrec_bpf;
struct packer;
struct readers;
struct thin;

struct thin_opts {
	struct obrec_bpf *skel;
	struct obz_writer *writer;
	const struct packer *packer;
	const struct readers *readers;
	uint64_t budget_per_64k; /* of one CPU */
	uint32_t sample_per_64k; /* connections whose payload is kept when nothing is thinned */
	/* Told of each step, for what takes more than a number in the kernel. */
	void (*stepped)(void *ctx, enum budget_lever lever, unsigned level);
	void *ctx;
};

/* On the thread that records: its time is what counts. */
int thin__new(struct thin **t, const struct thin_opts *opts);
void thin__free(struct thin *t);

/* A record came that this lever could have spared. */
void thin__event(struct thin *t, enum budget_lever lever);

/* Following processes, between these two: its time is put down to LEVER_PROCESSES. */
void thin__begin_processes(struct thin *t);
void thin__end_processes(struct thin *t);

/* Called often; acts about twice a second. The first error of writing. */
int thin__tick(struct thin *t, uint64_t now_ns);

/* Steps taken so far, and whether something is thinned now. */
unsigned thin__steps(const struct thin *t);

#endif
