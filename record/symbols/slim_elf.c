/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/slim_elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/elf/file_holes.h"

#define MAX_NAMES_SZ (4u << 20) /* real files have a few KiB of .shstrtab */
#define MAX_NOTES_SZ (64u << 10)
#define MAX_ALL_NOTES_SZ (1u << 20) /* total over sections, which may share bytes */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA ELFDATA2LSB
#else
#define HOST_DATA ELFDATA2MSB
#endif

static int bad(struct slim_elf *e, const char *why)
{
	e->why = why;
	return -EBADMSG;
}

int slim_elf_read(const struct slim_elf *e, uint64_t off, void *buf, size_t len)
{
	char *p = buf;

	if (off > e->file_sz || len > e->file_sz - off)
		return -EBADMSG;
	while (len) {
		ssize_t n = pread(e->fd, p, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		p += n, off += n, len -= n;
	}
	return 0;
}

/* ---- headers; 32-bit ones are widened, so that no other code depends on the class */

static int load_ehdr(struct slim_elf *e)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} h = {{0}};
	size_t sz = e->file_sz < sizeof(h) ? e->file_sz : sizeof(h);
	int err = slim_elf_read(e, 0, &h, sz);

	if (err && err != -EBADMSG)
		return err;
	if (err || sz < sizeof(Elf32_Ehdr) || memcmp(h.ident, ELFMAG, SELFMAG))
		return bad(e, "not an ELF file");
	if (h.ident[EI_DATA] != HOST_DATA)
		return bad(e, "ELF file of the other byte order");
	if (h.ident[EI_CLASS] == ELFCLASS64 && sz >= sizeof(Elf64_Ehdr)) {
		e->ehdr = h.e64;
	} else if (h.ident[EI_CLASS] == ELFCLASS32) {
		e->is32 = true;
		memcpy(e->ehdr.e_ident, h.ident, EI_NIDENT);
#define WIDEN(f) e->ehdr.f = h.e32.f
		WIDEN(e_type), WIDEN(e_machine), WIDEN(e_version), WIDEN(e_entry), WIDEN(e_phoff);
		WIDEN(e_shoff), WIDEN(e_flags), WIDEN(e_ehsize), WIDEN(e_phentsize), WIDEN(e_phnum);
		WIDEN(e_shentsize), WIDEN(e_shnum), WIDEN(e_shstrndx);
#undef WIDEN
	} else {
		return bad(e, "ELF header damaged");
	}
	if (e->ehdr.e_type == ET_REL)
		return bad(e, "relocatable object, not a linked one");
	if (e->ehdr.e_type != ET_EXEC && e->ehdr.e_type != ET_DYN)
		return bad(e, "neither an ELF program nor a library");
	return 0;
}

/* Reads cnt entries of `entsize` bytes at off into malloc'ed memory. cnt has 16 bits, so memory is
 * bounded. */
static int load_table(struct slim_elf *e, uint64_t off, size_t cnt, size_t entsize, void **table)
{
	int err;

	if (off > e->file_sz || cnt * entsize > e->file_sz - off)
		return -EBADMSG;
	*table = malloc(cnt * entsize);
	if (!*table)
		return -ENOMEM;
	err = slim_elf_read(e, off, *table, cnt * entsize);
	if (err) {
		free(*table);
		*table = NULL;
	}
	return err;
}

static int load_phdrs(struct slim_elf *e)
{
	size_t cnt = e->ehdr.e_phnum;
	Elf32_Phdr *narrow;
	int err;

	if (!cnt)
		return 0;
	if (e->ehdr.e_phentsize != (e->is32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr)) ||
	    cnt == PN_XNUM)
		return bad(e, "program headers damaged");
	if (!e->is32) {
		err = load_table(e, e->ehdr.e_phoff, cnt, sizeof(Elf64_Phdr), (void **)&e->phdrs);
		if (err)
			return err == -EBADMSG ? bad(e, "program headers damaged") : err;
		e->phdr_cnt = cnt;
		return 0;
	}
	err = load_table(e, e->ehdr.e_phoff, cnt, sizeof(Elf32_Phdr), (void **)&narrow);
	if (err)
		return err == -EBADMSG ? bad(e, "program headers damaged") : err;
	e->phdrs = calloc(cnt, sizeof(*e->phdrs));
	for (size_t i = 0; e->phdrs && i < cnt; i++)
		e->phdrs[i] = (Elf64_Phdr){narrow[i].p_type,  narrow[i].p_flags, narrow[i].p_offset,
					   narrow[i].p_vaddr, narrow[i].p_paddr, narrow[i].p_filesz,
					   narrow[i].p_memsz, narrow[i].p_align};
	free(narrow);
	e->phdr_cnt = e->phdrs ? cnt : 0;
	return e->phdrs ? 0 : -ENOMEM;
}

