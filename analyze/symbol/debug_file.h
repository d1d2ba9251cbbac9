/* SPDX-License-Identifier: BSD-2-Clause */
/* Search for separate debug files. Names in untrusted files never lead outside
 * the search directories. */
#ifndef ANALYZE_SYMBOL_DEBUG_FILE_H
#define ANALYZE_SYMBOL_DEBUG_FILE_H

#include "analyze/symbol/elf_image.h"
#include "analyze/symbol/symbol.h"

struct source_opts {
	const struct symbolizer_opts *symbols;
	const struct symbol_archive *archive; /* of the image; NULL: it is in none */
};

/* The file with this build-id (hex) that `has` DWARF or a symbol table: debug dirs' .build-id tree,
 * the image's archive, and with debuginfod debuginfod-find. NULL: none. */
struct elf_image *debug_file_by_id(const char *hex, const struct source_opts *opts);

/* Through the .gnu_debuglink of e, whose own path is `path` (may be NULL). NULL: none whose CRC
 * agrees. */
struct elf_image *debug_file_by_link(struct elf_image *e, const char *path,
				     const struct source_opts *opts, struct meter *m);

/* dwz's common file of e: by build-id, or the path that .gnu_debugaltlink or .debug_sup holds.
 * *wanted: there is such a link. */
struct elf_image *debug_file_alt(struct elf_image *e, const char *path,
				 const struct source_opts *opts, bool *wanted);

#endif
