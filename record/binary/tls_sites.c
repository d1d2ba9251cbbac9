/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/binary/tls_sites.h"

#include <gelf.h>

bool tls_sites_add(struct tls_sites *s, const struct tls_site *site)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->site[i].offset == site->offset)
			return false;
	if (s->cnt >= TLS_SITES_MAX)
		return false;
	s->site[s->cnt++] = *site;
	return true;
}

bool tls_file_offset(Elf *elf, uint64_t address, uint64_t *offset)
{
	size_t n;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X &&
		    address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz) {
			*offset = address - ph.p_vaddr + ph.p_offset;
			return true;
		}
	return false;
}
