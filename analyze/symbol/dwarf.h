/* SPDX-License-Identifier: BSD-2-Clause */
/* DWARF of an image. The list of units is read on open; a unit's contents are read when an address
 * in it is looked up. */
#ifndef ANALYZE_SYMBOL_DWARF_H
#define ANALYZE_SYMBOL_DWARF_H

#include "analyze/symbol/answers.h"
#include "format/dwarf/elf_image.h"
#include "analyze/symbol/symtab.h"

struct dwarf;

/*
 * Borrows elf, alt (dwz's common file, or NULL) and the budget until __close. path: the image's
 * path, for split DWARF; may be NULL. -ENOENT: no DWARF. -E2BIG, here and below: over budget.
 */
int dwarf__open(struct dwarf **d, struct elf_image *elf, struct elf_image *alt, const char *path,
		struct budget *budget);
void dwarf__close(struct dwarf *d);

/* Whether one of its units covers the address. */
bool dwarf__covers(const struct dwarf *d, uint64_t addr);
/* A referenced file was not found, so later runs may give better answers. */
bool dwarf__incomplete(const struct dwarf *d);

/* addrs: ascending, unique. Appends answers in ascending order to `out`, which must be empty. */
int dwarf__resolve(struct dwarf *d, const struct symtab *symtab, struct name_pool *pool,
		   const uint64_t *addrs, size_t cnt, unsigned jobs, struct answers *out);

#endif
