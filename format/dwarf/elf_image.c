/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/elf_image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/dwarf/inflate.h"

struct elf_image {
	struct bytes file;
	bool is64, ours;
	uint16_t machine;
	struct elf_section *sections;
	size_t section_cnt;
	struct inflated *inflated; /* by section, filled on demand */
	struct elf_range *code;
	size_t code_cnt;
	char build_id[2 * 64 + 1];
	bool build_id_read;
};

static uint64_t get_word(const struct elf_image *e, struct cursor *c)
{
	return e->is64 ? cursor_u64(c) : cursor_u32(c);
}

static void read_section(const struct elf_image *e, struct cursor c, struct elf_section *s,
			 uint32_t *name)
{
	*name = cursor_u32(&c);
	s->type = cursor_u32(&c);
	s->flags = get_word(e, &c);
	s->addr = get_word(e, &c);
	s->off = get_word(e, &c);
	s->sz = get_word(e, &c);
	s->link = cursor_u32(&c);
	cursor_skip(&c, 4);
	get_word(e, &c);
	s->entsize = get_word(e, &c);
}

/* Section headers as in gABI chapter 4; section 0 has the values of e_shnum and e_shstrndx when
 * they do not fit. */
static int read_sections(struct elf_image *e, uint64_t shoff, uint64_t shentsize, uint64_t shnum,
			 uint32_t shstrndx)
{
	const uint64_t min = e->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct elf_section first = {0};
	struct bytes names;
	uint32_t name;

	if (!shoff || shentsize < min || shoff > e->file.len || e->file.len - shoff < shentsize)
		return 0;
	read_section(e, cursor_at(e->file, shoff), &first, &name);
	if (!shnum)
		shnum = first.sz;
	if (shstrndx == SHN_XINDEX)
		shstrndx = first.link;
	if (shnum > (e->file.len - shoff) / shentsize)
		shnum = (e->file.len - shoff) / shentsize;
	e->sections = calloc(shnum + 1, sizeof(*e->sections));
	e->inflated = calloc(shnum + 1, sizeof(*e->inflated));
	if (!e->sections || !e->inflated)
		return -ENOMEM;
	e->section_cnt = shnum;
	if (shstrndx < shnum) {
		struct elf_section s = {0};

		read_section(e, cursor_at(e->file, shoff + shstrndx * shentsize), &s, &name);
		names = bytes_strings(bytes_sub(e->file, s.off, s.sz));
	} else {
		names = (struct bytes){0};
	}
	for (uint64_t i = 0; i < shnum; i++) {
		struct elf_section *s = &e->sections[i];

		read_section(e, cursor_at(e->file, shoff + i * shentsize), s, &name);
		s->name = bytes_str(names, name);
		if (!s->name)
			s->name = "";
	}
	return 0;
}

