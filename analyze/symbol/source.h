/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that hold one image's symbols, found and opened, and the looking up in them. */
#ifndef ANALYZE_SYMBOL_SOURCE_H
#define ANALYZE_SYMBOL_SOURCE_H

#include "analyze/symbol/answers.h"
#include "analyze/symbol/debug_file.h"
#include "analyze/symbol/dwarf.h"
#include "analyze/symbol/elf_image.h"
#include "analyze/symbol/symtab.h"

struct source {
	struct elf_image *main;	    /* what open() gave */
	struct elf_image *separate; /* a debug file found for it */
	struct elf_image *alt;	    /* dwz's common file of the one with the DWARF */
	struct symtab symtab;
	struct dwarf *dwarf;
	const char *kind, *why;
	bool alt_missing, main_found, too_big;
	struct budget budget;
};

/* fd (consumed) is the image's file, or negative errno. Always leaves a usable source, if only of
 * kind "none". reserve: what all sources share; borrowed. */
int source_open(struct source *src, int fd, const char *id_hex, const char *path,
		const struct source_opts *opts, struct budget *reserve);
void source_close(struct source *src);

/* Something the files refer to was not found, so answers may get better another time. */
bool source_incomplete(const struct source *src);

/* A file that was found on this machine is another user's, who may say of it what he likes. */
bool source_doubtful(const struct source *src);

/* addrs ascending, without repeats; answers are appended to the empty `out`. Afterwards kind and
 * why say what they are from. */
int source_resolve(struct source *src, struct name_pool *pool, const uint64_t *addrs, size_t cnt,
		   unsigned jobs, struct answers *out);

#endif
