/* SPDX-License-Identifier: BSD-2-Clause */
/* Search for separate debug files. Names in untrusted files never lead outside the search
 * directories. */
#ifndef ANALYZE_SYMBOL_DEBUG_FILE_H
#define ANALYZE_SYMBOL_DEBUG_FILE_H

#include "format/dwarf/elf_image.h"
#include "analyze/symbol/symbol.h"

struct source_opts {
	const struct symbolizer_opts *symbols;
	const struct symbol_archive *archive; /* archive of the image; NULL: none */
};

/* Finds the ELF file with this build-id (hex): in the image's archive, in the .build-id trees of
 * the debug directories, then, if enabled, by debuginfod-find. NULL: not found. */
struct elf_image *debug_file_by_id(const char *hex, const struct source_opts *opts);

/* Finds the file named by .gnu_debuglink of e. path: path of e, may be NULL. NULL: no file with its
 * build-id or, if one of them has none, with a matching CRC. */
struct elf_image *debug_file_by_link(struct elf_image *e, const char *path,
				     const struct source_opts *opts, struct meter *m);

/* Finds dwz's common file of e by build-id, or by the path in .gnu_debugaltlink or .debug_sup.
 * *wanted: e has such a link. */
struct elf_image *debug_file_alt(struct elf_image *e, const char *path,
				 const struct source_opts *opts, bool *wanted);

#endif
