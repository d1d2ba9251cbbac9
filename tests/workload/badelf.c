/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes ELF files that use a few KiB of disk space but are expensive to read: their sections
 * overlap one hole of 500 MiB. Each has its own build-id, and code at 4096 that `hostile map` runs.
 *
 *   badelf KIND FILE [COUNT [NAME]]
 *
 *   plain              normal file, without a hole
 *   strtab             the hole is the table of section names
 *   symtab, dynsym     COUNT symbol tables, each with the hole as symbols and as names
 *   eh_frame, debug_frame, gopclntab, note
 *                      COUNT such sections, each with the hole as content
 *   notes              COUNT program headers of notes, each with 64 KiB of the hole
 *   phnum              COUNT program headers, mostly empty; from 65535 on in section 0
 *   shnum              COUNT section headers, mostly empty, in section 0
 *   debuglink, altlink .gnu_debuglink, .gnu_debugaltlink to NAME
 *   compressed, zdebug .debug_info of 2^60 bytes, deflated in either form
 *
 * Manual use, as root:
 *
 *   build/workload/badelf symtab /tmp/f 2000; build/workload/hostile map /tmp/f &
 *   build/obrec -d 1s -p $! -o /tmp/a.obz
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "need.h"
#include "spin.h"

enum {
	CODE_AT = 0x1000,
	STRINGS_AT = 0x2000,
	DATA_AT = 0x2800,
	NOTE_AT = 0x2c00,
	SECTIONS_AT = 0x3000,
	SEGMENTS_AT = 0x400000,
	HOLE_AT = 64 << 20,
	HOLE_SZ = 500 << 20,
	NAMES = 1, /* the string section, which continues into the hole */
};

static const char strings[] =
	"\0SSL_read\0.eh_frame\0.debug_frame\0.gopclntab\0.note.x\0.gnu_debuglink\0"
	".gnu_debugaltlink\0.debug_info\0.zdebug_info\0.symtab\0.dynsym\0.strtab\0.note.gnu.build-"
	"id\0";

struct file {
	int fd;
	Elf64_Ehdr eh;
	unsigned sections; /* written so far */
};

static void put(const struct file *f, uint64_t at, const void *p, size_t len)
{
	NEED(pwrite(f->fd, p, len, at) == (ssize_t)len);
}

static void put_section(struct file *f, Elf64_Shdr sh)
{
	put(f, SECTIONS_AT + f->sections++ * sizeof(sh), &sh, sizeof(sh));
}

static void add(struct file *f, const char *name, uint32_t type, uint64_t at, uint64_t size)
{
	const char *s = memmem(strings, sizeof(strings), name, strlen(name) + 1);
	Elf64_Shdr sh = {.sh_name = s - strings,
			 .sh_type = type,
			 .sh_offset = at,
			 .sh_size = size,
			 .sh_addralign = 8};

	if (type == SHT_SYMTAB || type == SHT_DYNSYM) {
		sh.sh_link = NAMES;
		sh.sh_entsize = sizeof(Elf64_Sym);
	}
	if (!strcmp(name, ".eh_frame") || !strcmp(name, ".gopclntab")) {
		sh.sh_flags = SHF_ALLOC;
		sh.sh_addr = at;
	}
	if (!strcmp(name, ".debug_info") && size < 64)
		sh.sh_flags = SHF_COMPRESSED;
	put_section(f, sh);
}

static void put_segment(const struct file *f, unsigned i, uint32_t type, uint64_t at, uint64_t size)
{
	Elf64_Phdr ph = {.p_type = type,
			 .p_flags = PF_R | PF_X,
			 .p_offset = at,
			 .p_vaddr = at,
			 .p_filesz = size,
			 .p_memsz = size,
			 .p_align = 4};

	put(f, SEGMENTS_AT + i * sizeof(ph), &ph, sizeof(ph));
}

/* ---- kinds ---- */

static void plain(struct file *f, const char *kind, unsigned count, const char *name)
{
}

static void symbols(struct file *f, const char *kind, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		add(f, kind[0] == 's' ? ".symtab" : ".dynsym",
		    kind[0] == 's' ? SHT_SYMTAB : SHT_DYNSYM, HOLE_AT, HOLE_SZ);
}

/* Format of Go 1.20, with as many functions as fit. */
static void gopclntab(struct file *f, const char *kind, unsigned count, const char *name)
{
	const struct {
		uint32_t magic;
		uint8_t zero[2], quantum, pointer;
		uint64_t functions, files, text, names, units, file_names, pctab, functab;
	} table = {0xfffffff1, {0}, 1, 8, HOLE_SZ / 8, 0, CODE_AT, 72, 72, 72, 72, 72};

	put(f, HOLE_AT, &table, sizeof(table));
	for (unsigned i = 0; i < count; i++)
		add(f, ".gopclntab", SHT_PROGBITS, HOLE_AT, HOLE_SZ);
}

static void frames(struct file *f, const char *kind, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		add(f, kind[0] == 'e' ? ".eh_frame" : ".debug_frame", SHT_PROGBITS, HOLE_AT,
		    HOLE_SZ);
}

static void note(struct file *f, const char *kind, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		add(f, ".note.x", SHT_NOTE, HOLE_AT, HOLE_SZ);
}

static void notes(struct file *f, const char *kind, unsigned count, const char *name)
{
	put_segment(f, 1, PT_NULL, 0, 0); /* nor a build-id before them */
	for (unsigned i = 0; i < count; i++)
		put_segment(f, 2 + i, PT_NOTE, HOLE_AT + i * 65536ULL % HOLE_SZ, 65536);
	put_segment(f, 2 + count, PT_NOTE, NOTE_AT, 36);
	f->eh.e_phnum = 3 + count;
}

