/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/binary/alloc_jumps.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/elf_functions.h"
#include "record/binary/tls_sites.h"
#include "record/binary/x86_insn.h"

#if defined(__x86_64__)

enum {
	SEEN = 8192, /* a power of two; instructions of a function and what it jumps to */
	WAITING = 512,
	WINDOW = 256,
	INSN_MAX = 15,
	PIECE = 256,
	/* For all functions of a file; beyond them, pointers lead elsewhere. */
	POINTERS_MAX = 256,
	RELOCATIONS_MAX = 1 << 21,
};

struct follower {
	int fd;
	Elf *elf;
	struct alloc_site *site; /* its jumps are looked for */
	const struct alloc_site *sites;
	size_t cnt;
	uint64_t seen[SEEN], waiting[WAITING];
	size_t seen_cnt, waiting_cnt;
	uint8_t code[WINDOW];
	uint64_t code_at; /* 0: nothing read */
	size_t code_len;
	unsigned pointers; /* looked up */
	uint64_t relocations;
};

/* False: it was seen before. */
static bool is_new(struct follower *f, uint64_t at)
{
	size_t i = at * 0x9e3779b97f4a7c15ULL >> 51;

	for (;; i++) {
		uint64_t *slot = &f->seen[i & (SEEN - 1)];

		if (*slot == at)
			return false;
		if (*slot)
			continue;
		*slot = at;
		f->seen_cnt++;
		return true;
	}
}

static const struct alloc_site *site_at(const struct follower *f, uint64_t at)
{
	for (size_t i = 0; i < f->cnt; i++)
		if (f->sites[i].start == at)
			return &f->sites[i];
	return NULL;
}

static void add_jump(struct follower *f, const struct alloc_site *to)
{
	struct alloc_site *s = f->site;

	if (to == s || to->kind == ALLOC_free)
		return;
	s->tails |= ALLOC_TAILS_OWN;
	for (size_t i = 0; i < ALLOC_JUMPS; i++) {
		if (s->jumps[i] == to->start)
			return;
		if (!s->jumps[i]) {
			s->jumps[i] = to->start;
			return;
		}
	}
	s->tails |= ALLOC_TAILS_ANY;
}

static void jump(struct follower *f, uint64_t to)
{
	const struct alloc_site *site = site_at(f, to);

	if (site)
		add_jump(f, site);
	else if (f->waiting_cnt < WAITING)
		f->waiting[f->waiting_cnt++] = to;
	else
		f->site->tails |= ALLOC_TAILS_ANY;
}

/* ---- jumps by a pointer: of the PLT, if the file defines the function; 0: elsewhere */

static uint64_t symbol_value(const struct follower *f, size_t section, uint64_t index)
{
	Elf_Scn *scn = elf_getscn(f->elf, section);
	GElf_Shdr sh;
	Elf64_Sym sym;

	if (!scn || !gelf_getshdr(scn, &sh) || index >= sh.sh_size / sizeof(sym) ||
	    !elf_functions_read(f->fd, sh.sh_offset + index * sizeof(sym), &sym, sizeof(sym)))
		return 0;
	return sym.st_shndx == SHN_UNDEF ? 0 : sym.st_value;
}

static uint64_t relocated(struct follower *f, const GElf_Shdr *sh, uint64_t slot)
{
	uint64_t cnt = sh->sh_size / sizeof(Elf64_Rela);
	Elf64_Rela piece[PIECE];

	if (cnt > RELOCATIONS_MAX - f->relocations)
		return 0;
	f->relocations += cnt;
	for (uint64_t at = 0, n; at < cnt; at += n) {
		n = cnt - at < PIECE ? cnt - at : PIECE;
		if (!elf_functions_read(f->fd, sh->sh_offset + at * sizeof(*piece), piece,
					n * sizeof(*piece)))
			return 0;
		for (uint64_t i = 0; i < n; i++)
			if (piece[i].r_offset == slot)
				return ELF64_R_SYM(piece[i].r_info)
					       ? symbol_value(f, sh->sh_link,
							      ELF64_R_SYM(piece[i].r_info))
					       : (uint64_t)piece[i].r_addend;
	}
	return 0;
}

