/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/elf/elf_open.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "record/elf/file_holes.h"

/* Larger than those of any real program. */
#define NAMES_MAX_SZ (64u << 20)

static bool names_claim_too_much(Elf *elf, int fd)
{
	size_t names;
	GElf_Shdr sh;

	return !elf_getshdrstrndx(elf, &names) && gelf_getshdr(elf_getscn(elf, names), &sh) &&
	       sh.sh_type != SHT_NOBITS &&
	       (sh.sh_size > NAMES_MAX_SZ || file_is_hollow(fd, sh.sh_offset, sh.sh_size));
}

/* Section 0 holds the number of sections if e_shnum cannot. Of any byte order: no linked file has
 * SHN_LORESERVE sections. */
static bool sections_claim_too_much(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} h = {{0}};
	Elf64_Shdr wide = {0};
	Elf32_Shdr narrow = {0};

	if (pread(fd, &h, sizeof(h), 0) < (ssize_t)sizeof(h.narrow))
		return false;
	if (h.ident[EI_CLASS] == ELFCLASS32)
		return !h.narrow.e_shnum && h.narrow.e_shoff &&
		       pread(fd, &narrow, sizeof(narrow), h.narrow.e_shoff) == sizeof(narrow) &&
		       narrow.sh_size >= SHN_LORESERVE;
	return !h.wide.e_shnum && h.wide.e_shoff &&
	       pread(fd, &wide, sizeof(wide), (off_t)h.wide.e_shoff) == sizeof(wide) &&
	       wide.sh_size >= SHN_LORESERVE;
}

Elf *elf_open_headers(int fd)
{
	elf_version(EV_CURRENT);
	return sections_claim_too_much(fd) ? NULL : elf_begin(fd, ELF_C_READ, NULL);
}

Elf *elf_open(int fd)
{
	Elf *elf = elf_open_headers(fd);

	if (elf && elf_kind(elf) == ELF_K_ELF && !names_claim_too_much(elf, fd))
		return elf;
	elf_end(elf);
	return NULL;
}
