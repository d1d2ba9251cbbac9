/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A uprobe costs 0.5 us if the kernel can emulate the replaced instruction (x86: push, nop, jumps
 * and calls), and up to 20 us if it must single-step it. OpenSSL's SSL_read and SSL_write begin
 * with `sub rsp` and only call an inner function with the same arguments and a pointer to the
 * length. That function begins with a push, so the probe is placed there; this also covers
 * SSL_read_ex and BIOs. The call is followed only if every instruction of the prologue is known not
 * to change the arguments.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/elf/elf_open.h"
#include "record/elf/file_holes.h"
#include "record/binary/tls_find_go.h"
#include "record/binary/tls_find.h"
#include "record/binary/tls_symbols.h"
#include "record/binary/uprobe_place.h"
#include "record/binary/x86_insn.h"

enum {
	TABLES_MAX =
		4, /* a file has one of each kind; limits headers that all name the same bytes */
};

struct function {
	const char *name;
	enum tls_kind kind;
	enum tls_kind inner; /* kind of the inner function */
};

static const struct function functions[] = {
	{"SSL_read", TLS_READ, TLS_READ_EX},
	{"SSL_write", TLS_WRITE, TLS_WRITE_EX},
	{"SSL_read_ex", TLS_READ_EX, TLS_READ_EX},
	{"SSL_write_ex", TLS_WRITE_EX, TLS_WRITE_EX},
	{"SSL_write_ex2", TLS_WRITE_EX, TLS_WRITE_EX},
	{"SSL_do_handshake", TLS_SESSION, TLS_NONE},
	{"SSL_peek", TLS_SESSION, TLS_SESSION},
	{"SSL_peek_ex", TLS_SESSION, TLS_SESSION},
	{"SSL_sendfile", TLS_WRITE_ELSEWHERE, TLS_NONE},
	{"SSL_free", TLS_FREE, TLS_NONE},
	{"gnutls_record_recv", TLS_READ, TLS_READ_TYPED},
	{"gnutls_record_send", TLS_WRITE, TLS_NONE},
	{"gnutls_record_send2", TLS_WRITE, TLS_NONE},
	{"gnutls_record_send_range", TLS_WRITE, TLS_NONE},
	{"gnutls_record_recv_packet", TLS_READ_ELSEWHERE, TLS_NONE},
	{"gnutls_handshake", TLS_SESSION, TLS_NONE},
	{"gnutls_deinit", TLS_FREE, TLS_NONE},
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

struct finder {
	int fd;
	Elf *elf;
	struct tls_sites sites;
	uint64_t address[FUNCTIONS]; /* 0: not found */
};

/* ---- instructions ---- */

struct code {
	uint8_t b[UPROBE_CODE_SZ];
	size_t len;
};

static void read_code(const struct finder *f, uint64_t offset, struct code *c)
{
	ssize_t n = pread(f->fd, c->b, sizeof(c->b), offset);

	c->len = n > 0 ? n : 0;
}

static bool is_at(const struct code *c, size_t at, const char *bytes, size_t len)
{
	return at + len <= c->len && !memcmp(c->b + at, bytes, len);
}

#define IS(c, at, bytes) is_at(c, at, bytes, sizeof(bytes) - 1)

/* Returns the length of an instruction before the inner call that changes no argument but the
 * length; 0: any other instruction. */
static size_t before_call(const struct code *c, size_t at)
{
	if (IS(c, at, "\xf3\x0f\x1e\xfa")) /* endbr64 */
		return 4;
	if (IS(c, at, "\x48\x83\xec")) /* sub rsp, imm8 */
		return 4;
	if (IS(c, at, "\x64\x48\x8b\x04\x25\x28\x00\x00\x00")) /* mov rax, fs:0x28 */
		return 9;
	if (IS(c, at, "\x48\x89\x44\x24")) /* mov [rsp + disp8], rax */
		return 5;
	if (IS(c, at, "\x31\xc0") || IS(c, at, "\x31\xc9") ||
	    IS(c, at, "\x85\xd2")) /* xor eax, eax; xor ecx, ecx; test edx, edx */
		return 2;
	if (at < c->len && c->b[at] == 0x78) /* js rel8 */
		return 2;
	if (IS(c, at, "\x0f\x88")) /* js rel32 */
		return 6;
	if (IS(c, at, "\x48\x89\xe1") || IS(c, at, "\x49\x89\xe0") || IS(c, at, "\x48\x63\xd2") ||
	    IS(c, at,
	       "\x45\x31\xc0")) /* mov rcx, rsp; mov r8, rsp; movsxd rdx, edx; xor r8d, r8d */
		return 3;
	if (IS(c, at, "\x48\x8d\x4c\x24") ||
	    IS(c, at, "\x4c\x8d\x44\x24")) /* lea rcx, [rsp + disp8]; lea r8 */
		return 5;
	return 0;
}

/* Returns the address of the inner function that is called with the same arguments; 0: not
 * recognised. */
static uint64_t inner_of(const struct code *c, uint64_t address)
{
	size_t at = 0, len;
	int32_t rel;

	while ((len = before_call(c, at)))
		at += len;
	if (at + 5 > c->len || c->b[at] != 0xe8)
		return 0;
	memcpy(&rel, c->b + at + 1, sizeof(rel));
	return address + at + 5 + rel;
}

/* GnuTLS: gnutls_record_recv() ends with a tail call of the function that also takes the record
 * type (GNUTLS_APPLICATION_DATA): mov rdx, rsi; ...; mov esi, 23; add rsp, 8; jmp. */
static uint64_t typed_of(const struct code *c, uint64_t address)
{
	static const char end[] = "\xbe\x17\x00\x00\x00\x48\x83\xc4\x08\xe9";
	int32_t rel;

	if (!memmem(c->b, c->len, "\x48\x89\xf2", 3))
		return 0;
	for (size_t at = 0; at + sizeof(end) - 1 + sizeof(rel) <= c->len; at++)
		if (IS(c, at, end)) {
			at += sizeof(end) - 1;
			memcpy(&rel, c->b + at, sizeof(rel));
			return address + at + sizeof(rel) + rel;
		}
	return 0;
}

/* Finds the place for a probe at a function's entry. False: it needs a single step. */
static bool entry_of(const struct finder *f, uint64_t offset, uint64_t *place)
{
	struct code c;
	size_t at;

	read_code(f, offset, &c);
	if (!uprobe_place(c.b, c.len, &at)) {
		*place = offset;
		return false;
	}
	*place = offset + at;
	return true;
}

/* ---- sites ---- */

/* Functions with the same inner function share one site. */
static void add_site(struct finder *f, uint64_t offset, enum tls_kind kind, bool step,
		     const char *name)
{
	tls_sites_add(&f->sites, &(struct tls_site){offset, kind, step, name, 0});
}

static void add_function(struct finder *f, const struct function *fn, uint64_t address)
{
	uint64_t offset, inner, place;
	struct code c;

	if (!tls_file_offset(f->elf, address, &offset))
		return;
	if (entry_of(f, offset, &place)) {
		add_site(f, place, fn->kind, false, fn->name);
		return;
	}
#if defined(__x86_64__)
	read_code(f, offset, &c);
	inner = fn->inner == TLS_READ_TYPED ? typed_of(&c, address)
		: fn->inner		    ? inner_of(&c, address)
					    : 0;
	if (inner && tls_file_offset(f->elf, inner, &offset) && entry_of(f, offset, &place)) {
		add_site(f, place, fn->inner, false, fn->name);
		return;
	}
#else
	(void)inner, (void)c, (void)inner_of, (void)typed_of;
#endif
	add_site(f, place, fn->kind, true, fn->name);
}

/* ---- symbols ---- */

static void read_tables(struct finder *f)
{
	struct tls_symbol symbols[FUNCTIONS];
	GElf_Shdr sh, strings;
	Elf_Scn *scn = NULL;
	int tables = 0;

	while (tables < TABLES_MAX && (scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_DYNSYM && sh.sh_type != SHT_SYMTAB) ||
		    !gelf_getshdr(elf_getscn(f->elf, sh.sh_link), &strings))
			continue;
		tables++;
		if (file_is_hollow(f->fd, sh.sh_offset, sh.sh_size) ||
		    file_is_hollow(f->fd, strings.sh_offset, strings.sh_size))
			continue;
		for (int i = 0; i < FUNCTIONS; i++)
			symbols[i] = (struct tls_symbol){.name = functions[i].name};
		tls_symbols_find(f->fd, &sh, &strings, symbols, FUNCTIONS);
		for (int i = 0; i < FUNCTIONS; i++)
			if (symbols[i].address)
				f->address[i] = symbols[i].address;
	}
}

size_t tls_find(int fd, struct tls_site sites[TLS_SITES_MAX])
{
	struct finder f = {.fd = fd, .sites = {sites, 0}};
	bool any = false;

	f.elf = elf_open(fd);
	if (!f.elf)
		return 0;
	if (gelf_getclass(f.elf) == ELFCLASS64) {
		read_tables(&f);
		for (int i = 0; i < FUNCTIONS; i++) {
			if (!f.address[i])
				continue;
			any |= functions[i].kind < TLS_READ_TYPED;
			add_function(&f, &functions[i], f.address[i]);
		}
		any |= tls_go_find(fd, f.elf, &f.sites);
	}
	elf_end(f.elf);
	return any ? f.sites.cnt : 0;
}
