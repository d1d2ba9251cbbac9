/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds functions in a symbol table by name. Tables of large programs exceed 100 MB, so they are
 * read in pieces, and symbols are read only if one of the names occurs in the strings. */
#ifndef RECORD_TLS_SYMBOLS_H
#define RECORD_TLS_SYMBOLS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TLS_SYMBOL_PLACES = 32 };

struct tls_symbol {
	const char *name; /* 4 to 63 bytes */
	uint64_t address; /* 0: not found */
	/*
	 * Offsets in the string table, including those where it is the suffix of a longer string.
	 */
	uint64_t at[TLS_SYMBOL_PLACES];
	unsigned at_cnt;
};

/* symbols, strings: section headers of a 64-bit file. Sets `address` of the functions that are
 * defined. */
void tls_symbols_find(int fd, const GElf_Shdr *symbols, const GElf_Shdr *strings,
		      struct tls_symbol *of, size_t cnt);

#endif
