/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A slim ELF: what symbolization needs of a binary and of its separate debug file, as one valid ELF
 * file. Planned from the headers alone, then streamed in one pass through a small buffer, so its
 * size never matters for memory.
 *
 *   from the debug file, else the binary: .symtab, .strtab, the DWARF sections below
 *   from the binary:                      .dynsym, .dynstr, .note.gnu.build-id;
 *                                         .symtab when the other had none
 *   neither has a .symtab:                that of .gnu_debugdata (MiniDebugInfo)
 *   without DWARF:                        .gnu_debuglink, so that the debug file can be found later
 *
 * Program headers and allocated sections keep their addresses (the latter as SHT_NOBITS), section
 * numbers stay those of the file that gave the DWARF. Compressed sections are decompressed: zstd
 * then makes less of them than zlib did (libc6-dbg: 3.46 MB against 3.89 MB), and the analyser need
 * not inflate.
 */
#ifndef RECORD_SLIM_H
#define RECORD_SLIM_H

#include "record/symbols/slim_elf.h"

#define SLIM_MAX_SZ (8ULL << 30) /* a slim ELF is never larger, whatever was asked for */

struct slim;

struct slim_info {
	const char *symbols; /* "dwarf", "symtab", "dynsym", "none": the best it holds */
	uint64_t size;	     /* of the slim ELF, bytes */
	uint64_t dwarf_sz;   /* DWARF found, taken or not */
	bool dwarf_too_big;  /* it was left out for its size */
	bool split; /* skeleton units: only excerpts carry what is in .dwo or .dwp files */
};

/* Gets the next bytes; a negative return stops the writing and is returned. */
typedef int (*slim_sink)(void *ctx, const void *p, size_t len);

/*
 * Both files stay open and borrowed until __free; debug may be NULL. dwarf_max: bytes of DWARF
 * taken at most, 0 for none at all. -EBADMSG: sections overlap or links are wrong; -ENOMEM.
 */
int slim__plan(struct slim **s, const struct slim_elf *binary, const struct slim_elf *debug,
	       uint64_t dwarf_max);
struct slim_info slim__info(const struct slim *s);

/* Bytes of memory that both files' headers, planning, and writing to a sink of sink_sz take at most,
 * by the headers: they are tables and buffers, whatever the sections' sizes. */
uint64_t slim__memory(const struct slim_elf *binary, const struct slim_elf *debug, bool dwarf,
		      uint64_t sink_sz);

/* Exactly info.size bytes go to the sink. -EBADMSG: the file was cut or a compressed section is
 * damaged. */
int slim__write(const struct slim *s, slim_sink sink, void *ctx);
void slim__free(struct slim *s);

#endif
