/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of one process, sorted and non-overlapping. A new mapping replaces what
 * it covers. The kernel does not report munmap of code, so mappings end only this way. Pure; owns
 * its array, borrows the binaries.
 */
#ifndef RECORD_PROCESS_MAPS_H
#define RECORD_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binary;

struct map {
	uint64_t start, end;
	uint64_t offset;       /* file offset of start */
	uint64_t ts_ns;	       /* when it was seen */
	struct binary *binary; /* NULL: memory without a file, i.e. JIT code */
	bool written;	       /* its `mapping` record is in the archive */
};

struct maps {
	struct map *v;
	size_t cnt, cap;
};

#define MAPS_MAX 65536 /* the kernel's default limit per process: vm.max_map_count */

/*
 * Adds one mapping. Returns 1 if the array changed, 0 if the mapping was already present, -ENOMEM,
 * or -ENOSPC beyond MAPS_MAX (unchanged). Adjacent mappings of one file with contiguous offsets are
 * merged.
 */
int maps_overlay(struct maps *m, const struct map *add);
const struct map *maps_find(const struct maps *m, uint64_t address);
const struct map *maps_next(const struct maps *m,
			    uint64_t address); /* the first one that ends after address */
int maps_copy(struct maps *to,
	      const struct maps *from); /* `to` must be empty; the copies count as not written */
void maps_fini(struct maps *m);		/* leaves it empty */

#endif
