/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of a symbol table by their names. The tables of large programs have a hundred megabytes
 * and more; they are read in pieces, and the symbols only when one of the names is there.
 */
#ifndef RECORD_TLS_SYMBOLS_H
#define RECORD_TLS_SYMBOLS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TLS_SYMBOL_PLACES = 32 };

struct tls_symbol {
	const char *name; /* of 4 to 63 bytes */
	uint64_t address; /* 0: not found */
	/* Of the name in the strings: on its own, and as the end of longer ones. */
	uint64_t at[TLS_SYMBOL_PLACES];
	unsigned at_cnt;
};

/* symbols, strings: the sections, of a 64-bit file. Fills `address` of the functions defined. */
void tls_symbols_find(int fd, const GElf_Shdr *symbols, const GElf_Shdr *strings,
		      struct tls_symbol *of, size_t cnt);

#endif
