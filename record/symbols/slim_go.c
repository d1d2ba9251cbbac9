/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/slim_go.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/temp_file.h"
#include "record/unwind/unwind_go.h"

enum {
	MAX_TABLE_SZ = 256 << 20, /* kubelet's has 25 MiB */
	BLOCK_SYMBOLS = 1024,
	BLOCK_TEXT = 64 << 10,
};

/* Names are compared from their beginning: those of a hostile file may all be megabytes long. */
static size_t find_table(const struct slim_elf *e)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !at; i++)
		at = slim_elf_find(e, names[i]);
	return slim_elf_has_bytes(e, at) && !(e->shdrs[at].sh_flags & SHF_COMPRESSED) ? at : 0;
}

uint64_t slim_go_memory(const struct slim_elf *binary)
{
	size_t table = find_table(binary);

	return table ? binary->shdrs[table].sh_size + BLOCK_SYMBOLS * sizeof(Elf64_Sym) + BLOCK_TEXT
		     : 0;
}

static bool is_within(const Elf64_Shdr *h, uint64_t addr)
{
	return addr >= h->sh_addr && addr - h->sh_addr < h->sh_size;
}

/* The section with the code at an address. 0: none. */
static size_t code_at(const struct slim_elf *e, uint64_t addr)
{
	for (size_t i = 1; i < e->shdr_cnt; i++)
		if ((e->shdrs[i].sh_flags & SHF_EXECINSTR) && is_within(&e->shdrs[i], addr))
			return i;
	return 0;
}

/* ---- the file that is made: header, symbols, names, section names, section headers */

static const char section_names[] = "\0.symtab\0.strtab\0.shstrtab";
enum { NAME_SYMTAB = 1, NAME_STRTAB = 9, NAME_SHSTRTAB = 17 };

struct made {
	const struct slim_elf *base;
	struct go_table table;
	size_t code;	     /* section of all functions */
	uint64_t names_most; /* real names do not overlap */
	int fd;
	uint64_t symbols, names_sz; /* so far */
	Elf64_Sym block[BLOCK_SYMBOLS];
	char text[BLOCK_TEXT];
	size_t block_cnt, text_len;
};

static int put(int fd, const void *p, size_t len, uint64_t off)
{
	return pwrite(fd, p, len, off) == (ssize_t)len ? 0 : errno ? -errno : -EIO;
}

static uint64_t symbols_at(void)
{
	return sizeof(Elf64_Ehdr);
}

static uint64_t names_at(const struct made *m)
{
	return symbols_at() + (1 + m->table.nfunc) * sizeof(Elf64_Sym);
}

static int flush_symbols(struct made *m)
{
	uint64_t at = symbols_at() + (m->symbols - m->block_cnt) * sizeof(Elf64_Sym);
	int err = m->block_cnt ? put(m->fd, m->block, m->block_cnt * sizeof(Elf64_Sym), at) : 0;

	m->block_cnt = 0;
	return err;
}

static int flush_text(struct made *m)
{
	uint64_t at = names_at(m) + m->names_sz - m->text_len;
	int err = m->text_len ? put(m->fd, m->text, m->text_len, at) : 0;

	m->text_len = 0;
	return err;
}

static int add_name(struct made *m, const char *name, size_t len)
{
	int err = m->text_len + len + 1 > BLOCK_TEXT ? flush_text(m) : 0;

	memcpy(m->text + m->text_len, name, len);
	m->text[m->text_len + len] = 0;
	m->text_len += len + 1;
	m->names_sz += len + 1;
	return err;
}

static int add_symbol(struct made *m, const Elf64_Sym *sym)
{
	int err = m->block_cnt == BLOCK_SYMBOLS ? flush_symbols(m) : 0;

	m->block[m->block_cnt++] = *sym;
	m->symbols++;
	return err;
}

static int add_function(struct made *m, const struct go_function *f)
{
	const char *name = (const char *)m->table.all.p + f->name_at;
	size_t most = m->table.all.end - m->table.all.p - f->name_at,
	       len = strnlen(name, most < BLOCK_TEXT - 1 ? most : BLOCK_TEXT - 1);
	Elf64_Sym sym = {.st_name = m->names_sz,
			 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			 .st_shndx = m->code,
			 .st_value = f->start,
			 .st_size = f->end - f->start};
	int err;

	if (!len || !is_within(&m->base->shdrs[m->code], f->start))
		return 0;
	if (m->names_sz + len + 1 > m->names_most)
		return -EBADMSG;
	err = add_name(m, name, len);
	return err ? err : add_symbol(m, &sym);
}

