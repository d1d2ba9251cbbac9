/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbol table of an ELF file as address ranges, by llvm-symbolizer's rules
 * (SymbolizableObjectFile.cpp): .symtab, or .dynsym where there is none; code and data; of several
 * at one address the largest, of equals the last. Names point into the image.
 */
#ifndef ANALYZE_SYMBOL_SYMTAB_H
#define ANALYZE_SYMBOL_SYMTAB_H

#include "analyze/symbol/elf_image.h"

struct symtab {
	struct symtab_entry *entries;
	size_t cnt;
	const char **files; /* STT_FILE names, in order of appearance */
	size_t file_cnt;
	bool dynamic;
};

struct symtab_hit {
	const char *name; /* NULL: no symbol covers the address */
	const char *file; /* of a local symbol, where the table says; else NULL */
	uint64_t lo, hi;  /* where the answer is the same */
};

/* 0 also when there are no symbols (cnt is 0). */
int symtab_load(struct symtab *t, struct elf_image *e, struct meter *m);
void symtab_fini(struct symtab *t);
void symtab_find(const struct symtab *t, uint64_t addr, struct symtab_hit *hit);

#endif