static int by_lo(const void *a, const void *b)
{
	const struct elf_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static int add_code(struct elf_image *e, size_t *cap, uint64_t addr, uint64_t sz)
{
	int err;

	if (!sz || addr + sz < addr)
		return 0;
	err = grow(&e->code, cap, e->code_cnt + 1, sizeof(*e->code));
	if (!err)
		e->code[e->code_cnt++] = (struct elf_range){addr, addr + sz};
	return err;
}

static int read_code_segments(struct elf_image *e, size_t *cap, uint64_t phoff, uint64_t phentsize,
			      unsigned phnum)
{
	int err = 0;

	for (unsigned i = 0; i < phnum && !err; i++) {
		struct cursor c = cursor_at(e->file, phoff + i * phentsize);
		uint32_t type = cursor_u32(&c), flags = 0;
		uint64_t addr, memsz;

		if (e->is64)
			flags = cursor_u32(&c);
		get_word(e, &c);
		addr = get_word(e, &c);
		get_word(e, &c);
		get_word(e, &c);
		memsz = get_word(e, &c);
		if (!e->is64)
			flags = cursor_u32(&c);
		if (!c.bad && type == PT_LOAD && (flags & PF_X))
			err = add_code(e, cap, addr, memsz);
	}
	return err;
}

/* Needed to detect discarded functions: linkers leave their DWARF behind, relocated to zero, and in
 * a position-independent file their ranges would overlap real ones. */
static int read_code(struct elf_image *e, uint64_t phoff, uint64_t phentsize, unsigned phnum)
{
	size_t cap = 0, n = 0;
	int err = 0;

	for (size_t i = 0; i < e->section_cnt && !err; i++) {
		const struct elf_section *s = &e->sections[i];

		if ((s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR))
			err = add_code(e, &cap, s->addr, s->sz);
	}
	if (!err && !e->code_cnt)
		err = read_code_segments(e, &cap, phoff, phentsize, phnum);
	if (err || !e->code_cnt)
		return err;
	qsort(e->code, e->code_cnt, sizeof(*e->code), by_lo);
	for (size_t i = 1; i < e->code_cnt; i++) {
		if (e->code[i].lo > e->code[n].hi)
			e->code[++n] = e->code[i];
		else if (e->code[i].hi > e->code[n].hi)
			e->code[n].hi = e->code[i].hi;
	}
	e->code_cnt = n + 1;
	return 0;
}

static int read_header(struct elf_image *e, const char **why)
{
	struct cursor c = cursor_at(e->file, 0);
	uint64_t phoff, shoff;
	unsigned phentsize, phnum, shentsize, shnum, shstrndx;
	uint8_t ident[EI_NIDENT] = {0};
	int err;

	for (unsigned i = 0; i < EI_NIDENT; i++)
		ident[i] = cursor_u8(&c);
	if (memcmp(ident, ELFMAG, SELFMAG)) {
		*why = "not an ELF file";
		return -ENOEXEC;
	}
	if (ident[EI_DATA] != ELFDATA2LSB || ident[EI_CLASS] < ELFCLASS32 ||
	    ident[EI_CLASS] > ELFCLASS64) {
		*why = "not a little-endian ELF file";
		return -ENOEXEC;
	}
	e->is64 = ident[EI_CLASS] == ELFCLASS64;
	cursor_u16(&c);
	e->machine = cursor_u16(&c);
	cursor_u32(&c);
	get_word(e, &c);
	phoff = get_word(e, &c);
	shoff = get_word(e, &c);
	cursor_skip(&c, 4 + 2);
	phentsize = cursor_u16(&c);
	phnum = cursor_u16(&c);
	shentsize = cursor_u16(&c);
	shnum = cursor_u16(&c);
	shstrndx = cursor_u16(&c);
	if (c.bad) {
		*why = "truncated ELF header";
		return -ENOEXEC;
	}
	err = read_sections(e, shoff, shentsize, shnum, shstrndx);
	if (!err)
		err = read_code(e, phoff, phentsize, phnum);
	return err;
}

int elf_image__open(struct elf_image **out, int fd, const char **why)
{
	struct elf_image *e = calloc(1, sizeof(*e));
	struct stat st;
	void *map;
	int err;

	*out = NULL;
	*why = "out of memory";
	if (!e || fstat(fd, &st)) {
		err = e ? -errno : -ENOMEM;
		goto cleanup;
	}
	*why = "not a regular ELF file";
	err = -ENOEXEC;
	if (!S_ISREG(st.st_mode) || st.st_size < EI_NIDENT)
		goto cleanup;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		*why = "cannot be mapped";
		err = -errno;
		goto cleanup;
	}
	e->file = (struct bytes){map, (uint64_t)st.st_size};
	e->ours = (!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & S_IWOTH);
	err = read_header(e, why);
cleanup:
	close(fd);
	if (err)
		elf_image__close(e);
	else
		*out = e;
	return err;
}

struct elf_image *elf_image__open_path(const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct elf_image *e = NULL;
	char self[32];
	const char *why;
	struct stat st;

	if (place < 0)
		return NULL;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	if (!fstat(place, &st) && S_ISREG(st.st_mode))
		fd = open(self, O_RDONLY | O_CLOEXEC);
	close(place);
	return fd >= 0 && !elf_image__open(&e, fd, &why) ? e : NULL;
}

struct bytes elf_image__file(const struct elf_image *e)
{
	return e->file;
}

void elf_image__close(struct elf_image *e)
{
	if (!e)
		return;
	for (size_t i = 0; e->inflated && i < e->section_cnt; i++)
		inflated_fini(&e->inflated[i]);
	if (e->file.p)
		munmap((void *)e->file.p, e->file.len);
	free(e->inflated);
	free(e->sections);
	free(e->code);
	free(e);
}

uint16_t elf_image__machine(const struct elf_image *e)
{
	return e->machine;
}

bool elf_image__ours(const struct elf_image *e)
{
	return e->ours;
}

bool elf_image__is64(const struct elf_image *e)
{
	return e->is64;
}

size_t elf_image__section_cnt(const struct elf_image *e)
{
	return e->section_cnt;
}

