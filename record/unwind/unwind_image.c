/* SPDX-License-Identifier: BSD-2-Clause */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

#include "record/unwind/unwind_image.h"

#define EH_FRAME_HDR_SZ 64 /* larger than its fields before the table */
#define INFLATED_MAX (512u << 20)
#define DEFLATE_RATIO_MAX 1040 /* zlib compresses at most 1032:1; a higher ratio is invalid */

static void code_add(struct unwind_image *im, uint64_t start, uint64_t size)
{
	if (!size || start + size < start || im->code_cnt == IMAGE_CODE_MAX)
		return;
	im->code[im->code_cnt].start = start;
	im->code[im->code_cnt++].end = start + size;
}

static void stub_add(struct unwind_image *im, enum image_stub kind, uint64_t start, uint64_t end)
{
	if (im->stub_cnt == IMAGE_STUBS_MAX || end <= start)
		return;
	im->stubs[im->stub_cnt].start = start;
	im->stubs[im->stub_cnt].end = end;
	im->stubs[im->stub_cnt++].kind = kind;
}

/* Procedure linkage tables. */
static void read_plt(struct unwind_image *im, const char *name, const GElf_Shdr *sh)
{
	bool lazy = !strcmp(name, ".plt") || !strcmp(name, ".iplt");
	uint64_t start = sh->sh_addr, end = start + sh->sh_size;

	if ((!lazy && strcmp(name, ".plt.sec") && strcmp(name, ".plt.got")) ||
	    !(sh->sh_flags & SHF_EXECINSTR) || end < start)
		return;
#if ARCH_ARM64
	/* the first entry, used by the others: stp x16, x30, [sp, #-16]!, then seven more
	 * instructions (elfnn-aarch64.c of binutils); the other entries do not use the stack */
	if (!strcmp(name, ".plt") && sh->sh_size >= 32) {
		stub_add(im, STUB_CALLED, start, start + 4);
		stub_add(im, STUB_PUSHED, start + 4, start + 32);
		start += 32;
	}
	lazy = false;
#endif
	stub_add(im, lazy ? STUB_LAZY : STUB_CALLED, start, end);
}

/*
 * arm64's vDSO has no unwind information for its signal trampoline (see vdso/sigreturn.S): two
 * instructions at a known symbol. It is returned to, not called, so it is looked up at its address
 * minus one.
 */
static void read_sigreturn(struct unwind_image *im, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	GElf_Sym sym;

	if (!ARCH_ARM64 || !d || !sh->sh_entsize)
		return;
	for (size_t i = 0; i < sh->sh_size / sh->sh_entsize && gelf_getsym(d, i, &sym); i++) {
		const char *name = elf_strptr(im->elf, sh->sh_link, sym.st_name);

		if (name && !strcmp(name, "__kernel_rt_sigreturn"))
			stub_add(im, STUB_SIGRETURN, sym.st_value - 1, sym.st_value + 8);
	}
}

bool unwind_image_has_code(const struct unwind_image *im, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < im->code_cnt; i++)
		if (start >= im->code[i].start && end <= im->code[i].end && start < end)
			return true;
	return false;
}

/* Returns the decompressed size of the section; 0: invalid. */
static uint64_t inflated_size(const struct image_frames *f)
{
	uint64_t size = 0;
	Elf_Data *raw;
	GElf_Chdr ch;

	if (!f->gnu) {
		size = gelf_getchdr(f->scn, &ch) ? ch.ch_size : 0;
	} else {
		/* "ZLIB", then the size as 8 bytes, big-endian */
		raw = elf_rawdata(f->scn, NULL);
		if (!raw || !raw->d_buf || raw->d_size < 12 || memcmp(raw->d_buf, "ZLIB", 4))
			return 0;
		for (int i = 4; i < 12; i++)
			size = size << 8 | ((uint8_t *)raw->d_buf)[i];
	}
	return size > INFLATED_MAX || size / DEFLATE_RATIO_MAX > f->size ? 0 : size;
}

static Elf_Data *inflate(const struct image_frames *f)
{
	int err = f->gnu ? elf_compress_gnu(f->scn, 0, 0) : elf_compress(f->scn, 0, 0);

	return err < 0 ? NULL : elf_rawdata(f->scn, NULL);
}

static bool take(uint64_t *room, uint64_t size)
{
	if (size > *room)
		return false;
	*room -= size;
	return true;
}

/* Loads the whole section into memory. */
static int load_frames(struct unwind_image *im, struct image_frames *f, uint64_t *room)
{
	uint64_t size;
	Elf_Data *d;

	if (f->compressed) {
		if (!take(room, f->size))
			return -E2BIG;
		size = inflated_size(f);
		if (size && !take(room, size))
			return -E2BIG;
		d = size ? inflate(f) : NULL;
	} else {
		d = f->scn ? elf_rawdata(f->scn, NULL)
			   : elf_getdata_rawchunk(im->elf, f->offset, f->size, ELF_T_BYTE);
	}
	if (!d || !d->d_buf) {
		im->malformed = true;
		return 0;
	}
	f->s.data = d->d_buf;
	f->s.size = d->d_size;
	return 0;
}

static int open_one(struct unwind_image *im, struct image_frames *f, int fd, uint64_t *room)
{
	if (!f->size)
		return 0;
	if (fd < 0 || f->compressed)
		return load_frames(im, f, room);
	f->file = (struct cfi_file){.fd = fd, .offset = f->offset};
	f->s.file = &f->file;
	f->s.size = f->size;
	return 0;
}

