/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/binary/go_code.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/tls_sites.h"

enum { TABLE_MAX_SZ = 256 << 20, ENTRY_MIN_SZ = 32 };

/* Checked before any section is read that other programs also have. */
static bool is_go(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && strstr(name, "gopclntab"))
			return sh.sh_type != SHT_NOBITS && sh.sh_size <= TABLE_MAX_SZ;
	}
	return false;
}

bool go_code_each(Elf *elf, void (*fn)(void *ctx, const struct go_function *f), void *ctx)
{
	struct unwind_image im;
	struct go_table table;

	if (!is_go(elf) || unwind_image__open(&im, elf))
		return false;
	go_table__open(&table, &im);
	for (uint64_t i = 0; table.version && i < table.nfunc; i++) {
		struct go_function f;

		if (go_table__function(&table, i, &f) && f.end > f.start)
			fn(ctx, &f);
	}
	return table.version;
}

bool go_code_read(int fd, Elf *elf, struct go_code *c)
{
	size_t len = c->end - c->start;
	uint64_t last;

	if (!c->end || !tls_file_offset(elf, c->start, &c->offset) ||
	    !tls_file_offset(elf, c->end - 1, &last) || last - c->offset != len - 1)
		return false;
	c->bytes = malloc(len);
	if (c->bytes && pread(fd, c->bytes, len, c->offset) == (ssize_t)len)
		return true;
	go_code_fini(c);
	return false;
}

void go_code_fini(struct go_code *c)
{
	free(c->bytes);
	c->bytes = NULL;
}

/*
 * x86-64: cmp rsp, [r14 + 16]; jbe. For a larger frame: lea r12, [rsp - ...]; cmp r12, [r14 + 16];
 * jbe. R14 holds the goroutine, which implies that arguments are passed in registers (Go 1.17).
 */
size_t go_code_check(const uint8_t *code, size_t len)
{
#if defined(__aarch64__)
	/* ldr x16, [x28, #16]; cmp sp, x16; b.ls; or with x17 for sp - ... */
	if (len < ENTRY_MIN_SZ || memcmp(code, "\x90\x0b\x40\xf9", 4))
		return 0;
	for (size_t at = 8; at <= 16; at += 4)
		if (code[at + 3] == 0x54 && (code[at] & 0x1f) == 9)
			return at;
	return 0;
#else
	size_t at = 0;

	if (len < ENTRY_MIN_SZ)
		return 0;
	if (!memcmp(code, "\x4c\x8d\x64\x24", 4))
		at = 5;
	else if (!memcmp(code, "\x4c\x8d\xa4\x24", 4))
		at = 8;
	if (memcmp(code + at, at ? "\x4d\x3b\x66\x10" : "\x49\x3b\x66\x10", 4))
		return 0;
	at += 4;
	return code[at] == 0x76 || (code[at] == 0x0f && code[at + 1] == 0x86) ? at : 0;
#endif
}

size_t go_code_entry(const struct go_code *c)
{
	return c->bytes ? go_code_check(c->bytes, c->end - c->start) : 0;
}
