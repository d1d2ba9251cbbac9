/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a capture: set from the command line, constant afterwards. */
#ifndef RECORD_RECORD_OPTS_H
#define RECORD_RECORD_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/process/process.h"
#include "record/symbols/debuginfo.h"

enum {
	RECORD_MAX_PROBES = 64,
	RECORD_PROBE_OPTIONS = 8,
	RECORD_OPERANDS = 16,
	RECORD_OPERAND_LEN = 512,
	RECORD_EVENTS = 16
};
struct attach_plan;

struct record_opts {
	struct target_spec target;
	uint64_t probes;      /* bit i: probe i of format/probes.def */
	uint64_t required;    /* the subset named by the user: an error if unavailable */
	uint64_t duration_ns; /* 0: unlimited */
	uint64_t interval_ns; /* aggregate identical samples per interval; 0: keep each
			       * sample's time */
	bool bound_mem;	      /* max_mem was given: stop when it is reached */
	uint64_t max_mem;     /* bytes of unwind rows, rings and tables; 0: default */
	struct debuginfo_opts debuginfo;
	/* --attach: 1 + number of the selected variant; 0: the best */
	unsigned char attach[RECORD_MAX_PROBES];
	/* -e PROBE:OPTION=VALUE, by position of the option; valid only if the bit is set */
	uint64_t option[RECORD_MAX_PROBES][RECORD_PROBE_OPTIONS];
	unsigned char options_given[RECORD_MAX_PROBES];
	/* What the one probe with operands records: -e PROBE:OPERAND. */
	char operand[RECORD_OPERANDS][RECORD_OPERAND_LEN];
	unsigned operand_cnt;
	/* Events that probe pmu counts (perf_event_name.h); none: its default. */
	uint64_t events[RECORD_EVENTS];
	unsigned event_cnt;
	const struct attach_plan *plan; /* made earlier; NULL: session__new() makes it */
	const char *btf;		/* --btf; NULL: the kernel's BTF, then the search path */
	pid_t command_pid;		/* -- COMMAND, stopped before exec; 0: none */
	const char *command;		/* its first word; NULL: none */
	uint64_t budget_per_64k;	/* share of one CPU; 0: unlimited */
	bool stats;			/* measure the cost of each BPF program */
	uint32_t ring_sz; /* bytes per ring, a power of two; 0: derived from max_mem */
};

#endif
