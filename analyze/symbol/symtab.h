/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbol table of an ELF file as address ranges, by llvm-symbolizer's rules
 * (SymbolizableObjectFile.cpp): .symtab, otherwise .dynsym; code and data. Of several symbols at
 * one address the largest is used, of equal ones the last. Names point into the image.
 */
#ifndef ANALYZE_SYMBOL_SYMTAB_H
#define ANALYZE_SYMBOL_SYMTAB_H

#include "format/dwarf/elf_image.h"

struct symtab {
	struct symtab_entry *entries;
	size_t cnt;
	const char **files; /* STT_FILE names, in order of appearance */
	size_t file_cnt;
	bool dynamic;
};

struct symtab_hit {
	const char *name; /* NULL: no symbol covers the address */
	const char *file; /* source file of a local symbol, if known; else NULL */
	uint64_t lo, hi;  /* range in which the result is the same */
};

/* Returns 0 also without symbols (cnt is 0). */
int symtab_load(struct symtab *t, struct elf_image *e, struct meter *m);
void symtab_fini(struct symtab *t);
void symtab_find(const struct symtab *t, uint64_t addr, struct symtab_hit *hit);

#endif
