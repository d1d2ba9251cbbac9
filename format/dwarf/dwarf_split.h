/* SPDX-License-Identifier: BSD-2-Clause */
/* Split DWARF: finds the unit of a skeleton in a .dwp package or a .dwo file (section 7.3.2 and
 * 7.3.5). */
#ifndef FORMAT_DWARF_SPLIT_H
#define FORMAT_DWARF_SPLIT_H

#include "format/dwarf/dwarf_unit.h"

/* Where to search for the files. */
struct split_place {
	const char *path; /* path of the image, whose directory is searched; NULL: none */
	struct elf_image *(*open)(void *ctx, const char *path); /* NULL: elf_image__open_path() */
	void *ctx;
};

/* A package, opened once per image. */
struct dwarf_package {
	struct elf_image *elf;
	struct dwarf_file file; /* complete sections; units are not loaded */
	struct bytes index, type_index;
};

/* Opens the image's path with ".dwp" appended; false: no such file. */
bool dwarf_package_open(struct dwarf_package *p, const struct split_place *place, struct meter *m);
void dwarf_package_close(struct dwarf_package *p);

struct dwarf_split {
	struct elf_image *elf; /* image of a .dwo; NULL for a unit of a package */
	struct dwarf_file file;
	struct dwarf_unit *unit;
};

/* Searches the package, then the build directory, then the image's directory. False: not found. */
bool dwarf_split_open(struct dwarf_split *s, const struct dwarf_package *p,
		      const struct dwarf_unit *skeleton, const struct split_place *place,
		      struct meter *m);
void dwarf_split_close(struct dwarf_split *s);

#endif
