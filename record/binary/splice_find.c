/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/binary/splice_find.h"

#include <gelf.h>
#include <string.h>

#include "record/elf/elf_open.h"
#include "record/elf/file_holes.h"

enum { TABLES_MAX = 2 };

/* Searches a dynamic symbol section; the first symbol is the null symbol. */
static bool has_splice(Elf *elf, Elf_Data *data, const GElf_Shdr *sh, size_t cnt)
{
	GElf_Sym sym;

	for (size_t i = 1; i < cnt && gelf_getsym(data, i, &sym); i++) {
		const char *name = sym.st_shndx == SHN_UNDEF
					   ? elf_strptr(elf, sh->sh_link, sym.st_name)
					   : NULL;

		if (name && !strcmp(name, "splice"))
			return true;
	}
	return false;
}

static bool is_go(Elf *elf, size_t names, const GElf_Shdr *sh)
{
	const char *name = elf_strptr(elf, names, sh->sh_name);

	return name && strstr(name, "gopclntab");
}

/* Larger than that of any real file; libelf loads all of it into memory. */
#define SYMBOLS_MAX_SZ (64u << 20)

static bool is_readable(Elf *elf, int fd, const GElf_Shdr *sh)
{
	GElf_Shdr strings;

	return sh->sh_size <= SYMBOLS_MAX_SZ && !file_is_hollow(fd, sh->sh_offset, sh->sh_size) &&
	       gelf_getshdr(elf_getscn(elf, sh->sh_link), &strings) &&
	       strings.sh_size <= SYMBOLS_MAX_SZ &&
	       !file_is_hollow(fd, strings.sh_offset, strings.sh_size);
}

static bool may_splice(Elf *elf, int fd)
{
	bool dynamic = false;
	Elf_Scn *scn = NULL;
	size_t names;
	int tables = 0;

	if (elf_getshdrstrndx(elf, &names))
		return false;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;
		size_t cnt;

		if (!gelf_getshdr(scn, &sh))
			continue;
		if (is_go(elf, names, &sh))
			return true;
		if (sh.sh_type != SHT_DYNSYM || !sh.sh_entsize || ++tables > TABLES_MAX ||
		    !is_readable(elf, fd, &sh))
			continue;
		cnt = sh.sh_size / sh.sh_entsize;
		data = elf_getdata(scn, NULL);
		dynamic = cnt > 1;
		if (data && has_splice(elf, data, &sh, cnt))
			return true;
	}
	return !dynamic;
}

bool splice_find(int fd)
{
	Elf *elf = elf_open(fd);
	bool may = elf && may_splice(elf, fd);

	elf_end(elf);
	return may;
}
