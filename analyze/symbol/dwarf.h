/* SPDX-License-Identifier: BSD-2-Clause */
/* An image's DWARF: which units there are is read at once, what is in a unit only when an address
 * falls into it. */
#ifndef ANALYZE_SYMBOL_DWARF_H
#define ANALYZE_SYMBOL_DWARF_H

#include "analyze/symbol/answers.h"
#include "format/dwarf/elf_image.h"
#include "analyze/symbol/symtab.h"

struct dwarf;

/*
 * Borrows elf, alt (dwz's common file, or NULL) and the budget until __close. path: the image's,
 * for split DWARF; may be NULL. -ENOENT: no DWARF in it; -E2BIG, here and below: more than the
 * budget.
 */
int dwarf__open(struct dwarf **d, struct elf_image *elf, struct elf_image *alt, const char *path,
		struct budget *budget);
void dwarf__close(struct dwarf *d);

/* Whether one of its units has the address. */
bool dwarf__covers(const struct dwarf *d, uint64_t addr);
/* Something that the file refers to was not found: answers may get better another time. */
bool dwarf__incomplete(const struct dwarf *d);

/* addrs ascending, without repeats; answers are appended to the empty `out`, ascending. */
int dwarf__resolve(struct dwarf *d, const struct symtab *symtab, struct name_pool *pool,
		   const uint64_t *addrs, size_t cnt, unsigned jobs, struct answers *out);

#endif
