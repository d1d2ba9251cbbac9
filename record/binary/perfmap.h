/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names a JIT compiler gives its code: /tmp/perf-PID.map in the process's own mount and pid
 * namespace, a text file it only appends to (kernel tools/perf/Documentation/jit-interface.txt).
 * Only names of addresses that were hit are asked for, so the index holds where each name lies, not
 * the name. In a reader process: the file is the target's, and read piece by piece, its holes
 * skipped.
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

/* `proc`: directory fd of /proc, borrowed. The file is opened when the first address is looked up,
 * or later. */
int perfmap__new(struct perfmap **p, int proc, uint32_t pid);
void perfmap__free(struct perfmap *p);

/* Remember an address; true when it is new. */
bool perfmap__hit(struct perfmap *p, uint64_t address);
/* Those that no symbol is known for yet; valid until the next call. */
size_t perfmap__unresolved(const struct perfmap *p, const uint64_t **address);

/*
 * Reads what was appended and calls fn once for each symbol, not reported before, that holds a
 * remembered address; of several entries over an address the latest counts. Addresses without one
 * stay remembered for the next time. *refused: entries or addresses beyond the bounds since the
 * last call.
 */
int perfmap__resolve(struct perfmap *p, void (*fn)(void *ctx, const struct perfmap_line *symbol),
		     void *ctx, uint64_t *refused);

#endif
