/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the ELF file around the sections of an excerpt. */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>

#include "record/symbols/excerpt_impl.h"

enum { SECTIONS = 8 };

/* Writes the GNU build-id note from hex. */
static int put_note(struct excerpt_work *x, struct out *o, const char *hex)
{
	size_t len = strlen(hex) / 2;
	const uint32_t head[] = {4, (uint32_t)len, NT_GNU_BUILD_ID};
	int err = out_put(x, o, head, sizeof(head));

	if (!err)
		err = out_put(x, o, "GNU", 4);
	for (size_t i = 0; i < len && !err; i++) {
		unsigned byte = 0;

		sscanf(hex + 2 * i, "%2x", &byte);
		err = out_uint(x, o, byte, 1);
	}
	while (!err && o->len % 4)
		err = out_uint(x, o, 0, 1);
	return err;
}

static int put_headers(struct excerpt_work *x, struct out *file, const struct elf_image *elf,
		       const Elf64_Shdr *sections)
{
	Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				    EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = elf_image__machine(elf),
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(h),
			.e_shentsize = sizeof(*sections),
			.e_shnum = SECTIONS,
			.e_shstrndx = SECTIONS - 1};

	h.e_shoff = file->len;
	memcpy(file->p, &h, sizeof(h));
	return out_put(x, file, sections, SECTIONS * sizeof(*sections));
}

int excerpt_write_elf(struct excerpt_work *x, struct elf_image *elf, struct excerpt *e)
{
	struct out note = {0}, names = {0}, file = {0};
	const struct {
		const char *name;
		uint32_t type;
		const struct out *data;
	} parts[SECTIONS] = {
		{"", SHT_NULL, NULL},
		{".note.gnu.build-id", SHT_NOTE, &note},
		{".debug_info", SHT_PROGBITS, &x->info},
		{".debug_abbrev", SHT_PROGBITS, &x->abbrev},
		{".debug_line", SHT_PROGBITS, &x->line},
		{".debug_str", SHT_PROGBITS, &x->str},
		{".debug_rnglists", SHT_PROGBITS, &x->rnglists},
		{".shstrtab", SHT_STRTAB, &names},
	};
	static const Elf64_Ehdr none;
	Elf64_Shdr sections[SECTIONS] = {0};
	int err = put_note(x, &note, elf_image__build_id(elf));

	for (int i = 0; i < SECTIONS && !err; i++) {
		sections[i].sh_name = (uint32_t)names.len;
		err = out_str(x, &names, parts[i].name);
	}
	if (!err)
		err = out_put(x, &file, &none, sizeof(none));
	for (int i = 1; i < SECTIONS && !err; i++) {
		sections[i].sh_type = parts[i].type;
		sections[i].sh_offset = file.len;
		sections[i].sh_size = parts[i].data->len;
		sections[i].sh_addralign = i == 1 ? 4 : 1;
		err = out_put(x, &file, parts[i].data->p, parts[i].data->len);
	}
	while (!err && file.len % 8)
		err = out_uint(x, &file, 0, 1);
	if (!err)
		err = put_headers(x, &file, elf, sections);
	free(note.p);
	free(names.p);
	if (err) {
		free(file.p);
		return err;
	}
	e->elf = file.p;
	e->sz = file.len;
	return 0;
}
