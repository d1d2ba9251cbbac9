/* SPDX-License-Identifier: BSD-2-Clause */
/* Run time of the loaded BPF programs, as measured by the kernel. */
#ifndef RECORD_PROGRAM_H
#define RECORD_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "format/archive.h"

struct bpf_object;

struct program_cost {
	const char *name;
	uint64_t runs, run_ns;
	uint64_t missed; /* runs skipped because the program was already running */
};

/* Enables the kernel's run-time statistics until the returned descriptor is closed; negative errno
 * on failure. Costs about 20 ns per run. */
int program_cost_enable(void);

/* Returns true if the statistics are enabled, by any process. */
bool program_cost_counted(void);

void program_cost_each(const struct bpf_object *obj,
		       void (*fn)(void *ctx, const struct program_cost *c), void *ctx);

/* Writes one `program` record per program. */
int program_cost_write(const struct bpf_object *obj, struct obz_writer *writer, uint64_t ts_ns);

#endif