static uint64_t pointed_to(struct follower *f, uint64_t slot)
{
	Elf_Scn *scn = NULL;
	uint64_t to = 0;
	GElf_Shdr sh;

	if (f->pointers++ >= POINTERS_MAX)
		return 0;
	while (!to && (scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA)
			to = relocated(f, &sh, slot);
	return to;
}

static void jump_by_pointer(struct follower *f, const uint8_t *p, uint64_t next)
{
	uint64_t to = 0;
	int32_t by;

	if (p[1] == 0x25) { /* relative to the instruction pointer */
		memcpy(&by, p + 2, sizeof(by));
		to = pointed_to(f, next + by);
	}
	if (to)
		jump(f, to);
	else
		f->site->tails |= ALLOC_TAILS_AWAY;
}

/* ---- instructions */

/* Returns whether execution may go on behind the instruction. */
static bool step(struct follower *f, const uint8_t *p, size_t n, uint64_t at)
{
	uint64_t next = at + n;
	int32_t by;

	while (n > 1 && (*p == 0xf2 || *p == 0xf3 || *p == 0x3e || *p == 0x66 || *p >> 4 == 4)) {
		p++;
		n--;
	}
	if (p[0] == 0xc3 || p[0] == 0xc2 || p[0] == 0xf4 || p[0] == 0xcc)
		return false;
	if (n == 2 && p[0] == 0x0f && p[1] == 0x0b)
		return false;
	if (n >= 2 && p[0] == 0xff && (p[1] >> 3 & 7) == 4) {
		jump_by_pointer(f, p, next);
		return false;
	}
	if (n == 2 && (p[0] == 0xeb || p[0] >> 4 == 7 || (p[0] & 0xfc) == 0xe0))
		jump(f, next + (int8_t)p[1]);
	if (n == 5 && p[0] == 0xe9) {
		memcpy(&by, p + 1, sizeof(by));
		jump(f, next + by);
	}
	if (n == 6 && p[0] == 0x0f && p[1] >> 4 == 8) {
		memcpy(&by, p + 2, sizeof(by));
		jump(f, next + by);
	}
	return p[0] != 0xeb && p[0] != 0xe9;
}

static const uint8_t *code_at(struct follower *f, uint64_t at, size_t *len)
{
	uint64_t offset;

	if (!f->code_at || at < f->code_at || at + INSN_MAX > f->code_at + f->code_len) {
		ssize_t n = tls_file_offset(f->elf, at, &offset)
				    ? pread(f->fd, f->code, WINDOW, offset)
				    : 0;

		f->code_at = at;
		f->code_len = n > 0 ? n : 0;
	}
	*len = f->code_at + f->code_len - at;
	return f->code + (at - f->code_at);
}

/* Up to the end of the block, or where it was before. */
static void follow(struct follower *f, uint64_t at)
{
	bool more = true;

	for (size_t n; more && is_new(f, at); at += n) {
		const uint8_t *p;
		size_t len;

		if (at != f->site->start && site_at(f, at))
			return; /* behind a call that does not return */
		p = code_at(f, at, &len);
		n = x86_insn_len(p, len);
		if (!n || f->seen_cnt > SEEN / 2) {
			f->site->tails |= ALLOC_TAILS_ANY; /* not known */
			f->waiting_cnt = 0;
			return;
		}
		more = step(f, p, n, at);
	}
}

void alloc_jumps_find(int fd, Elf *elf, struct alloc_site *sites, size_t cnt)
{
	struct follower *f = calloc(1, sizeof(*f));

	for (size_t i = 0; i < cnt; i++) {
		sites[i].tails = f ? 0 : ALLOC_TAILS_ANY;
		if (!f || sites[i].kind == ALLOC_free)
			continue;
		*f = (struct follower){.fd = fd,
				       .elf = elf,
				       .site = &sites[i],
				       .sites = sites,
				       .cnt = cnt,
				       .pointers = f->pointers,
				       .relocations = f->relocations};
		follow(f, sites[i].start);
		while (f->waiting_cnt)
			follow(f, f->waiting[--f->waiting_cnt]);
	}
	free(f);
}

#else

void alloc_jumps_find(int fd, Elf *elf, struct alloc_site *sites, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		sites[i].tails = ALLOC_TAILS_ANY;
}

#endif
