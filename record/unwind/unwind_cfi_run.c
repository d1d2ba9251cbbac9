/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the program of a CIE and then of an FDE, and converts each row of the described table (DWARF
 * 5, 6.4.1) to a struct rule. Tracks only the columns of the return address and rbp. */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/unwind/unwind_cfi.h"

#define REMEMBER_MAX 64
#define CFA_NEGATE_RA_STATE DW_CFA_GNU_window_save /* DW_CFA_AARCH64_negate_ra_state */

enum column_how {
	COL_UNSET,
	COL_UNDEFINED,
	COL_SAME,
	COL_OFFSET,
	COL_VAL_OFFSET,
	COL_REGISTER,
	COL_EXPRESSION,
	COL_VAL_EXPRESSION
};

struct column {
	enum column_how how;
	int64_t n; /* offset or register */
	struct cursor expr;
};

struct state {
	bool cfa_set, cfa_is_expr;
	uint64_t cfa_reg;
	int64_t cfa_off;
	struct cursor cfa_expr;
	struct column ra, fp, bx;
};

struct machine {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde;
	struct cfi_rows *rows; /* NULL while running the CIE's program */
	struct state now, initial;
	struct state remembered[REMEMBER_MAX];
	unsigned remembered_cnt;
	uint64_t loc;
};

/* ---- converting a row to a rule ---- */

static const struct rule rule_bad = {.cfa = CFA_BAD};

static bool fits16(int64_t v)
{
	return v >= INT16_MIN && v <= INT16_MAX;
}

static bool convert_cfa(const struct state *s, struct rule *r)
{
	struct cfi_expr e = {PLACE_REG, (uint32_t)s->cfa_reg, s->cfa_off, 0};

	if (!s->cfa_set)
		return false;
	if (s->cfa_is_expr)
		e = cfi_expression(s->cfa_expr, false);
	else if (s->cfa_reg >= UNWIND_REG_CNT)
		return false;
	switch (e.place) {
	case PLACE_REG:
		r->cfa = CFA_REG;
		break;
	case PLACE_DEREF:
		r->cfa = CFA_DEREF;
		break;
	case PLACE_PLT:
		r->cfa = CFA_PLT;
		break;
	default:
		return false;
	}
	if (e.reg >= UNWIND_REG_CNT || e.off < INT32_MIN || e.off > INT32_MAX || e.add < INT8_MIN ||
	    e.add > INT8_MAX)
		return false;
	r->reg = e.reg;
	r->off = e.off;
	r->add = e.add;
	return true;
}

/* Returns enum rule_saved and sets its offset; -1: not representable. */
static int convert_column(const struct column *c, int16_t *off)
{
	struct cfi_expr e;
	int how = -1;
	int64_t n = c->n;

	switch (c->how) {
	case COL_UNSET:
	case COL_SAME:
		*off = 0;
		return SAVED_SAME;
	case COL_UNDEFINED:
		*off = 0;
		return SAVED_UNDEF;
	case COL_OFFSET:
		how = SAVED_AT_CFA;
		break;
	case COL_VAL_OFFSET:
		how = SAVED_IS_CFA;
		break;
	case COL_REGISTER:
		how = n < UNWIND_REG_CNT ? SAVED_REG : -1;
		break;
	case COL_EXPRESSION:
		e = cfi_expression(c->expr, true);
		n = e.off;
		if (e.place == PLACE_CFA)
			how = SAVED_AT_CFA;
		else if (e.place == PLACE_REG && e.reg == UNWIND_SP)
			how = SAVED_AT_SP;
		else if (e.place == PLACE_REG && e.reg == UNWIND_FP)
			how = SAVED_AT_FP;
		break;
	case COL_VAL_EXPRESSION:
		e = cfi_expression(c->expr, true);
		n = e.off;
		if (e.place == PLACE_CFA)
			how = SAVED_IS_CFA;
		break;
	}
	if (!fits16(n))
		return -1;
	*off = n;
	return how;
}

static int8_t convert_rbx(const struct column *c)
{
	if (c->how == COL_UNSET || c->how == COL_SAME)
		return RBX_SAME;
	if (c->how == COL_OFFSET && c->n < 0 && c->n % 8 == 0 && c->n >= -8 * RBX_MAX)
		return -c->n / 8;
	return RBX_UNKNOWN;
}

static struct rule convert(const struct machine *m)
{
	const struct state *s = &m->now;
	struct rule r = {0};
	int16_t off;
	int ra, fp;

