/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens untrusted ELF files with libelf, which reads a whole section when its content is first used:
 * the name of one section makes it read all names. */
#ifndef RECORD_ELF_OPEN_H
#define RECORD_ELF_OPEN_H

#include <libelf.h>

/* NULL: not an ELF file, no memory, or the section names claim more than is in the file. Read, not
 * mapped: truncation of a mapped file would raise SIGBUS. End it with elf_end(). */
Elf *elf_open(int fd);

#endif
