/* SPDX-License-Identifier: BSD-2-Clause */
/* Run time of the loaded BPF programs, as counted by the kernel. */
#ifndef RECORD_PROGRAM_H
#define RECORD_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "format/archive.h"

struct bpf_object;

struct program_cost {
	const char *name;
	uint64_t runs, run_ns;
	uint64_t missed; /* not run because it was running already */
};

/* The kernel counts from here on until the fd is closed; negative errno when it cannot. Costs some
 * 20 ns a run. */
int program_cost_enable(void);

/* Does the kernel count, for whomever? */
bool program_cost_counted(void);

void program_cost_each(const struct bpf_object *obj,
		       void (*fn)(void *ctx, const struct program_cost *c), void *ctx);

/* A `program` record each. */
int program_cost_write(const struct bpf_object *obj, struct obz_writer *writer, uint64_t ts_ns);

#endif
