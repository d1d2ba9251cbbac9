/* SPDX-License-Identifier: BSD-2-Clause */
/* Where functions of an ELF file begin and end, by its symbol table. */
#ifndef ANALYZE_SYMBOL_FUNCTION_RANGE_H
#define ANALYZE_SYMBOL_FUNCTION_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct function_ranges;

struct function_range {
	const char *name; /* as in the file; valid until __free */
	uint64_t lo, hi;
};

/* fd (consumed) or path: NULL unless it is an ELF file, and a regular one. */
struct function_ranges *function_ranges__open(int fd);
struct function_ranges *function_ranges__open_path(const char *path);
void function_ranges__free(struct function_ranges *f);

/* Why the file (NULL: none) is not the binary with this build-id, or not to be trusted; else NULL.
 */
const char *function_ranges__refused(const struct function_ranges *f, const char *build_id);

/* The function that covers an ELF virtual address. f may be NULL. */
bool function_ranges__find(const struct function_ranges *f, uint64_t address,
			   struct function_range *range);

#endif
