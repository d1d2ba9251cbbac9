/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The section .note.stapsdt (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation):
 *
 *   4 bytes namesz, 4 descsz, 4 type (3), "stapsdt\0"; then aligned to 4 the description:
 *   8 bytes address of the probe, 8 address of the section .stapsdt.base when the file was linked,
 *   8 address of the semaphore or 0, strings provider, name, arguments
 *
 * prelink moves sections without knowing of the note: the difference between the section's address
 * and that in the note corrects the other two.
 */
#include <fnmatch.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/binary/tls_sites.h"
#include "record/binary/usdt_find.h"
#include "record/elf/elf_open.h"
#include "record/elf/file_holes.h"

enum {
	NOTE_TYPE = 3,
	SECTION_MAX_SZ = 16 << 20,
	SYMBOLS_MAX_SZ = 64 << 20,
};

/* ---- notes */

struct bytes {
	const char *p;
	size_t len;
};

static bool get(struct bytes *b, void *to, size_t sz)
{
	if (b->len < sz)
		return false;
	memcpy(to, b->p, sz);
	b->p += sz;
	b->len -= sz;
	return true;
}

static const char *get_str(struct bytes *b)
{
	const char *s = b->p, *end = b->len ? memchr(s, 0, b->len) : NULL;

	if (!end)
		return NULL;
	b->len -= end + 1 - s;
	b->p = end + 1;
	return s;
}

static bool read_note(struct bytes b, struct usdt_note *n)
{
	return get(&b, &n->pc, 8) && get(&b, &n->base, 8) && get(&b, &n->semaphore, 8) &&
	       (n->provider = get_str(&b)) && (n->name = get_str(&b)) && (n->args = get_str(&b));
}

static size_t padded(uint32_t sz)
{
	return ((size_t)sz + 3) & ~(size_t)3;
}

void usdt_notes_each(const void *section, size_t len,
		     bool (*fn)(void *ctx, const struct usdt_note *note), void *ctx)
{
	struct bytes b = {section, len};
	uint32_t head[3]; /* namesz, descsz, type */

	while (get(&b, head, sizeof(head))) {
		struct bytes name = b, desc;
		struct usdt_note n;

		if (padded(head[0]) > b.len)
			return;
		desc = (struct bytes){b.p + padded(head[0]), b.len - padded(head[0])};
		if (head[1] > desc.len)
			return;
		b = desc;
		desc.len = head[1];
		if (head[2] == NOTE_TYPE && head[0] == 8 && !memcmp(name.p, "stapsdt", 8) &&
		    read_note(desc, &n) && !fn(ctx, &n))
			return;
		if (padded(head[1]) >= b.len)
			return;
		b.p += padded(head[1]);
		b.len -= padded(head[1]);
	}
}

/* ---- names */

bool usdt_matches(const char *pattern, const char *name)
{
	char dashed[USDT_NAME_MAX];
	size_t n = 0;

	if (!fnmatch(pattern, name, 0))
		return true;
	for (; *name && n + 1 < sizeof(dashed); n++, name++) {
		dashed[n] = name[0] == '_' && name[1] == '_' ? '-' : *name;
		name += dashed[n] == '-' && *name == '_';
	}
	dashed[n] = 0;
	return !fnmatch(pattern, dashed, 0);
}

/* ---- the file */

struct finder {
	int fd;
	Elf *elf;
	unsigned machine;
	uint64_t size;
	uint64_t base; /* address of .stapsdt.base; 0: there is none */
	const char *const *patterns;
	size_t pattern_cnt;
	size_t told, left_out;
	bool (*fn)(void *ctx, const struct usdt_site *site);
	void *ctx;
};

static bool read_fully(int fd, uint64_t off, void *buf, size_t sz)
{
	ssize_t n = pread(fd, buf, sz, off);

	return n >= 0 && (size_t)n == sz;
}

/* NULL: too large, or not in the file. */
static char *read_section(const struct finder *f, const GElf_Shdr *sh, size_t max)
{
	char *data;

	if (sh->sh_type == SHT_NOBITS || !sh->sh_size || sh->sh_size > max ||
	    file_is_hollow(f->fd, sh->sh_offset, sh->sh_size))
		return NULL;
	data = malloc(sh->sh_size + 1);
	if (data && read_fully(f->fd, sh->sh_offset, data, sh->sh_size)) {
		data[sh->sh_size] = 0;
		return data;
	}
	free(data);
	return NULL;
}

