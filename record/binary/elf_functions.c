/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/elf_functions.h"
#include "record/elf/file_holes.h"

enum {
	TABLES_MAX = 4,
	STRINGS_MAX_SZ = 256 << 20,
	SYMBOLS_MAX_SZ = 512 << 20,
	PIECE = 32 << 10,
	NAME_MAX_LEN = 1024,
};

struct walk {
	int fd;
	bool indirect;
	bool (*fn)(void *ctx, const Elf64_Sym *sym, const char *name);
	void *ctx;
};

bool elf_functions_read(int fd, uint64_t off, void *buf, size_t sz)
{
	ssize_t n;

	do
		n = pread(fd, buf, sz, off);
	while (n < 0 && errno == EINTR);
	return n >= 0 && (size_t)n == sz;
}

static bool is_wanted(const struct walk *w, unsigned type)
{
	return type == STT_FUNC || (w->indirect && type == STT_GNU_IFUNC);
}

static bool walk_symbols(const struct walk *w, const GElf_Shdr *sh, const char *strings, size_t len)
{
	Elf64_Sym piece[PIECE / sizeof(Elf64_Sym)];
	uint64_t cnt = sh->sh_size / sizeof(*piece);

	for (uint64_t at = 0; at < cnt;) {
		size_t n = sizeof(piece) / sizeof(*piece);

		n = cnt - at < n ? cnt - at : n;
		if (!elf_functions_read(w->fd, sh->sh_offset + at * sizeof(*piece), piece,
					n * sizeof(*piece)))
			return true;
		for (size_t i = 0; i < n; i++) {
			const Elf64_Sym *s = &piece[i];

			if (is_wanted(w, ELF64_ST_TYPE(s->st_info)) && s->st_shndx != SHN_UNDEF &&
			    s->st_value && s->st_name < len &&
			    strnlen(strings + s->st_name, NAME_MAX_LEN) < NAME_MAX_LEN &&
			    !w->fn(w->ctx, s, strings + s->st_name))
				return false;
		}
		at += n;
	}
	return true;
}

static bool walk_table(const struct walk *w, const GElf_Shdr *sh, const GElf_Shdr *strings)
{
	bool more = true;
	char *text;

	if (sh->sh_entsize != sizeof(Elf64_Sym) || sh->sh_size > SYMBOLS_MAX_SZ ||
	    strings->sh_size > STRINGS_MAX_SZ ||
	    file_is_hollow(w->fd, sh->sh_offset, sh->sh_size) ||
	    file_is_hollow(w->fd, strings->sh_offset, strings->sh_size))
		return true;
	text = calloc(1, strings->sh_size + 1);
	if (text && elf_functions_read(w->fd, strings->sh_offset, text, strings->sh_size))
		more = walk_symbols(w, sh, text, strings->sh_size);
	free(text);
	return more;
}

static void each(Elf *elf, struct walk w)
{
	GElf_Shdr sh, strings;
	Elf_Scn *scn = NULL;

	for (int n = 0; n < TABLES_MAX && (scn = elf_nextscn(elf, scn));)
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_DYNSYM || sh.sh_type == SHT_SYMTAB) &&
		    gelf_getshdr(elf_getscn(elf, sh.sh_link), &strings)) {
			n++;
			if (!walk_table(&w, &sh, &strings))
				return;
		}
}

void elf_functions_each(int fd, Elf *elf,
			bool (*fn)(void *ctx, const Elf64_Sym *sym, const char *name), void *ctx)
{
	each(elf, (struct walk){fd, false, fn, ctx});
}

void elf_functions_each_kind(int fd, Elf *elf,
			     bool (*fn)(void *ctx, const Elf64_Sym *sym, const char *name),
			     void *ctx)
{
	each(elf, (struct walk){fd, true, fn, ctx});
}
