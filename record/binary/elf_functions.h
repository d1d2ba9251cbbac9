/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions in the symbol tables of a 64-bit ELF file. Only reads the file. */
#ifndef RECORD_ELF_FUNCTIONS_H
#define RECORD_ELF_FUNCTIONS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls fn for each function that the file defines until it returns false. A function may have
 * several names, and the same one in two tables. */
void elf_functions_each(int fd, Elf *elf,
			bool (*fn)(void *ctx, const Elf64_Sym *sym, const char *name), void *ctx);

/* Likewise for indirect functions (STT_GNU_IFUNC) too. */
void elf_functions_each_kind(int fd, Elf *elf,
			     bool (*fn)(void *ctx, const Elf64_Sym *sym, const char *name),
			     void *ctx);

/* Reads all of the bytes. */
bool elf_functions_read(int fd, uint64_t off, void *buf, size_t sz);

#endif
