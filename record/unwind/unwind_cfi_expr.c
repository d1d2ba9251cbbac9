/* SPDX-License-Identifier: BSD-2-Clause */
/* The few forms of DWARF expressions that occur in call frame information, from compilers and
 * hand-written assembly. */
#include <dwarf.h>
#include <string.h>

#include "record/unwind/unwind_cfi.h"

#define STACK_MAX 4

/*
 * Binutils' rule for lazy PLT entries (elf_x86_64_eh_frame_plt in elf64-x86-64.c): rsp+8, and 8
 * more once the entry has pushed its index:  breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl,
 * plus
 */
static bool is_plt(struct cursor c, struct cfi_expr *e)
{
	static const uint8_t head[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const uint8_t tail[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	uint8_t lit;

	if ((size_t)(c.end - c.p) != sizeof(head) + 1 + sizeof(tail) ||
	    memcmp(c.p, head, sizeof(head)) || memcmp(c.p + sizeof(head) + 1, tail, sizeof(tail)))
		return false;
	lit = c.p[sizeof(head)];
	if (lit < DW_OP_lit0 || lit > DW_OP_lit15)
		return false;
	*e = (struct cfi_expr){PLACE_PLT, UNWIND_SP, 8, lit - DW_OP_lit0};
	return true;
}

/* A constant is represented as a place without register. */
#define PLACE_CONST ((enum cfi_place)(PLACE_UNKNOWN + 1))

static bool push_constant(struct cursor *c, uint8_t op, int64_t *v)
{
	static const struct {
		uint8_t op, size;
		bool is_signed;
	} consts[] = {{DW_OP_const1u, 1, false}, {DW_OP_const1s, 1, true},
		      {DW_OP_const2u, 2, false}, {DW_OP_const2s, 2, true},
		      {DW_OP_const4u, 4, false}, {DW_OP_const4s, 4, true},
		      {DW_OP_const8u, 8, false}, {DW_OP_const8s, 8, true}};

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		*v = op - DW_OP_lit0;
		return true;
	}
	for (size_t i = 0; i < sizeof(consts) / sizeof(*consts); i++) {
		if (op == consts[i].op) {
			*v = consts[i].is_signed ? cursor_sint(c, consts[i].size)
						 : (int64_t)cursor_uint(c, consts[i].size);
			return true;
		}
	}
	if (op != DW_OP_constu && op != DW_OP_consts)
		return false;
	*v = op == DW_OP_constu ? (int64_t)cursor_uleb(c) : cursor_sleb(c);
	return true;
}

static bool push(struct cursor *c, uint8_t op, struct cfi_expr *to)
{
	*to = (struct cfi_expr){PLACE_REG, 0, 0, 0};
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		to->reg = op - DW_OP_breg0;
		to->off = cursor_sleb(c);
		return true;
	}
	if (op == DW_OP_bregx) {
		uint64_t reg = cursor_uleb(c);

		to->reg = reg > 255 ? 255 : reg;
		to->off = cursor_sleb(c);
		return true;
	}
	to->place = PLACE_CONST;
	return push_constant(c, op, &to->off);
}

static bool add(struct cfi_expr *e, int64_t n)
{
	int64_t *to = e->place == PLACE_DEREF ? &e->add : &e->off;

	return !__builtin_add_overflow(*to, n, to);
}

/* Adds or subtracts a constant; for addition in either order. */
static bool combine(struct cfi_expr *a, const struct cfi_expr *b, uint8_t op)
{
	struct cfi_expr c;
	int64_t n = b->off;

	if (b->place == PLACE_CONST) {
		if (op == DW_OP_minus && __builtin_sub_overflow(0, n, &n))
			return false;
		return add(a, n);
	}
	if (a->place != PLACE_CONST || op == DW_OP_minus)
		return false;
	c = *b;
	n = a->off;
	*a = c;
	return add(a, n);
}

struct cfi_expr cfi_expression(struct cursor c, bool with_cfa)
{
	const struct cfi_expr unknown = {PLACE_UNKNOWN, 0, 0, 0};
	struct cfi_expr st[STACK_MAX] = {{PLACE_CFA, 0, 0, 0}}, e;
	unsigned cnt = with_cfa;

	if (is_plt(c, &e))
		return e;
	while (c.p < c.end) {
		uint8_t op = cursor_uint(&c, 1);

		if (op == DW_OP_deref) {
			if (!cnt || st[cnt - 1].place != PLACE_REG)
				return unknown;
			st[cnt - 1].place = PLACE_DEREF;
		} else if (op == DW_OP_plus_uconst) {
			if (!cnt || !add(&st[cnt - 1], (int64_t)cursor_uleb(&c)))
				return unknown;
		} else if (op == DW_OP_plus || op == DW_OP_minus) {
			if (cnt < 2 || !combine(&st[cnt - 2], &st[cnt - 1], op))
				return unknown;
			cnt--;
		} else if (op != DW_OP_nop) {
			if (cnt == STACK_MAX || !push(&c, op, &st[cnt++]))
				return unknown;
		}
		if (c.bad)
			return unknown;
	}
	return cnt && st[cnt - 1].place <= PLACE_DEREF ? st[cnt - 1] : unknown;
}
