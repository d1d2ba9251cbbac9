/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A slim ELF: one valid ELF file with the parts of a binary and its separate debug file that
 * symbolization needs. It is planned from the headers alone, then streamed in one pass through a
 * small buffer, so memory does not depend on its size.
 *
 *   from the debug file, else the binary: .symtab, .strtab, the DWARF sections below
 *   from the binary:                      .dynsym, .dynstr, .note.gnu.build-id;
 *                                         .symtab if the other has none
 *   neither has a .symtab:                that of .gnu_debugdata (MiniDebugInfo), else one made of
 *                                         Go's .gopclntab
 *   without DWARF:                        .gnu_debuglink, so that the debug file can be found later
 *
 * Program headers and allocated sections keep their addresses (sections as SHT_NOBITS). Section
 * numbers are those of the file that has the DWARF. Compressed sections are decompressed: zstd
 * compresses the result better than zlib did (libc6-dbg: 3.46 MB against 3.89 MB), and the analyser
 * need not inflate it.
 */
#ifndef RECORD_SLIM_H
#define RECORD_SLIM_H

#include "record/symbols/slim_elf.h"

#define SLIM_MAX_SZ (8ULL << 30) /* upper limit for any slim ELF */

struct slim;

struct slim_info {
	const char *symbols; /* "dwarf", "symtab", "dynsym", "none": the best available */
	uint64_t size;	     /* size of the slim ELF in bytes */
	uint64_t dwarf_sz;   /* DWARF found, included or not */
	bool dwarf_too_big;  /* DWARF was omitted because of its size */
	bool from_go;	     /* the symbol table was made of .gopclntab */
	bool split;	     /* skeleton units: .dwo and .dwp contents are only in excerpts */
};

/* Receives the next bytes. A negative return value stops the writing and is returned. */
typedef int (*slim_sink)(void *ctx, const void *p, size_t len);

/* Both files must stay open until __free (borrowed); debug may be NULL. dwarf_max: limit for DWARF
 * in bytes, 0: none. -EBADMSG: sections overlap or links are invalid; -ENOMEM. */
int slim__plan(struct slim **s, const struct slim_elf *binary, const struct slim_elf *debug,
	       uint64_t dwarf_max);
struct slim_info slim__info(const struct slim *s);

/* Upper bound in bytes of the memory for both files' headers, planning, and writing to a sink of
 * sink_sz. Depends on the headers only, not on section sizes. */
uint64_t slim__memory(const struct slim_elf *binary, const struct slim_elf *debug, bool dwarf,
		      uint64_t sink_sz);

/* Sends exactly info.size bytes to the sink. -EBADMSG: the file was truncated or a compressed
 * section is damaged. */
int slim__write(const struct slim *s, slim_sink sink, void *ctx);
void slim__free(struct slim *s);

#endif
