/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extracts the DWARF of some addresses into a small ELF file with DWARF 5. Copied per DIE: the
 * functions that contain an address with everything inlined into them; what these refer to
 * (abstract origins and specifications, in any unit, dwz file or .dwo file); the enclosing scopes;
 * their names; and the line table sequences of these functions. Each unit states the addresses it
 * covers. References are rewritten, so any DWARF reader can use the file alone: it needs no dwz
 * file, .dwo or type units, and nothing is compressed.
 *
 * Of a program with 380 MB of DWARF about 4 kB per function remain. The DWARF readers are those
 * that obana uses for look-ups, so the results are the same as with the complete DWARF.
 */
#ifndef RECORD_EXCERPT_H
#define RECORD_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct split_place;

struct excerpt_opts {
	int fd;		       /* file with the DWARF; borrowed */
	int alt_fd;	       /* dwz alternate file, borrowed; -1: none */
	const struct split_place *split; /* locations of .dwo and .dwp files; NULL: do not search */
	const uint64_t *addrs; /* ascending, unique */
	size_t cnt;
	uint64_t mem_max; /* bytes; 0: EXCERPT_MEM_MAX */
};

#define EXCERPT_MEM_MAX (256ULL << 20)

struct excerpt_range {
	uint64_t lo, hi;
};

struct excerpt {
	uint8_t *elf; /* NULL: the DWARF has none of the addresses */
	size_t sz;
	struct excerpt_range *covered; /* ranges with all that the complete DWARF has; ascending */
	size_t covered_cnt;
	uint64_t *missing; /* units whose .dwo file was not found: offsets in .debug_info */
	size_t missing_cnt;
};

/* Returns 0; -ENOENT: no DWARF; -E2BIG: needs more than mem_max; -EBADMSG, -ENOMEM. */
int excerpt_make(struct excerpt *e, const struct excerpt_opts *opts);
void excerpt_fini(struct excerpt *e);

#endif
