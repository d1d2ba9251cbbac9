/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every row of real binaries against libdw's own interpreter: at each address where either side
 * says that rules change, both are evaluated on made-up registers and memory, and CFA, return
 * address and rbp must come out alike.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/unwind/unwind_table.h"

struct value {
	bool known;
	uint64_t v;
};

/* Registers and memory are functions of their number and address. */
static uint64_t reg_value(unsigned reg)
{
	return 0x7ffc00000000 + reg * 0x123450;
}

static uint64_t memory(uint64_t at)
{
	return at * 0x9e3779b97f4a7c15ULL >> 8;
}

/* ---- libdw's side ---- */

static bool evaluate(const Dwarf_Op *ops, size_t cnt, uint64_t pc, uint64_t cfa,
		     bool start_with_cfa, uint64_t *out, bool *is_value)
{
	uint64_t st[16] = {cfa};
	int n = start_with_cfa;

	*is_value = false;
	for (size_t i = 0; i < cnt; i++) {
		uint8_t op = ops[i].atom;

		if (n > 14)
			return false;
		if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
			st[n++] = (op == DW_OP_breg16 ? pc : reg_value(op - DW_OP_breg0)) +
				  ops[i].number;
		else if (op == DW_OP_bregx)
			st[n++] = reg_value(ops[i].number) + ops[i].number2;
		else if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
			st[n++] = op - DW_OP_lit0;
		else if (op >= DW_OP_const1u && op <= DW_OP_consts)
			st[n++] = ops[i].number;
		else if (op == DW_OP_call_frame_cfa)
			st[n++] = cfa;
		else if (op == DW_OP_regx || (op >= DW_OP_reg0 && op <= DW_OP_reg31)) {
			st[n++] = reg_value(op == DW_OP_regx ? (unsigned)ops[i].number
							     : (unsigned)(op - DW_OP_reg0));
			*is_value = true;
		} else if (n && op == DW_OP_plus_uconst)
			st[n - 1] += ops[i].number;
		else if (n && op == DW_OP_deref)
			st[n - 1] = memory(st[n - 1]);
		else if (op == DW_OP_stack_value)
			*is_value = true;
		else if (n > 1 && (op == DW_OP_plus || op == DW_OP_minus || op == DW_OP_and ||
				   op == DW_OP_ge || op == DW_OP_shl)) {
			uint64_t b = st[--n], a = st[n - 1];

			st[n - 1] = op == DW_OP_plus	? a + b
				    : op == DW_OP_minus ? a - b
				    : op == DW_OP_and	? (a & b)
				    : op == DW_OP_ge	? (int64_t)a >= (int64_t)b
							: a << b;
		} else
			return false;
	}
	*out = n ? st[n - 1] : 0;
	return n > 0;
}

/* The caller's value of a register. known false: undefined; *odd: an expression that this test does
 * not evaluate. */
static struct value libdw_register(Dwarf_Frame *f, int reg, uint64_t pc, uint64_t cfa, bool *odd)
{
	Dwarf_Op mem[3], *ops;
	size_t cnt;
	bool is_value;
	uint64_t v;

	if (dwarf_frame_register(f, reg, mem, &ops, &cnt)) {
		*odd = true;
		return (struct value){0};
	}
	if (!cnt)
		return ops == mem ? (struct value){false, 0} : (struct value){true, reg_value(reg)};
	if (!evaluate(ops, cnt, pc, cfa, ops != mem, &v, &is_value)) {
		*odd = true;
		return (struct value){0};
	}
	return (struct value){true, is_value ? v : memory(v)};
}

/* ---- ours ---- */

static bool our_cfa(const struct rule *r, uint64_t pc, uint64_t *cfa)
{
	uint64_t base = reg_value(r->reg) + r->off;

	switch (r->cfa & CFA_KIND_MASK) {
	case CFA_REG:
		break;
	case CFA_DEREF:
		base = memory(base) + r->add;
		break;
	case CFA_PLT:
		base += (int)(pc & 15) >= r->add ? 8 : 0;
		break;
	default:
		return false;
	}
	*cfa = base;
	return true;
}

static struct value our_saved(unsigned how, int off, uint64_t cfa, unsigned reg)
{
	switch (how) {
	case SAVED_SAME:
		return (struct value){true, reg_value(reg)};
	case SAVED_AT_CFA:
		return (struct value){true, memory(cfa + off)};
	case SAVED_AT_SP:
		return (struct value){true, memory(reg_value(UNWIND_SP) + off)};
	case SAVED_AT_FP:
		return (struct value){true, memory(reg_value(UNWIND_FP) + off)};
	case SAVED_REG:
		return (struct value){true, reg_value(off)};
	case SAVED_IS_CFA:
		return (struct value){true, cfa + off};
	}
	return (struct value){0};
}

/* ---- comparison ---- */

struct tally {
	const char *path;
	size_t compared, unsupported, odd, differ;
};

static void differs(struct tally *t, uint64_t pc, const char *what, uint64_t ours, uint64_t theirs)
{
	if (t->differ++ < 10)
		printf("%s %#lx: %s ours %#lx libdw %#lx\n", t->path, pc, what, ours, theirs);
}