int unwind_image__open_frames(struct unwind_image *im, int fd, uint64_t *room)
{
	int err = open_one(im, &im->eh_frame, fd, room);

	if (!err)
		err = open_one(im, &im->debug_frame, fd, room);
	return err || take(room, im->gopclntab_size) ? err : -E2BIG;
}

void unwind_image__close_frames(struct unwind_image *im)
{
	cfi_file__fini(&im->eh_frame.file);
	cfi_file__fini(&im->debug_frame.file);
}

static void frame_section(Elf_Scn *scn, const GElf_Shdr *sh, const char *name,
			  struct image_frames *f)
{
	f->scn = scn;
	f->offset = sh->sh_offset;
	f->size = sh->sh_size;
	f->gnu = !strncmp(name, ".z", 2);
	f->compressed = f->gnu || sh->sh_flags & SHF_COMPRESSED;
	f->s.address = sh->sh_addr;
}

static void read_sections(struct unwind_image *im, Elf *elf)
{
	uint64_t text = 0, got = 0, hdr = 0;
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (!name)
			continue;
		if (!strcmp(name, ".eh_frame")) {
			frame_section(scn, &sh, name, &im->eh_frame);
		} else if (!strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame")) {
			frame_section(scn, &sh, name, &im->debug_frame);
		} else if (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab")) {
			im->gopclntab = scn;
			im->gopclntab_size = sh.sh_size;
		} else if (!strcmp(name, ".text")) {
			text = sh.sh_addr;
		} else if (!strcmp(name, ".got")) {
			got = sh.sh_addr;
		} else if (!strcmp(name, ".eh_frame_hdr")) {
			hdr = sh.sh_addr;
		}
		if (sh.sh_type == SHT_DYNSYM)
			read_sigreturn(im, scn, &sh);
		read_plt(im, name, &sh);
		if (!im->code_cnt && sh.sh_flags & SHF_EXECINSTR && sh.sh_flags & SHF_ALLOC)
			code_add(im, sh.sh_addr, sh.sh_size);
	}
	im->eh_frame.s.text = im->debug_frame.s.text = im->go_text = text;
	im->eh_frame.s.datarel = got ? got : hdr;
	im->debug_frame.s.debug_frame = true;
}

struct segments {
	GElf_Phdr load[IMAGE_CODE_MAX], eh_frame_hdr; /* PT_NULL: none */
	unsigned load_cnt;
};

/* .eh_frame of an image without section headers: the second field of PT_GNU_EH_FRAME points to
 * it. */
static void read_eh_frame_hdr(struct unwind_image *im, Elf *elf, const struct segments *seg)
{
	const GElf_Phdr *hdr = &seg->eh_frame_hdr;
	uint64_t head = hdr->p_filesz < EH_FRAME_HDR_SZ ? hdr->p_filesz : EH_FRAME_HDR_SZ;
	Elf_Data *d = elf_getdata_rawchunk(elf, hdr->p_offset, head, ELF_T_BYTE);
	struct image_frames *f = &im->eh_frame;
	struct cfi_section s = {0};
	struct cursor c;
	uint64_t at;
	uint8_t enc;

	if (!d || !d->d_buf || d->d_size < 8) {
		im->malformed = true;
		return;
	}
	s.data = d->d_buf;
	s.size = d->d_size;
	s.address = s.datarel = hdr->p_vaddr;
	c = (struct cursor){s.data + 4, s.data + s.size, false};
	enc = s.data[1];
	if (s.data[0] != 1 || enc == DW_EH_PE_omit || enc & DW_EH_PE_indirect) {
		im->malformed = true;
		return;
	}
	at = cfi_pointer(&s, &c, enc, 8, 0);
	for (unsigned i = 0; i < seg->load_cnt && !c.bad; i++) {
		const GElf_Phdr *l = &seg->load[i];
		uint64_t skip = at - l->p_vaddr;

		if (at < l->p_vaddr || skip >= l->p_filesz)
			continue;
		f->offset = l->p_offset + skip;
		f->size = l->p_filesz - skip;
		f->s.address = at;
		f->s.datarel = hdr->p_vaddr;
		f->s.until_zero = true;
		return;
	}
	im->malformed = true;
}

static void read_segments(struct unwind_image *im, Elf *elf, struct segments *seg)
{
	size_t cnt = 0;

	elf_getphdrnum(elf, &cnt);
	for (size_t i = 0; i < cnt && i < 4096; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph))
			break;
		if (ph.p_type == PT_GNU_EH_FRAME)
			seg->eh_frame_hdr = ph;
		if (ph.p_type != PT_LOAD)
			continue;
		if (seg->load_cnt < IMAGE_CODE_MAX)
			seg->load[seg->load_cnt++] = ph;
		if (ph.p_flags & PF_X)
			code_add(im, ph.p_vaddr, ph.p_memsz);
	}
}

int unwind_image__open(struct unwind_image *im, Elf *elf)
{
	struct segments seg = {.load_cnt = 0};
	GElf_Ehdr eh;

	memset(im, 0, sizeof(*im));
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh.e_machine != UNWIND_ELF_MACHINE)
		return -ENODATA;
	im->elf = elf;
	im->entry = eh.e_entry;
	read_segments(im, elf, &seg);
	read_sections(im, elf);
	if (!im->eh_frame.size && seg.eh_frame_hdr.p_type == PT_GNU_EH_FRAME)
		read_eh_frame_hdr(im, elf, &seg);
	return 0;
}
