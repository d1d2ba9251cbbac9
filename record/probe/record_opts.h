/* SPDX-License-Identifier: BSD-2-Clause */
/* What obrec was asked for: filled from the command line, constant afterwards, passed down. */
#ifndef RECORD_RECORD_OPTS_H
#define RECORD_RECORD_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/process/process.h"
#include "record/symbols/debuginfo.h"

enum { RECORD_MAX_PROBES = 64, RECORD_PROBE_OPTIONS = 8 };
struct attach_plan;

struct record_opts {
	struct target_spec target;
	uint64_t probes;	   /* bit i: probe i of format/probes.def */
	uint64_t required;	   /* of these: named by the user, so not to be left out */
	uint64_t duration_ns;	   /* 0: no bound */
	uint64_t interval_ns;	   /* fold equal samples over this long; 0: keep each one's time */
	bool bound_mem; /* max_mem was asked for: stop rather than take more */
	uint64_t max_mem; /* bytes of unwind rows, rings and tables; 0: default */
	struct debuginfo_opts debuginfo;
	/* --attach: 1 + number of the variant that a probe shall take; 0: the best */
	unsigned char attach[RECORD_MAX_PROBES];
	/* -e PROBE:OPTION=VALUE, by the option's position; counts only where the bit is set */
	uint64_t option[RECORD_MAX_PROBES][RECORD_PROBE_OPTIONS];
	unsigned char options_given[RECORD_MAX_PROBES];
	const struct attach_plan *plan; /* made beforehand; NULL: session__new() makes it */
	const char *btf;		/* --btf; NULL: the kernel's, then the search path */
	pid_t command_pid;		/* -- COMMAND, stopped before exec; 0: none */
	uint64_t budget_per_64k;	/* of one CPU; 0: no bound */
	bool stats;			/* count what each BPF program costs */
	uint32_t ring_sz; /* bytes of each ring, a power of two; 0: chosen from max_mem */
};

#endif