	if (s->ra.how == COL_UNDEFINED)
		return (struct rule){.cfa = CFA_END};
	ra = convert_column(&s->ra, &off);
	if (ra == SAVED_SAME && UNWIND_RA_IS_REG) {
		ra = SAVED_REG;
		off = UNWIND_RA;
	}
	r.ra_off = off;
	if (!convert_cfa(s, &r) || ra < 0 || ra == SAVED_SAME)
		return rule_bad;
	fp = convert_column(&s->fp, &off);
	r.fp_off = fp < 0 ? 0 : off;
	r.saved = RULE_SAVED(ra, fp < 0 ? SAVED_UNDEF : fp);
	if (m->section->follow_rbx && r.cfa == CFA_REG)
		r.add = convert_rbx(&s->bx);
	if (m->cie->signal_frame)
		r.cfa |= CFA_SIGNAL;
	return r;
}

int cfi_rows_add(struct cfi_rows *rows, uint64_t address, const struct rule *rule)
{
	if (rows->cnt == rows->cap) {
		size_t cap = rows->cap ? 2 * rows->cap : 64;
		struct cfi_row *v = realloc(rows->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		rows->v = v;
		rows->cap = cap;
	}
	rows->v[rows->cnt++] = (struct cfi_row){address, *rule};
	return 0;
}

static int emit(struct machine *m, uint64_t until)
{
	struct cfi_rows *rows = m->rows;
	struct rule rule;

	if (until > m->fde->end)
		until = m->fde->end;
	if (!rows || m->loc >= until)
		return 0;
	rule = convert(m);
	if (rows->cnt && !memcmp(&rows->v[rows->cnt - 1].rule, &rule, sizeof(rule)))
		return 0;
	return cfi_rows_add(rows, m->loc, &rule);
}

/* ---- instructions ---- */

static int advance_to(struct machine *m, uint64_t loc)
{
	int err;

	if (loc < m->loc) /* also catches an advance beyond the address space */
		return -EBADMSG;
	err = emit(m, loc);
	m->loc = loc;
	return err;
}

static int advance(struct machine *m, uint64_t delta)
{
	if (__builtin_mul_overflow(delta, m->cie->code_align, &delta) || m->loc + delta < m->loc)
		return -EBADMSG;
	return advance_to(m, m->loc + delta);
}

static struct column *column_of(struct machine *m, struct state *s, uint64_t reg)
{
	if (reg == m->cie->ra_reg)
		return &s->ra;
	if (reg == UNWIND_RBX && m->section->follow_rbx)
		return &s->bx;
	return reg == UNWIND_FP ? &s->fp : NULL;
}

static void set_column(struct machine *m, uint64_t reg, enum column_how how, int64_t n)
{
	struct column *c = column_of(m, &m->now, reg);

	if (c)
		*c = (struct column){.how = how, .n = n};
}

static void set_expression(struct machine *m, struct cursor *c, enum column_how how)
{
	struct column *col = column_of(m, &m->now, cursor_uleb(c));
	struct cursor expr = cursor_take(c, cursor_uleb(c));

	if (col)
		*col = (struct column){.how = how, .expr = expr};
}

static void restore_column(struct machine *m, uint64_t reg)
{
	struct column *c = column_of(m, &m->now, reg);

	if (c)
		*c = *column_of(m, &m->initial, reg);
}

/* Converts a factored offset to bytes; an unreasonable one becomes a value that convert_column
 * rejects. */
static int64_t factored(struct machine *m, int64_t n)
{
	return __builtin_mul_overflow(n, m->cie->data_align, &n) ? INT64_MAX : n;
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->now.cfa_set = true;
	m->now.cfa_is_expr = false;
	m->now.cfa_reg = reg;
	m->now.cfa_off = off;
}

static int remember(struct machine *m)
{
	if (m->remembered_cnt == REMEMBER_MAX)
		return -EBADMSG;
	m->remembered[m->remembered_cnt++] = m->now;
	return 0;
}

static int recall(struct machine *m)
{
	if (!m->remembered_cnt)
		return -EBADMSG;
	m->now = m->remembered[--m->remembered_cnt];
	return 0;
}

static int step_cfa(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		set_cfa(m, reg, (int64_t)cursor_uleb(c));
		return 0;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		set_cfa(m, reg, factored(m, cursor_sleb(c)));
		return 0;
	case DW_CFA_def_cfa_expression:
		m->now.cfa_set = m->now.cfa_is_expr = true;
		m->now.cfa_expr = cursor_take(c, cursor_uleb(c));
		return 0;
	}
	/* the others change a rule with register and offset */
	if (!m->now.cfa_set || m->now.cfa_is_expr)
		return -EBADMSG;
	if (op == DW_CFA_def_cfa_register)
		m->now.cfa_reg = cursor_uleb(c);
	else if (op == DW_CFA_def_cfa_offset)
		m->now.cfa_off = (int64_t)cursor_uleb(c);
	else
		m->now.cfa_off = factored(m, cursor_sleb(c));
	return 0;
}