static bool symbol_in(const struct finder *f, const GElf_Shdr *sh, const char *name, size_t len,
		      uint64_t *address)
{
	GElf_Shdr strings;
	char *symbols, *text = NULL;
	bool found = false;

	if (!gelf_getshdr(elf_getscn(f->elf, sh->sh_link), &strings))
		return false;
	symbols = read_section(f, sh, SYMBOLS_MAX_SZ);
	if (symbols)
		text = read_section(f, &strings, SYMBOLS_MAX_SZ);
	for (size_t i = 0; text && !found && i < sh->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;

		memcpy(&s, symbols + i * sizeof(s), sizeof(s));
		if (s.st_shndx == SHN_UNDEF || s.st_name >= strings.sh_size ||
		    strncmp(text + s.st_name, name, len) || text[s.st_name + len])
			continue;
		*address = s.st_value;
		found = true;
	}
	free(symbols);
	free(text);
	return found;
}

static bool find_symbol(void *ctx, const char *name, size_t len, uint64_t *address)
{
	struct finder *f = ctx;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
		    symbol_in(f, &sh, name, len, address))
			return true;
	return false;
}

/* The semaphore is in data that the file holds. */
static bool data_offset(const struct finder *f, uint64_t address, uint64_t *offset)
{
	GElf_Phdr ph;
	size_t n;

	if (elf_getphdrnum(f->elf, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(f->elf, i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_W &&
		    address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz) {
			*offset = address - ph.p_vaddr + ph.p_offset;
			return true;
		}
	return false;
}

/* <sys/sdt.h> places a nop. Elsewhere, such as within an instruction, a breakpoint would change
 * what the program does. */
static bool is_nop(const struct finder *f, uint64_t offset)
{
	static const uint8_t arm64[] = {0x1f, 0x20, 0x03, 0xd5};
	uint8_t code[4];

	if (!read_fully(f->fd, offset, code, sizeof(code)))
		return false;
	if (f->machine == EM_AARCH64)
		return !memcmp(code, arm64, sizeof(arm64));
	return f->machine == EM_X86_64 &&
	       (code[0] == 0x90 || (code[0] == 0x66 && code[1] == 0x90) ||
		(code[0] == 0x0f && code[1] == 0x1f));
}

static bool on_note(void *ctx, const struct usdt_note *n)
{
	struct finder *f = ctx;
	uint64_t moved = f->base ? f->base - n->base : 0;
	struct usdt_symbols symbols = {n->pc + moved, find_symbol, f};
	struct usdt_site s = {0};
	char name[USDT_NAME_MAX];

	if ((size_t)snprintf(name, sizeof(name), "%s:%s", n->provider, n->name) >= sizeof(name))
		return true;
	while (s.pattern < f->pattern_cnt &&
	       (!f->patterns[s.pattern] || !usdt_matches(f->patterns[s.pattern], name)))
		s.pattern++;
	if (s.pattern == f->pattern_cnt)
		return true;
	if (f->told == USDT_SITES || !tls_file_offset(f->elf, n->pc + moved, &s.offset) ||
	    (n->semaphore && !data_offset(f, n->semaphore + moved, &s.counter)) ||
	    s.counter >= f->size || !is_nop(f, s.offset)) {
		f->left_out++;
		return true;
	}
	s.name = name;
	s.arg_cnt = usdt_args_parse(n->args, f->machine, &symbols, s.arg);
	s.place.position = s.offset & 0xfff;
	if (pread(f->fd, s.place.code, sizeof(s.place.code), s.offset + FUNC_CODE_AT) < 0)
		return true;
	f->told++;
	return f->fn(f->ctx, &s);
}

static void read_notes(struct finder *f)
{
	GElf_Shdr sh, notes = {.sh_type = SHT_NOBITS};
	Elf_Scn *scn = NULL;
	GElf_Ehdr head;
	size_t names;
	char *data;

	if (!gelf_getehdr(f->elf, &head) || elf_getshdrstrndx(f->elf, &names))
		return;
	f->machine = head.e_machine;
	while ((scn = elf_nextscn(f->elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(f->elf, names, sh.sh_name) : NULL;

		if (name && !strcmp(name, ".stapsdt.base"))
			f->base = sh.sh_addr;
		else if (name && !strcmp(name, ".note.stapsdt"))
			notes = sh;
	}
	data = read_section(f, &notes, SECTION_MAX_SZ);
	if (data)
		usdt_notes_each(data, notes.sh_size, on_note, f);
	free(data);
}

size_t usdt_find(int fd, const char *const *patterns, size_t cnt,
		 bool (*fn)(void *ctx, const struct usdt_site *site), void *ctx)
{
	struct finder f = {
		.fd = fd, .patterns = patterns, .pattern_cnt = cnt, .fn = fn, .ctx = ctx};
	struct stat st;

	f.size = fstat(fd, &st) ? 0 : st.st_size;
	f.elf = elf_open(fd);
	if (f.elf && gelf_getclass(f.elf) == ELFCLASS64)
		read_notes(&f);
	elf_end(f.elf);
	return f.left_out;
}
