/* SPDX-License-Identifier: BSD-2-Clause */
/* Split DWARF: the unit a skeleton stands for, from a .dwp package or its .dwo file (section 7.3.2
 * and 7.3.5). */
#ifndef FORMAT_DWARF_SPLIT_H
#define FORMAT_DWARF_SPLIT_H

#include "format/dwarf/dwarf_unit.h"

/* Where the files are looked for. */
struct split_place {
	const char *path; /* of the image, beside which they may be; NULL: there is none */
	struct elf_image *(*open)(void *ctx, const char *path); /* NULL: elf_image__open_path() */
	void *ctx;
};

/* A package, opened once an image. */
struct dwarf_package {
	struct elf_image *elf;
	struct dwarf_file file; /* whole sections; its units are not loaded */
	struct bytes index, type_index;
};

/* The file beside the image with ".dwp" added to its name; false: there is none. */
bool dwarf_package_open(struct dwarf_package *p, const struct split_place *place, struct meter *m);
void dwarf_package_close(struct dwarf_package *p);

struct dwarf_split {
	struct elf_image *elf; /* of a .dwo; NULL for a unit of a package */
	struct dwarf_file file;
	struct dwarf_unit *unit;
};

/* In the package, else where it was built, else beside the image. False: not to be had. */
bool dwarf_split_open(struct dwarf_split *s, const struct dwarf_package *p,
		      const struct dwarf_unit *skeleton, const struct split_place *place,
		      struct meter *m);
void dwarf_split_close(struct dwarf_split *s);

#endif
