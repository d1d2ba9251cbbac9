/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What DWARF says of some addresses, as a small ELF file with DWARF 5 of its own. Copied are, by
 * DIE: the functions that hold an address with all that was inlined into them, what these refer to
 * (abstract origins and specifications, in whatever unit, dwz file or .dwo file they are), the
 * scopes around all of it, their names; and the line table's sequences for these functions. Each
 * unit states the addresses it answers for. References are rewritten, so the file stands alone:
 * no dwz file, no .dwo, no type units, nothing compressed, and any DWARF reader can use it.
 *
 * Of a program with 380 MB of DWARF some 4 kB a function remain. The readers are those that obana
 * looks addresses up with, so its answers are the same as with the whole.
 */
#ifndef RECORD_EXCERPT_H
#define RECORD_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct split_place;

struct excerpt_opts {
	int fd;		       /* the file with the DWARF; borrowed */
	int alt_fd;	       /* dwz's common file, borrowed; -1: none */
	const struct split_place *split; /* of .dwo and .dwp files; NULL: none are looked for */
	const uint64_t *addrs; /* ascending, without repeats */
	size_t cnt;
	uint64_t mem_max; /* bytes; 0: EXCERPT_MEM_MAX */
};

#define EXCERPT_MEM_MAX (256ULL << 20)

struct excerpt_range {
	uint64_t lo, hi;
};

struct excerpt {
	uint8_t *elf; /* NULL: the DWARF knows none of the addresses */
	size_t sz;
	struct excerpt_range *covered; /* all of it holds what the whole DWARF says; ascending */
	size_t covered_cnt;
	uint64_t *missing; /* units whose .dwo file was not to be had: offsets in .debug_info */
	size_t missing_cnt;
};

/* 0; -ENOENT: there is no DWARF; -E2BIG: it takes more than mem_max; -EBADMSG, -ENOMEM. */
int excerpt_make(struct excerpt *e, const struct excerpt_opts *opts);
void excerpt_fini(struct excerpt *e);

#endif
