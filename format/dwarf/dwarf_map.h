/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps addresses to units, by the same rules as LLVM (DWARFDebugAranges.cpp): by .debug_aranges
 * when it lists the unit, else by the unit DIE's own ranges. Where units overlap, the one that
 * continues wins, else the first one in the file.
 */
#ifndef FORMAT_DWARF_MAP_H
#define FORMAT_DWARF_MAP_H

#include "format/dwarf/dwarf_unit.h"

struct unit_range {
	uint64_t lo, hi;
	uint32_t unit; /* index into the file's units */
};

struct unit_map {
	struct unit_range *v; /* ascending, no overlaps */
	size_t cnt, cap;
};

int unit_map_build(struct unit_map *m, const struct dwarf_file *f, struct meter *meter);
void unit_map_fini(struct unit_map *m);

/* NULL: no unit covers the address. */
const struct unit_range *unit_map_find(const struct unit_map *m, uint64_t addr);

/* The first range whose end is above the address, or NULL. */
const struct unit_range *unit_map_next(const struct unit_map *m, uint64_t addr);

/*
 * Whether a range starting at `addr` can be code of this image, not code discarded by the linker.
 */
bool elf_image_has_code(const struct elf_image *e, uint64_t addr);

#endif