static int step_column(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_expression:
		set_expression(m, c, COL_EXPRESSION);
		return 0;
	case DW_CFA_val_expression:
		set_expression(m, c, COL_VAL_EXPRESSION);
		return 0;
	}
	reg = cursor_uleb(c);
	switch (op) {
	case DW_CFA_offset_extended:
		set_column(m, reg, COL_OFFSET, factored(m, (int64_t)cursor_uleb(c)));
		return 0;
	case DW_CFA_offset_extended_sf:
		set_column(m, reg, COL_OFFSET, factored(m, cursor_sleb(c)));
		return 0;
	case DW_CFA_GNU_negative_offset_extended:
		set_column(m, reg, COL_OFFSET, -factored(m, (int64_t)(cursor_uleb(c) & INT32_MAX)));
		return 0;
	case DW_CFA_val_offset:
		set_column(m, reg, COL_VAL_OFFSET, factored(m, (int64_t)cursor_uleb(c)));
		return 0;
	case DW_CFA_val_offset_sf:
		set_column(m, reg, COL_VAL_OFFSET, factored(m, cursor_sleb(c)));
		return 0;
	case DW_CFA_register:
		set_column(m, reg, COL_REGISTER, (int64_t)(cursor_uleb(c) & INT64_MAX));
		return 0;
	case DW_CFA_undefined:
		set_column(m, reg, COL_UNDEFINED, 0);
		return 0;
	case DW_CFA_same_value:
		set_column(m, reg, COL_SAME, 0);
		return 0;
	case DW_CFA_restore_extended:
		restore_column(m, reg);
		return 0;
	}
	return -EBADMSG;
}

static int step(struct machine *m, struct cursor *c)
{
	uint8_t op = cursor_uint(c, 1), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(m, low);
	case DW_CFA_offset:
		set_column(m, low, COL_OFFSET, factored(m, (int64_t)cursor_uleb(c)));
		return 0;
	case DW_CFA_restore:
		restore_column(m, low);
		return 0;
	}
	switch (op) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_set_loc:
		return advance_to(m, cfi_pointer(m->section, c, m->cie->pointer_enc,
						 m->cie->address_size, m->fde->start));
	case DW_CFA_advance_loc1:
		return advance(m, cursor_uint(c, 1));
	case DW_CFA_advance_loc2:
		return advance(m, cursor_uint(c, 2));
	case DW_CFA_advance_loc4:
		return advance(m, cursor_uint(c, 4));
	case DW_CFA_MIPS_advance_loc8:
		return advance(m, cursor_uint(c, 8));
	case DW_CFA_remember_state:
		return remember(m);
	case DW_CFA_restore_state:
		return recall(m);
	case DW_CFA_GNU_args_size:
		cursor_uleb(c);
		return 0;
	case CFA_NEGATE_RA_STATE: /* signed or not: the unwinder strips the signature
				   * (UNWIND_CODE) */
		return 0;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return step_cfa(m, c, op);
	}
	return step_column(m, c, op);
}

static int run(struct machine *m, struct cursor c)
{
	int err = 0;

	while (c.p < c.end && !err) {
		err = step(m, &c);
		if (c.bad)
			return -EBADMSG;
	}
	return err;
}

int cfi_run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
	    struct cfi_rows *rows)
{
	struct machine m; /* large: only the fields that are read are initialised */
	int err;

	m.section = s;
	m.cie = cie;
	m.fde = fde;
	m.rows = NULL;
	m.remembered_cnt = 0;
	m.loc = fde->start;
	memset(&m.now, 0, sizeof(m.now));
	memset(&m.initial, 0, sizeof(m.initial));
	rows->cnt = 0;
	err = run(&m, cie->program);
	if (err)
		return err;
	m.initial = m.now;
	m.rows = rows;
	m.loc = fde->start;
	err = run(&m, fde->program);
	return err ? err : emit(&m, fde->end);
}
