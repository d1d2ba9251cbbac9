/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/tls_symbols.h"

/* A sparse file can claim any size at no cost. */
#define SECTION_MAX_SZ (512u << 20)

enum { PIECE = 32 << 10, NAME_MAX_SZ = 64, STEM_SZ = 4 };

/* Reads up to sz bytes; fewer at the end of the file. */
static size_t read_piece(int fd, uint64_t off, void *buf, size_t sz)
{
	ssize_t n;

	do
		n = pread(fd, buf, sz, off);
	while (n < 0 && errno == EINTR);
	return n < 0 ? 0 : n;
}

/* ---- names ---- */

static void note_place(struct tls_symbol *s, uint64_t at)
{
	if (s->at_cnt < TLS_SYMBOL_PLACES)
		s->at[s->at_cnt++] = at;
}

static bool stem_is_new(const struct tls_symbol *of, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!memcmp(of[j].name, of[i].name, STEM_SZ))
			return false;
	return true;
}

static void compare(const char *p, size_t left, uint64_t at, struct tls_symbol *of, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		size_t sz = strlen(of[i].name) + 1;

		if (sz <= left && !memcmp(p, of[i].name, sz))
			note_place(&of[i], at);
	}
}

/* Searches for names that begin before `end`. The names share few prefixes, so the piece is
 * searched for these. */
static void search_piece(const char *piece, size_t len, size_t end, uint64_t off,
			 struct tls_symbol *of, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		const char *p = stem_is_new(of, i) ? piece : NULL;

		for (;
		     p && (p = memmem(p, piece + len - p, of[i].name, STEM_SZ)) && p < piece + end;
		     p++)
			compare(p, piece + len - p, off + (p - piece), of, cnt);
	}
}

static bool find_names(int fd, const GElf_Shdr *strings, struct tls_symbol *of, size_t cnt)
{
	char piece[PIECE + NAME_MAX_SZ];
	bool any = false;

	for (uint64_t off = 0; off < strings->sh_size; off += PIECE) {
		uint64_t left = strings->sh_size - off;
		size_t want = left < sizeof(piece) ? left : sizeof(piece);
		size_t len = read_piece(fd, strings->sh_offset + off, piece, want);

		search_piece(piece, len, PIECE, off, of, cnt);
		if (len < want)
			break;
	}
	for (size_t i = 0; i < cnt; i++)
		any |= of[i].at_cnt != 0;
	return any;
}

/* ---- symbols ---- */

static void match(const Elf64_Sym *sym, struct tls_symbol *of, size_t cnt)
{
	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF || !sym->st_value)
		return;
	for (size_t i = 0; i < cnt; i++)
		for (unsigned j = 0; j < of[i].at_cnt; j++)
			if (of[i].at[j] == sym->st_name)
				of[i].address = sym->st_value;
}

void tls_symbols_find(int fd, const GElf_Shdr *symbols, const GElf_Shdr *strings,
		      struct tls_symbol *of, size_t cnt)
{
	Elf64_Sym piece[PIECE / sizeof(Elf64_Sym)];
	uint64_t off = 0;
	size_t n;

	if (symbols->sh_size > SECTION_MAX_SZ || strings->sh_size > SECTION_MAX_SZ ||
	    symbols->sh_entsize != sizeof(Elf64_Sym) || !find_names(fd, strings, of, cnt))
		return;
	do {
		uint64_t left = symbols->sh_size - off;

		n = left < sizeof(piece) ? left : sizeof(piece);
		n = read_piece(fd, symbols->sh_offset + off, piece, n) / sizeof(piece[0]);
		for (size_t i = 0; i < n; i++)
			match(&piece[i], of, cnt);
		off += n * sizeof(piece[0]);
	} while (n && off < symbols->sh_size);
}
