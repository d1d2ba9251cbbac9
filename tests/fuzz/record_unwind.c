/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of hostile images. The first byte selects what the others are: a whole ELF image,
 * or the content of one of the parsed sections in a valid image. The resulting table must be safe
 * for the walk.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/unwind/unwind_table.h"

#define CODE 0x10000

/* ELF header, one executable segment, three section headers, their names, the section. */
struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	Elf64_Shdr sh[3];
	char names[48];
	uint8_t section[];
};

static struct image *wrap(const char *name, const uint8_t *data, size_t size)
{
	struct image *im = calloc(1, sizeof(*im) + size);
	Elf64_Ehdr *eh = &im->eh;

	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_ident[EI_VERSION] = eh->e_version = EV_CURRENT;
	eh->e_type = ET_DYN;
	eh->e_machine = EM_X86_64;
	eh->e_entry = CODE;
	eh->e_ehsize = sizeof(im->eh);
	eh->e_phoff = offsetof(struct image, ph);
	eh->e_phentsize = sizeof(im->ph);
	eh->e_phnum = 1;
	eh->e_shoff = offsetof(struct image, sh);
	eh->e_shentsize = sizeof(im->sh[0]);
	eh->e_shnum = 3;
	eh->e_shstrndx = 1;
	im->ph = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_X | PF_R, .p_vaddr = CODE, .p_memsz = 0x4000000};
	memcpy(im->names, "\0.shstrtab\0", 11);
	strcpy(im->names + 11, name);
	im->sh[1] = (Elf64_Shdr){.sh_name = 1,
				 .sh_type = SHT_STRTAB,
				 .sh_offset = offsetof(struct image, names),
				 .sh_size = sizeof(im->names)};
	im->sh[2] = (Elf64_Shdr){.sh_name = 11,
				 .sh_type = SHT_PROGBITS,
				 .sh_addr = 0x8000000,
				 .sh_offset = offsetof(struct image, section),
				 .sh_size = size};
	memcpy(im->section, data, size);
	return im;
}

static void require(int what)
{
	if (!what)
		abort();
}

static void check(const struct unwind_table *t)
{
	size_t rows = 0;

	for (size_t p = 0; p < t->page_cnt; p++) {
		const struct unwind_page *page = &t->pages[p];

		require(page->first == rows && page->cnt <= t->row_cnt - rows);
		for (uint32_t i = 0; i < page->cnt; i++) {
			uint32_t row = t->rows[rows + i];

			require((row & 0xffff) < t->rule_cnt);
			require(i ? row >> 16 > t->rows[rows + i - 1] >> 16 : row >> 16 == 0);
		}
		rows += page->cnt;
	}
	require(rows == t->row_cnt);
	if (t->page_cnt) {
		require(unwind_table__find(t, t->first_page << PAGE_SHIFT_ELF) != NULL);
		require(t->rules[0].cfa == CFA_NONE);
		/* there are no rows after the last function */
		require(!rows || unwind_table__find(t, ((t->first_page + t->page_cnt)
							<< PAGE_SHIFT_ELF)) == NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {".eh_frame", ".debug_frame", ".gopclntab",
					    ".zdebug_frame"};
	struct unwind_table t;
	struct image *im;
	Elf *elf;
	char *copy;

	if (!size)
		return 0;
	elf_version(EV_CURRENT);
	if (data[0] % 5 < 4) {
		im = wrap(names[data[0] % 5], data + 1, size - 1);
		copy = (char *)im;
		size += sizeof(*im) - 1;
	} else {
		copy = malloc(size);
		memcpy(copy, data + 1, --size);
	}
	for (int from_file = 0; from_file < 2; from_file++) {
		int fd = from_file ? memfd_create("image", MFD_CLOEXEC) : -1;

		require(!from_file || write(fd, copy, size) == (ssize_t)size);
		elf = from_file ? elf_begin(fd, ELF_C_READ, NULL) : elf_memory(copy, size);
		if (elf) {
			unwind_table__build(elf, fd, UINT64_MAX, &t);
			check(&t);
			unwind_table__fini(&t);
			elf_end(elf);
		}
		if (from_file)
			close(fd);
	}
	free(copy);
	return 0;
}