static int load_shdrs(struct slim_elf *e)
{
	size_t cnt = e->ehdr.e_shnum;
	Elf32_Shdr *narrow;
	int err;

	/* From SHN_LORESERVE on numbering differs; no linked file has that many sections, and some
	 * are added here. */
	if (!e->ehdr.e_shoff || !cnt)
		return bad(e, "no section headers");
	if (e->ehdr.e_shentsize != (e->is32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr)) ||
	    cnt >= SHN_LORESERVE - 16)
		return bad(e, "section headers damaged");
	if (!e->is32) {
		err = load_table(e, e->ehdr.e_shoff, cnt, sizeof(Elf64_Shdr), (void **)&e->shdrs);
		if (err)
			return err == -EBADMSG ? bad(e, "section headers damaged") : err;
		e->shdr_cnt = cnt;
		return 0;
	}
	err = load_table(e, e->ehdr.e_shoff, cnt, sizeof(Elf32_Shdr), (void **)&narrow);
	if (err)
		return err == -EBADMSG ? bad(e, "section headers damaged") : err;
	e->shdrs = calloc(cnt, sizeof(*e->shdrs));
	for (size_t i = 0; e->shdrs && i < cnt; i++)
		e->shdrs[i] = (Elf64_Shdr){narrow[i].sh_name,	   narrow[i].sh_type,
					   narrow[i].sh_flags,	   narrow[i].sh_addr,
					   narrow[i].sh_offset,	   narrow[i].sh_size,
					   narrow[i].sh_link,	   narrow[i].sh_info,
					   narrow[i].sh_addralign, narrow[i].sh_entsize};
	free(narrow);
	e->shdr_cnt = e->shdrs ? cnt : 0;
	return e->shdrs ? 0 : -ENOMEM;
}

static int load_names(struct slim_elf *e)
{
	size_t i = e->ehdr.e_shstrndx;
	const Elf64_Shdr *h;

	if (!slim_elf_has_bytes(e, i) || e->shdrs[i].sh_size > MAX_NAMES_SZ)
		return bad(e, "section names damaged");
	h = &e->shdrs[i];
	e->names = malloc(h->sh_size + 1);
	if (!e->names)
		return -ENOMEM;
	e->names[h->sh_size] = 0;
	e->names_sz = h->sh_size;
	return slim_elf_read(e, h->sh_offset, e->names, h->sh_size);
}

int slim_elf__load(struct slim_elf *e, int fd)
{
	struct stat st;
	int err;

	*e = (struct slim_elf){.fd = fd};
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return bad(e, "not a regular file");
	e->file_sz = st.st_size;
	err = load_ehdr(e);
	err = err ? err : load_phdrs(e);
	err = err ? err : load_shdrs(e);
	err = err ? err : load_names(e);
	if (err) {
		const char *why = e->why ? e->why : err == -EBADMSG ? "file cut short" : NULL;

		slim_elf__fini(e);
		e->why = why;
	}
	return err;
}

void slim_elf__fini(struct slim_elf *e)
{
	free(e->phdrs);
	free(e->shdrs);
	free(e->names);
	*e = (struct slim_elf){.fd = -1};
}

/* ---- sections */

const char *slim_elf_name(const struct slim_elf *e, size_t index)
{
	uint32_t off = e->shdrs[index].sh_name;

	return off < e->names_sz ? e->names + off : "";
}

size_t slim_elf_find(const struct slim_elf *e, const char *name)
{
	for (size_t i = 1; i < e->shdr_cnt; i++)
		if (!strcmp(slim_elf_name(e, i), name))
			return i;
	return 0;
}

size_t slim_elf_find_type(const struct slim_elf *e, uint32_t type)
{
	for (size_t i = 1; i < e->shdr_cnt; i++)
		if (e->shdrs[i].sh_type == type)
			return i;
	return 0;
}

bool slim_elf_has_bytes(const struct slim_elf *e, size_t index)
{
	const Elf64_Shdr *h;

	if (index == 0 || index >= e->shdr_cnt)
		return false;
	h = &e->shdrs[index];
	if (h->sh_type == SHT_NOBITS || h->sh_type == SHT_NULL || !h->sh_size)
		return false;
	return h->sh_offset <= e->file_sz && h->sh_size <= e->file_sz - h->sh_offset &&
	       !file_is_hollow(e->fd, h->sh_offset, h->sh_size);
}