static void compare(struct tally *t, const struct rule *r, Dwarf_Frame *f, uint64_t pc)
{
	uint64_t cfa = 0, ours = 0;
	bool odd = false, is_value, signal = false;
	struct value ra, fp, mine;
	Dwarf_Op *ops;
	size_t cnt;

	t->compared++;
	dwarf_frame_info(f, NULL, NULL, &signal);
	if (dwarf_frame_cfa(f, &ops, &cnt) || !evaluate(ops, cnt, pc, 0, false, &cfa, &is_value))
		odd = true;
	ra = libdw_register(f, UNWIND_RA, pc, cfa, &odd);
	if (!odd && !ra.known) {
		if (!r || r->cfa != CFA_END)
			differs(t, pc, "end of stack", r ? r->cfa : 99, CFA_END);
		return;
	}
	fp = libdw_register(f, UNWIND_FP, pc, cfa, &odd);
	if (!r || (r->cfa & CFA_KIND_MASK) == CFA_BAD) {
		/* only what is odd to this test too may be unsupported */
		if (r && odd)
			t->unsupported++;
		else
			differs(t, pc, "rule", r ? r->cfa : 99, cfa);
		return;
	}
	if (odd) {
		t->odd++;
		return;
	}
	if (!our_cfa(r, pc, &ours) || ours != cfa)
		differs(t, pc, "CFA", ours, cfa);
	mine = our_saved(r->saved & 15, r->ra_off, cfa, UNWIND_RA);
	if (mine.known != ra.known || mine.v != ra.v)
		differs(t, pc, "return address", mine.v, ra.v);
	mine = our_saved(r->saved >> 4, r->fp_off, cfa, UNWIND_FP);
	if (mine.known != fp.known || mine.v != fp.v)
		differs(t, pc, "rbp", mine.v, fp.v);
	if (signal != !!(r->cfa & CFA_SIGNAL))
		differs(t, pc, "signal frame", !signal, signal);
}

/* One address; both sides must agree on whether there is anything. Returns where libdw's row ends,
 * 0 for none. */
static uint64_t check(struct tally *t, const struct unwind_table *table, Dwarf_CFI *cfi,
		      uint64_t entry, uint64_t pc)
{
	const struct rule *r = unwind_table__find(table, pc);
	Dwarf_Addr end = 0;
	Dwarf_Frame *f;

	if (dwarf_cfi_addrframe(cfi, pc, &f)) {
		if (r && r->cfa != CFA_NONE && !(r->cfa == CFA_END && pc - entry < 256))
			differs(t, pc, "nothing expected", r->cfa, CFA_NONE);
		return 0;
	}
	dwarf_frame_info(f, NULL, &end, NULL);
	compare(t, r, f, pc);
	free(f);
	return end;
}

static void check_all(struct tally *t, const struct unwind_table *table, Dwarf_CFI *cfi,
		      uint64_t entry)
{
	for (size_t p = 0; p < table->page_cnt; p++) {
		uint64_t base = (table->first_page + p) << PAGE_SHIFT_ELF;

		for (uint32_t i = 0; i < table->pages[p].cnt; i++) {
			const uint32_t *row = &table->rows[table->pages[p].first + i];
			uint64_t start = base + (row[0] >> 16), end = base + 0x10000, next;

			if (i + 1 < table->pages[p].cnt)
				end = base + (row[1] >> 16);
			for (uint64_t pc = start; pc < end; pc = next) {
				next = check(t, table, cfi, entry, pc);
				if (next <= pc)
					break;
			}
			check(t, table, cfi, entry, end - 1);
		}
	}
}

static int check_file(const char *path)
{
	struct tally t = {.path = path};
	int fd = open(path, O_RDONLY);
	struct unwind_table table;
	Dwarf_CFI *cfi;
	GElf_Ehdr eh;
	Elf *elf;
	int err;

	if (fd < 0) {
		printf("%s: not here\n", path);
		return 0;
	}
	elf = elf_begin(fd, ELF_C_READ, NULL);
	err = unwind_table__build(elf, fd, UINT64_MAX, &table);
	cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	if (err || !cfi || !gelf_getehdr(elf, &eh)) {
		printf("%s: table %d, libdw %s\n", path, err,
		       cfi ? "reads it" : "does not read it");
		t.differ = 1;
	} else {
		check_all(&t, &table, cfi, eh.e_entry);
		printf("%s: %zu rows, %zu addresses compared, %zu unsupported, %zu not judged, %zu "
		       "differ\n",
		       path, table.row_cnt, t.compared, t.unsupported, t.odd, t.differ);
		/* the page rows that carry on a rule are rows of ours alone */
		if (t.compared < table.fde_cnt || t.unsupported > 10 || t.odd > t.compared / 100)
			t.differ++;
	}
	unwind_table__fini(&table);
	if (cfi)
		dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
	return t.differ != 0;
}

int main(int argc, char **argv)
{
	static const char *const files[] = {"/proc/self/exe",
					    "/lib/x86_64-linux-gnu/libc.so.6",
					    "/lib64/ld-linux-x86-64.so.2",
					    "/lib/x86_64-linux-gnu/libstdc++.so.6",
					    "/lib/x86_64-linux-gnu/libcrypto.so.3",
					    "/usr/bin/redis-server"};
	int failed = 0;

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		failed |= check_file(argv[i]);
	for (size_t i = 0; argc < 2 && i < sizeof(files) / sizeof(*files); i++)
		failed |= check_file(files[i]);
	return failed;
}