const struct elf_section *elf_image__section(const struct elf_image *e, size_t index)
{
	return index < e->section_cnt ? &e->sections[index] : NULL;
}

const struct elf_section *elf_image__find(const struct elf_image *e, const char *name)
{
	for (size_t i = 1; i < e->section_cnt; i++)
		if (!strcmp(e->sections[i].name, name))
			return &e->sections[i];
	return NULL;
}

struct bytes elf_image__data(struct elf_image *e, const struct elf_section *s)
{
	if (!s || s->type == SHT_NOBITS)
		return (struct bytes){0};
	return bytes_sub(e->file, s->off, s->sz);
}

static bool is_zdebug(const struct elf_section *s)
{
	return !strncmp(s->name, ".zdebug_", 8);
}

static struct bytes inflate_section(struct elf_image *e, const struct elf_section *s,
				    struct meter *m)
{
	struct inflated *in = &e->inflated[s - e->sections];
	struct bytes raw = elf_image__data(e, s);
	struct cursor c = cursor_at(raw, 0);
	uint64_t sz = 0;
	uint32_t type = ELFCOMPRESS_ZLIB;

	if (in->tried)
		return in->data;
	if (is_zdebug(s)) { /* "ZLIB", then the size as eight big-endian bytes */
		if (cursor_u32(&c) != 0x42494c5a)
			return (struct bytes){0};
		sz = __builtin_bswap64(cursor_u64(&c));
	} else { /* Elf64_Chdr has four reserved bytes after the type */
		type = cursor_u32(&c);
		if (e->is64)
			cursor_u32(&c);
		sz = get_word(e, &c);
		get_word(e, &c);
	}
	if (!c.bad && meter_bytes(m, sz) && meter_work(m, sz / 4))
		inflated_init(in, type, (struct bytes){c.p, cursor_left(&c)}, sz);
	return in->data;
}

struct bytes elf_image__unpacked(struct elf_image *e, const struct elf_section *s, struct meter *m)
{
	if (!s)
		return (struct bytes){0};
	return is_zdebug(s) || (s->flags & SHF_COMPRESSED) ? inflate_section(e, s, m)
							   : elf_image__data(e, s);
}

struct bytes elf_image__debug(struct elf_image *e, const char *name, struct meter *m)
{
	const struct elf_section *s;
	char full[64];

	snprintf(full, sizeof(full), ".debug_%s", name);
	s = elf_image__find(e, full);
	if (!s) {
		snprintf(full, sizeof(full), ".zdebug_%s", name);
		s = elf_image__find(e, full);
	}
	return elf_image__unpacked(e, s, m);
}

static bool take_build_id(struct elf_image *e, struct bytes notes)
{
	struct cursor c = cursor_at(notes, 0);

	while (cursor_left(&c) >= 12) {
		uint64_t namesz = cursor_u32(&c), descsz = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = c.p, *desc;

		cursor_skip(&c, (namesz + 3) & ~UINT64_C(3));
		desc = c.p;
		cursor_skip(&c, descsz);
		if (c.bad)
			return false;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && !memcmp(name, "GNU", 4) && descsz &&
		    descsz <= 64) {
			for (uint64_t i = 0; i < descsz; i++)
				sprintf(e->build_id + 2 * i, "%02x", desc[i]);
			return true;
		}
		if (descsz & 3)
			cursor_skip(&c, 4 - (descsz & 3));
	}
	return false;
}

/* Sections of a real file do not overlap: in total at most the file's size is read. */
const char *elf_image__build_id(struct elf_image *e)
{
	uint64_t left = e->file.len;

	if (e->build_id_read)
		return e->build_id;
	e->build_id_read = true;
	for (size_t i = 0; i < e->section_cnt; i++) {
		struct bytes data = elf_image__data(e, &e->sections[i]);

		if (e->sections[i].type != SHT_NOTE)
			continue;
		if (data.len > left || take_build_id(e, data))
			break;
		left -= data.len;
	}
	return e->build_id;
}

bool elf_image__is(struct elf_image *e, const char *hex)
{
	return !hex || !*hex || !strcmp(elf_image__build_id(e), hex);
}

const struct elf_range *elf_image__code(const struct elf_image *e, size_t *cnt)
{
	*cnt = e->code_cnt;
	return e->code;
}

void elf_image__release_pages(struct elf_image *e)
{
	madvise((void *)e->file.p, e->file.len, MADV_DONTNEED);
	for (size_t i = 0; i < e->section_cnt; i++)
		inflated_release_pages(&e->inflated[i]);
}