bool slim_elf_has_dwarf(const struct slim_elf *e)
{
	return slim_elf_has_bytes(e, slim_elf_find(e, ".debug_info")) ||
	       slim_elf_has_bytes(e, slim_elf_find(e, ".zdebug_info"));
}

/* ---- notes and links */

static void to_hex(char hex[BUILD_ID_HEX_SZ], const unsigned char *p, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (len > (BUILD_ID_HEX_SZ - 1) / 2)
		len = (BUILD_ID_HEX_SZ - 1) / 2;
	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[p[i] >> 4];
		hex[2 * i + 1] = digits[p[i] & 15];
	}
	hex[2 * len] = 0;
}

/* A note has name size, descriptor size and type; both blobs are padded to 4 bytes (gABI; x86 GNU
 * property notes use 8). */
static bool build_id_in_notes(const unsigned char *p, size_t len, char hex[BUILD_ID_HEX_SZ])
{
	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t name_sz, desc_sz;

		memcpy(&n, p, sizeof(n));
		p += sizeof(n), len -= sizeof(n);
		name_sz = ((uint64_t)n.n_namesz + 3) & ~3ULL;
		desc_sz = ((uint64_t)n.n_descsz + 3) & ~3ULL;
		if (name_sz > len || n.n_descsz > len - name_sz)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(p, "GNU", 4) &&
		    n.n_descsz) {
			to_hex(hex, p + name_sz, n.n_descsz);
			return true;
		}
		if (desc_sz > len - name_sz)
			return false;
		p += name_sz + desc_sz, len -= name_sz + desc_sz;
	}
	return false;
}

void slim_elf_build_id(const struct slim_elf *e, char hex[BUILD_ID_HEX_SZ])
{
	unsigned char *buf = NULL;
	uint64_t left = MAX_ALL_NOTES_SZ;

	hex[0] = 0;
	for (size_t i = 1; i < e->shdr_cnt; i++) {
		const Elf64_Shdr *h = &e->shdrs[i];
		bool found;

		if (h->sh_type != SHT_NOTE || !slim_elf_has_bytes(e, i) ||
		    h->sh_size > MAX_NOTES_SZ || h->sh_size > left)
			continue;
		left -= h->sh_size;
		buf = malloc(h->sh_size);
		found = buf && !slim_elf_read(e, h->sh_offset, buf, h->sh_size) &&
			build_id_in_notes(buf, h->sh_size, hex);
		free(buf);
		if (found)
			return;
	}
}

/* Reads a small section: a NUL-terminated string and what follows it. Returns the string's
 * length. */
static ssize_t read_link(const struct slim_elf *e, const char *name, unsigned char *buf, size_t cap,
			 size_t *len)
{
	size_t i = slim_elf_find(e, name);
	const unsigned char *end;

	if (!i || !slim_elf_has_bytes(e, i) || (e->shdrs[i].sh_flags & SHF_COMPRESSED))
		return -ENOENT;
	*len = e->shdrs[i].sh_size < cap ? e->shdrs[i].sh_size : cap;
	if (slim_elf_read(e, e->shdrs[i].sh_offset, buf, *len))
		return -EBADMSG;
	end = memchr(buf, 0, *len);
	return end && end > buf ? end - buf : -EBADMSG;
}

int slim_elf_debuglink(const struct slim_elf *e, char name[256], uint32_t *crc)
{
	unsigned char buf[256 + 8];
	size_t len, at;
	ssize_t n = read_link(e, ".gnu_debuglink", buf, sizeof(buf), &len);

	if (n < 0)
		return n;
	at = (n + 4) & ~3UL; /* the CRC is aligned to 4 after the NUL */
	if (n > 255 || at + 4 > len || memchr(buf, '/', n))
		return -EBADMSG;
	memcpy(name, buf, n + 1);
	memcpy(crc, buf + at, 4);
	return 0;
}

int slim_elf_altlink(const struct slim_elf *e, char path[4096], char hex[BUILD_ID_HEX_SZ])
{
	unsigned char buf[4096 + 64];
	size_t len;
	ssize_t n = read_link(e, ".gnu_debugaltlink", buf, sizeof(buf), &len);

	if (n < 0)
		return n;
	if (n > 4095 || (size_t)n + 1 >= len)
		return -EBADMSG;
	memcpy(path, buf, n + 1);
	to_hex(hex, buf + n + 1, len - n - 1);
	return 0;
}
