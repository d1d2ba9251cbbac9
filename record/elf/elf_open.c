/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/elf/elf_open.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

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

Elf *elf_open(int fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !names_claim_too_much(elf, fd))
		return elf;
	elf_end(elf);
	return NULL;
}
