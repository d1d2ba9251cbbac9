/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbol names of JIT code: /tmp/perf-PID.map in the process's mount and pid namespace, a text file
 * to which the process only appends (kernel tools/perf/Documentation/jit-interface.txt). Only names
 * of hit addresses are needed, so the index stores the file offset of each name. Runs in a reader
 * process, because the target controls the file. The file is read in pieces and holes are skipped.
 */
#ifndef RECORD_PERFMAP_H
#define RECORD_PERFMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

struct perfmap;

/* One line: "START SIZE NAME", hexadecimal. */
struct perfmap_line {
	uint64_t start, size;
	struct span name;
};
int perfmap_line_parse(struct span line, struct perfmap_line *l); /* -EBADMSG */

/* `proc`: descriptor of the /proc directory, borrowed. The file is opened at the first lookup or
 * later. */
int perfmap__new(struct perfmap **p, int proc, uint32_t pid);
void perfmap__free(struct perfmap *p);

/* Adds an address to the pending lookups; returns true if it is new. */
bool perfmap__hit(struct perfmap *p, uint64_t address);
/* Pending addresses without a symbol; valid until the next call. */
size_t perfmap__unresolved(const struct perfmap *p, const uint64_t **address);

/*
 * Reads appended lines and calls fn once for each symbol that contains a pending address and was
 * not reported before. If several entries cover an address, the latest applies. Addresses without a
 * symbol stay pending. *refused: number of entries or addresses rejected because of limits since
 * the last call.
 */
int perfmap__resolve(struct perfmap *p, void (*fn)(void *ctx, const struct perfmap_line *symbol),
		     void *ctx, uint64_t *refused);

#endif
