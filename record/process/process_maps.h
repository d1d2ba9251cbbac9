/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of one process: sorted, never overlapping; a later one cuts out what it
 * covers. The kernel reports no munmap of code, so that is how mappings end here. Pure; owns its
 * array, borrows the binaries.
 */
#ifndef RECORD_PROCESS_MAPS_H
#define RECORD_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binary;

struct map {
	uint64_t start, end;
	uint64_t offset;       /* in the file, of start */
	uint64_t ts_ns;	       /* when it was seen */
	struct binary *binary; /* NULL: memory without a file, i.e. generated code */
	bool written;	       /* its `mapping` record is in the archive */
};

struct maps {
	struct map *v;
	size_t cnt, cap;
};

#define MAPS_MAX 65536 /* the kernel's own bound of mappings a process: vm.max_map_count */

/*
 * Adds one mapping. Returns 1 when the array changed, 0 when it said so already, -ENOMEM, -ENOSPC
 * past MAPS_MAX (nothing changed). Neighbours of one file at matching offsets become one.
 */
int maps_overlay(struct maps *m, const struct map *add);
const struct map *maps_find(const struct maps *m, uint64_t address);
const struct map *maps_next(const struct maps *m,
			    uint64_t address); /* the first that ends behind it */
int maps_copy(struct maps *to,
	      const struct maps *from); /* `to` is empty; nothing of it counts as written */
void maps_fini(struct maps *m);		/* leaves it empty */

#endif
