/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens untrusted ELF files with libelf, which allocates 200 bytes for each section when it opens a
 * file, and reads a whole section when its content is first used: the name of one section makes it
 * read all names. Read, not mapped: truncation of a mapped file would raise SIGBUS. End them with
 * elf_end(). */
#ifndef RECORD_ELF_OPEN_H
#define RECORD_ELF_OPEN_H

#include <libelf.h>

/* For headers and segments. NULL: no memory, or more sections than a linked file can have. May be
 * of another elf_kind(). */
Elf *elf_open_headers(int fd);

/* NULL also: not an ELF file, or the section names claim more than is in the file. */
Elf *elf_open(int fd);

#endif
