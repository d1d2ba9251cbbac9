/* SPDX-License-Identifier: BSD-2-Clause */
/* Split DWARF: the unit a skeleton stands for, from a .dwp package or its .dwo file (section 7.3.2
 * and 7.3.5). */
#ifndef ANALYZE_SYMBOL_DWARF_SPLIT_H
#define ANALYZE_SYMBOL_DWARF_SPLIT_H

#include "analyze/symbol/dwarf_unit.h"

/* A package, opened once an image. */
struct dwarf_package {
	struct elf_image *elf;
	struct dwarf_file file; /* whole sections; its units are not loaded */
	struct bytes index;
};

/* The file beside `path` with ".dwp" added; false: there is none. */
bool dwarf_package_open(struct dwarf_package *p, const char *path, struct meter *m);
void dwarf_package_close(struct dwarf_package *p);

struct dwarf_split {
	struct elf_image *elf; /* of a .dwo; NULL for a unit of a package */
	struct dwarf_file file;
	struct dwarf_unit *unit;
};

/* path: of the image, beside which a .dwo is looked for when it is not where it was built. False:
 * not to be had. */
bool dwarf_split_open(struct dwarf_split *s, const struct dwarf_package *p,
		      const struct dwarf_unit *skeleton, const char *path, struct meter *m);
void dwarf_split_close(struct dwarf_split *s);

#endif
