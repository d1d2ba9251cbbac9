/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and opens the files that hold the symbols of one image, and looks addresses up in them. */
#ifndef ANALYZE_SYMBOL_SOURCE_H
#define ANALYZE_SYMBOL_SOURCE_H

#include "analyze/symbol/answers.h"
#include "analyze/symbol/debug_file.h"
#include "analyze/symbol/dwarf.h"
#include "format/dwarf/elf_image.h"
#include "analyze/symbol/symtab.h"

/* An additional file with DWARF of the image. */
struct source_part {
	struct elf_image *elf, *alt;
	struct dwarf *dwarf;
};

struct source {
	struct elf_image *main;	    /* file returned by open() */
	struct elf_image *separate; /* separate debug file found for it */
	struct elf_image *alt;	    /* dwz's common file of the file with the DWARF */
	struct symtab symtab;
	struct dwarf *dwarf;
	struct source_part *parts; /* DWARF in further members of the archive */
	size_t part_cnt, part_cap;
	const char *kind, *why;
	bool alt_missing, main_found, too_big;
	struct budget budget;
};

/* fd (consumed): file of the image, or negative errno. Always leaves a usable source, if only of
 * kind "none". reserve: budget shared by all sources; borrowed. */
int source_open(struct source *src, int fd, const char *id_hex, const char *path,
		const struct source_opts *opts, struct budget *reserve);
void source_close(struct source *src);

/* A referenced file was not found, so later runs may give better answers. */
bool source_incomplete(const struct source *src);

/* One of the files found on this machine belongs to another user, so its contents are not
 * trusted. */
bool source_doubtful(const struct source *src);

/* addrs: ascending, unique. Appends answers to `out`, which must be empty. Sets kind and why to the
 * origin of the answers. */
int source_resolve(struct source *src, struct name_pool *pool, const uint64_t *addrs, size_t cnt,
		   unsigned jobs, struct answers *out);

#endif