/* Overwrites section 0 with the counts. */
static void counted_by_section_0(struct file *f, uint64_t sections, uint32_t segments)
{
	Elf64_Shdr first = {.sh_size = sections, .sh_info = segments};

	put(f, SECTIONS_AT, &first, sizeof(first));
}

static void phnum(struct file *f, const char *kind, unsigned count, const char *name)
{
	f->eh.e_phnum = count < PN_XNUM ? count : PN_XNUM;
	if (count >= PN_XNUM)
		counted_by_section_0(f, 0, count);
}

static void shnum(struct file *f, const char *kind, unsigned count, const char *name)
{
	counted_by_section_0(f, count, 0);
	f->sections = 0;
}

static void link_to(struct file *f, const char *kind, unsigned count, const char *name)
{
	char data[512] = {0};
	size_t len = strlen(name) + 1;

	NEED(len < 256);
	memcpy(data, name, len);
	len = kind[0] == 'd' ? (len + 3) / 4 * 4 + 4 : len + 20; /* a checksum, a build-id */
	put(f, DATA_AT, data, len);
	add(f, kind[0] == 'd' ? ".gnu_debuglink" : ".gnu_debugaltlink", SHT_PROGBITS, DATA_AT, len);
	if (kind[0] == 'a') /* only searched in files with DWARF */
		add(f, ".debug_info", SHT_PROGBITS, DATA_AT + 512, 256);
}

static void compressed(struct file *f, const char *kind, unsigned count, const char *name)
{
	static const char deflated[] = "\x78\x9c\x63\x60\x60\x60\x00\x00\x00\x04\x00\x01";
	Elf64_Chdr ch = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1ULL << 60, .ch_addralign = 1};
	size_t head = kind[0] == 'z' ? 12 : sizeof(ch);

	if (kind[0] == 'z')
		memcpy(&ch, "ZLIB\x10\0\0\0\0\0\0\0", 12);
	put(f, DATA_AT, &ch, head);
	put(f, DATA_AT + head, deflated, sizeof(deflated));
	add(f, kind[0] == 'z' ? ".zdebug_info" : ".debug_info", SHT_PROGBITS, DATA_AT,
	    head + sizeof(deflated));
}

static const struct kind {
	const char *name;
	void (*make)(struct file *f, const char *kind, unsigned count, const char *name);
} kinds[] = {
	{"plain", plain},	  {"strtab", plain},
	{"symtab", symbols},	  {"dynsym", symbols},
	{"eh_frame", frames},	  {"debug_frame", frames},
	{"gopclntab", gopclntab}, {"note", note},
	{"notes", notes},	  {"phnum", phnum},
	{"shnum", shnum},	  {"debuglink", link_to},
	{"altlink", link_to},	  {"compressed", compressed},
	{"zdebug", compressed},
};

/* ---- the file ---- */

static void put_build_id(const struct file *f, const char *file, const char *kind, unsigned count)
{
	struct {
		Elf64_Nhdr head;
		char name[4], id[20];
	} n = {{4, 20, NT_GNU_BUILD_ID}, "GNU", {0}};
	char text[512];
	uint64_t hash = 14695981039346656037u;

	snprintf(text, sizeof(text), "%s %s %u", file, kind, count);
	for (int i = 0; i < 20; i++) {
		for (const char *p = text; *p; p++)
			hash = (hash ^ (unsigned char)*p) * 1099511628211u;
		n.id[i] = hash >> 32;
	}
	put(f, NOTE_AT, &n, sizeof(n));
	put_segment(f, 1, PT_NOTE, NOTE_AT, sizeof(n));
}

static void make(struct file *f, const struct kind *k, const char *path, unsigned count,
		 const char *name)
{
	bool sparse = k->make != link_to && k->make != compressed && strcmp(k->name, "plain");

	f->eh = (Elf64_Ehdr)
	{
		.e_ident = {ELFMAG0,	ELFMAG1,     ELFMAG2,	ELFMAG3,
			    ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
#if defined(__aarch64__)
		.e_machine = EM_AARCH64,
#else
		.e_machine = EM_X86_64,
#endif
		.e_version = EV_CURRENT, .e_phoff = SEGMENTS_AT, .e_shoff = SECTIONS_AT,
		.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shstrndx = NAMES,
	};
	put(f, CODE_AT, spin_code, sizeof(spin_code));
	put(f, STRINGS_AT, strings, sizeof(strings));
	put_segment(f, 0, PT_LOAD, 0, STRINGS_AT);
	put_build_id(f, path, k->name, count);
	put_section(f, (Elf64_Shdr){0});
	add(f, ".strtab", SHT_STRTAB, STRINGS_AT, sparse ? HOLE_SZ : sizeof(strings));
	add(f, ".note.gnu.build-id", SHT_NOTE, NOTE_AT, 36);
	k->make(f, k->name, count, name);
	f->eh.e_shnum = f->sections;
	put(f, 0, &f->eh, sizeof(f->eh));
	if (sparse)
		NEED(!ftruncate(f->fd, (off_t)HOLE_AT + HOLE_SZ + (64 << 20)));
}

int main(int argc, char **argv)
{
	unsigned count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
	struct file f = {0};

	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, argv[1]))
			continue;
		f.fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0755);
		NEED(f.fd >= 0);
		make(&f, &kinds[i], argv[2], count, argc > 4 ? argv[4] : "x");
		return 0;
	}
	return 2;
}