static int add_all(struct made *m)
{
	int err = add_name(m, "", 0);

	if (!err)
		err = add_symbol(m, &(Elf64_Sym){0});
	for (uint64_t i = 0; i < m->table.nfunc && !err; i++) {
		struct go_function f;

		if (go_table__function(&m->table, i, &f))
			err = add_function(m, &f);
	}
	err = err ? err : flush_symbols(m);
	return err ? err : flush_text(m);
}

static int add_headers(const struct made *m)
{
	uint64_t text = names_at(m), names = text + m->names_sz, headers;
	Elf64_Shdr sh[4] = {
		[1] = {.sh_name = NAME_SYMTAB,
		       .sh_type = SHT_SYMTAB,
		       .sh_offset = symbols_at(),
		       .sh_size = m->symbols * sizeof(Elf64_Sym),
		       .sh_link = 2,
		       .sh_info = 1,
		       .sh_addralign = 8,
		       .sh_entsize = sizeof(Elf64_Sym)},
		[2] = {.sh_name = NAME_STRTAB,
		       .sh_type = SHT_STRTAB,
		       .sh_offset = text,
		       .sh_size = m->names_sz,
		       .sh_addralign = 1},
		[3] = {.sh_name = NAME_SHSTRTAB,
		       .sh_type = SHT_STRTAB,
		       .sh_offset = names,
		       .sh_size = sizeof(section_names),
		       .sh_addralign = 1},
	};
	Elf64_Ehdr e = m->base->ehdr;
	int err;

	headers = (names + sizeof(section_names) + 7) / 8 * 8;
	e.e_phoff = e.e_phnum = 0;
	e.e_shoff = headers;
	e.e_shnum = 4;
	e.e_shstrndx = 3;
	err = put(m->fd, &e, sizeof(e), 0);
	err = err ? err : put(m->fd, section_names, sizeof(section_names), names);
	return err ? err : put(m->fd, sh, sizeof(sh), headers);
}

static int make(struct made *m, struct slim_elf *made)
{
	int err = add_all(m);

	if (!err && m->symbols <= 1)
		err = -ENOENT;
	err = err ? err : add_headers(m);
	return err ? err : slim_elf__load(made, m->fd);
}

/* The table's own text address if there is code, else that of .text: with relocations it is 0. */
static uint64_t text_of(const struct slim_elf *e, const void *table, size_t sz)
{
	uint64_t text = go_table_text(table, sz);
	size_t section = slim_elf_find(e, ".text");

	return code_at(e, text) ? text : section ? e->shdrs[section].sh_addr : 0;
}

static int make_of(struct slim_elf *made, const struct slim_elf *binary,
		   const struct slim_elf *base, const void *table, size_t sz)
{
	struct made *m = calloc(1, sizeof(*m));
	int err = -ENOENT;

	if (!m)
		return -ENOMEM;
	m->base = base;
	m->names_most = sz;
	go_table__open_at(&m->table, table, sz, text_of(binary, table, sz));
	m->code = code_at(base, m->table.text);
	if (m->table.version && m->code) {
		m->fd = temp_file();
		err = m->fd < 0 ? m->fd : make(m, made);
		if (err && m->fd >= 0) {
			slim_elf__fini(made);
			close(m->fd);
		}
	}
	free(m);
	return err;
}

int slim_go__open(struct slim_elf *made, const struct slim_elf *binary, const struct slim_elf *base)
{
	size_t at = find_table(binary), sz = at ? binary->shdrs[at].sh_size : 0;
	void *table;
	int err;

	*made = (struct slim_elf){0};
	if (!at || binary->is32)
		return -ENOENT;
	if (sz > MAX_TABLE_SZ)
		return -EBADMSG;
	table = malloc(sz);
	if (!table)
		return -ENOMEM;
	err = slim_elf_read(binary, binary->shdrs[at].sh_offset, table, sz);
	err = err ? err : make_of(made, binary, base, table, sz);
	free(table);
	return err;
}
