/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/slim_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 16 /* for every section; the largest that a kept section requires */

struct slim_section *slim_append(struct slim *s)
{
	return &s->sections[s->cnt++];
}

/* Names in real files overlap little; in a malicious file all may share the same megabytes. */
#define NAMES_MAX_SZ (4u << 20)

static int make_names(struct slim *s)
{
	struct slim_section *own = slim_append(s);
	size_t sz = 1, at = 1;

	own->name = ".shstrtab";
	for (size_t i = 1; i < s->cnt && sz < NAMES_MAX_SZ; i++)
		sz += s->sections[i].name ? strlen(s->sections[i].name) + 1 : 0;
	if (sz >= NAMES_MAX_SZ)
		return -EBADMSG;
	s->names = calloc(1, sz);
	if (!s->names)
		return -ENOMEM;
	for (size_t i = 1; i < s->cnt; i++) {
		struct slim_section *to = &s->sections[i];

		to->h.sh_name = 0;
		if (to->name && *to->name) {
			to->h.sh_name = at;
			at += stpcpy(s->names + at, to->name) - (s->names + at) + 1;
		}
	}
	s->names_sz = at;
	own->h.sh_type = SHT_STRTAB;
	own->h.sh_addralign = 1;
	own->part = (struct slim_part){.coding = SLIM_MEMORY, .mem = s->names, .out_sz = at};
	return 0;
}

/* Sets offsets and sizes of all sections; returns the offset of the section headers. */
static uint64_t lay_out(struct slim *s)
{
	uint64_t at = s->head_sz;

	for (size_t i = 1; i < s->cnt; i++) {
		struct slim_section *to = &s->sections[i];

		if (to->part.out_sz) {
			at = (at + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
			to->h.sh_size = to->part.out_sz;
		}
		if (to->name)
			to->h.sh_offset = at;
		at += to->part.out_sz;
	}
	return (at + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* Returns the build-id section, the only note section with bytes; NULL: none. */
static const Elf64_Shdr *notes_of(const struct slim *s)
{
	for (size_t i = 1; i < s->cnt; i++)
		if (s->sections[i].h.sh_type == SHT_NOTE && s->sections[i].part.out_sz)
			return &s->sections[i].h;
	return NULL;
}

/* Segments keep their addresses but have no bytes in the file, except a note segment for the
 * build-id. */
static Elf64_Phdr slim_phdr(const struct slim *s, size_t index, const Elf64_Shdr *notes)
{
	Elf64_Phdr p = s->base->phdrs[index];

	p.p_filesz = 0;
	if (p.p_type == PT_NOTE && notes && notes->sh_addr >= p.p_vaddr &&
	    notes->sh_addr - p.p_vaddr < p.p_memsz) {
		p.p_vaddr = p.p_paddr = notes->sh_addr;
		p.p_offset = notes->sh_offset;
		p.p_filesz = p.p_memsz = notes->sh_size;
	}
	return p;
}

static void put_head(struct slim *s, const Elf64_Ehdr *h)
{
	const Elf64_Shdr *notes = notes_of(s);

	if (!s->base->is32) {
		memcpy(s->head, h, sizeof(*h));
		for (size_t i = 0; i < s->base->phdr_cnt; i++)
			((Elf64_Phdr *)((char *)s->head + sizeof(*h)))[i] = slim_phdr(s, i, notes);
		return;
	}
	Elf32_Ehdr *n = s->head;
#define NARROW(f) n->f = h->f
	memcpy(n->e_ident, h->e_ident, EI_NIDENT);
	NARROW(e_type), NARROW(e_machine), NARROW(e_version), NARROW(e_entry), NARROW(e_phoff),
		NARROW(e_shoff);
	NARROW(e_flags), NARROW(e_ehsize), NARROW(e_phentsize), NARROW(e_phnum),
		NARROW(e_shentsize);
	NARROW(e_shnum), NARROW(e_shstrndx);
#undef NARROW
	for (size_t i = 0; i < s->base->phdr_cnt; i++) {
		Elf64_Phdr p = slim_phdr(s, i, notes);

		((Elf32_Phdr *)(n + 1))[i] =
			(Elf32_Phdr){p.p_type,	 p.p_offset, p.p_vaddr, p.p_paddr,
				     p.p_filesz, p.p_memsz,  p.p_flags, p.p_align};
	}
}

static void put_tail(struct slim *s)
{
	for (size_t i = 0; i < s->cnt; i++) {
		const Elf64_Shdr *h = &s->sections[i].h;

		if (s->base->is32)
			((Elf32_Shdr *)s->tail)[i] =
				(Elf32_Shdr){h->sh_name,      h->sh_type,   h->sh_flags, h->sh_addr,
					     h->sh_offset,    h->sh_size,   h->sh_link,	 h->sh_info,
					     h->sh_addralign, h->sh_entsize};
		else
			((Elf64_Shdr *)s->tail)[i] = *h;
	}
}

static int make_headers(struct slim *s)
{
	const struct slim_elf *e = s->base;
	Elf64_Ehdr h = e->ehdr;

	h.e_ehsize = e->is32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
	h.e_phoff = e->phdr_cnt ? h.e_ehsize : 0;
	h.e_phentsize = e->is32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	h.e_phnum = e->phdr_cnt;
	h.e_shentsize = e->is32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	h.e_shnum = s->cnt;
	h.e_shstrndx = s->cnt - 1;
	s->head_sz = h.e_ehsize + e->phdr_cnt * h.e_phentsize;
	s->tail_sz = s->cnt * h.e_shentsize;
	s->head = calloc(1, s->head_sz);
	s->tail = calloc(1, s->tail_sz);
	if (!s->head || !s->tail)
		return -ENOMEM;
	h.e_shoff = lay_out(s);
	s->info.size = h.e_shoff + s->tail_sz;
	if (e->is32 && s->info.size > UINT32_MAX)
		return -EBADMSG;
	put_head(s, &h);
	put_tail(s);
	return 0;
}

int slim_lay_out(struct slim *s)
{
	int err = make_names(s);

	return err ? err : make_headers(s);
}

static int pad(uint64_t *at, uint64_t to, slim_sink sink, void *ctx)
{
	static const char zeros[ALIGN];
	size_t len = to - *at;

	*at = to;
	return len ? sink(ctx, zeros, len) : 0;
}

int slim__write(const struct slim *s, slim_sink sink, void *ctx)
{
	uint64_t at = s->head_sz;
	int err = sink(ctx, s->head, s->head_sz);

	for (size_t i = 1; !err && i < s->cnt; i++) {
		const struct slim_section *to = &s->sections[i];

		if (!to->part.out_sz)
			continue;
		err = pad(&at, to->h.sh_offset, sink, ctx);
		err = err ? err : slim_part_write(&to->part, sink, ctx);
		at += to->part.out_sz;
	}
	err = err ? err : pad(&at, s->info.size - s->tail_sz, sink, ctx);
	return err ? err : sink(ctx, s->tail, s->tail_sz);
}
