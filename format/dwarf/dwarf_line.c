/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_line.h"

#include <dwarf.h>

#include "format/dwarf/dwarf_map.h"

struct header {
	struct dwarf_unit
		u; /* off_sz, addr_sz and version of the line table, for reading forms */
	struct line_params p;
};

static int add_dir(struct line_table *t, const char *name)
{
	if (!meter_work(t->meter, 2))
		return -E2BIG;
	if (meter_grow(t->meter, &t->dirs, &t->dir_cap, t->dir_cnt + 1, sizeof(*t->dirs)))
		return meter_error(t->meter);
	t->dirs[t->dir_cnt++] = name;
	return 0;
}

static int add_file(struct line_table *t, const char *name, uint64_t dir)
{
	if (!meter_work(t->meter, 2))
		return -E2BIG;
	if (meter_grow(t->meter, &t->files, &t->file_cap, t->file_cnt + 1, sizeof(*t->files)))
		return meter_error(t->meter);
	t->files[t->file_cnt++] = (struct line_file){.name = name, .dir = dir};
	return 0;
}

static const char *next_file(struct cursor *c, uint64_t *dir)
{
	const char *name = cursor_str(c);

	*dir = 0;
	if (c->bad || !*name)
		return NULL;
	*dir = cursor_uleb(c);
	cursor_uleb(c);
	cursor_uleb(c);
	return c->bad ? NULL : name;
}

/* Up to version 4: a list of strings ended by an empty one; file numbers start at 1. */
static int read_names_v2(struct line_table *t, struct cursor *c)
{
	const char *name;
	uint64_t dir;
	int err = 0;

	while (!err && (name = cursor_str(c)) && *name)
		err = add_dir(t, name);
	while (!err && (name = next_file(c, &dir)))
		err = add_file(t, name, dir);
	return err;
}

/* Version 5: a list of (content, form) pairs, then as many values per entry. Numbers of both lists
 * start at 0. */
static int read_names_v5(struct line_table *t, const struct dwarf_unit *u, struct cursor *c,
			 bool files)
{
	struct {
		uint64_t content, form;
	} format[255];
	unsigned format_cnt = cursor_u8(c);
	uint64_t cnt;
	int err = 0;

	for (unsigned i = 0; i < format_cnt; i++) {
		format[i].content = cursor_uleb(c);
		format[i].form = cursor_uleb(c);
	}
	cnt = cursor_uleb(c);
	for (uint64_t n = 0; n < cnt && cursor_left(c) && !err; n++) {
		const char *name = NULL;
		uint64_t dir = 0;

		if (!meter_work(t->meter, 1 + format_cnt)) /* entries may be empty */
			return -E2BIG;
		for (unsigned i = 0; i < format_cnt; i++) {
			struct attr_value v;

			dwarf_form_read(c, u, (unsigned)format[i].form, 0, &v);
			if (format[i].content == DW_LNCT_path)
				name = dwarf_attr_string(u, &v);
			else if (format[i].content == DW_LNCT_directory_index)
				dir = v.u;
		}
		if (c->bad)
			break;
		if (!format_cnt)
			break;
		err = files ? add_file(t, name, dir) : add_dir(t, name);
	}
	return err;
}

/* Sets *c to the line program, up to the end of the table. -EBADMSG: not usable. */
static int read_header(struct line_table *t, struct header *h, struct cursor *c)
{
	const uint8_t *program, *names;
	uint64_t len = cursor_u32(c);
	int err;

	h->u.off_sz = 4;
	if (len == 0xffffffff) {
		h->u.off_sz = 8;
		len = cursor_u64(c);
	}
	if (c->bad || len > cursor_left(c))
		return -EBADMSG;
	c->end = c->p + len;
	h->u.version = cursor_u16(c);
	if (h->u.version < 2 || h->u.version > 5)
		return -EBADMSG;
	if (h->u.version >= 5) {
		h->u.addr_sz = cursor_u8(c);
		cursor_u8(c);
	}
	len = cursor_uint(c, h->u.off_sz);
	if (c->bad || len > cursor_left(c) || (h->u.addr_sz != 4 && h->u.addr_sz != 8))
		return -EBADMSG;
	program = c->p + len;
	h->p.min_inst_len = cursor_u8(c);
	if (h->u.version >= 4)
		cursor_u8(c); /* operations per instruction: more than one only on VLIW */
	cursor_u8(c);
	h->p.line_base = (int8_t)cursor_u8(c);
	h->p.line_range = cursor_u8(c);
	h->p.opcode_base = cursor_u8(c);
	for (unsigned i = 1; i < h->p.opcode_base; i++)
		h->p.opcode_args[i] = cursor_u8(c);
	t->version = h->u.version;
	t->params = h->p;
	names = c->p;
	if (h->u.version >= 5) {
		err = read_names_v5(t, &h->u, c, false);
		if (!err)
			err = read_names_v5(t, &h->u, c, true);
	} else {
		err = read_names_v2(t, c);
	}
	if (!meter_work(t->meter, 256 + (uint64_t)(c->p - names) / 8))
		err = -E2BIG;
	c->p = program;
	c->bad = false;
	return err;
}

/* Whether one of the wanted addresses is in [lo, hi). */
static bool wants(const struct line_table *t, uint64_t lo, uint64_t hi)
{
	size_t a = 0, b = t->wanted_cnt;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (t->wanted[mid] < lo)
			a = mid + 1;
		else
			b = mid;
	}
	return a < t->wanted_cnt && t->wanted[a] < hi;
}

static int end_sequence(struct line_table *t, size_t first, const uint8_t *from, const uint8_t *to)
{
	uint64_t lo = t->rows[first].addr, hi = t->rows[t->row_cnt - 1].addr;

	if (lo >= hi || !wants(t, lo, hi) || !elf_image_has_code(t->unit->file->elf, lo)) {
		t->row_cnt = first;
		return 0;
	}
	if (meter_grow(t->meter, &t->sequences, &t->sequence_cap, t->sequence_cnt + 1,
		       sizeof(*t->sequences)))
		return meter_error(t->meter);
	t->sequences[t->sequence_cnt++] = (struct line_sequence){lo, hi, first, t->row_cnt - first, from, to};
	return 0;
}

struct machine {
	struct line_row r;
	size_t first;	/* first row of the sequence */
	const uint8_t *from;
	bool discarded; /* its addresses are the linker's tombstone value */
};

static int emit(struct line_table *t, struct machine *m)
{
	if (m->discarded)
		return 0;
	if (meter_grow(t->meter, &t->rows, &t->row_cap, t->row_cnt + 1, sizeof(*t->rows)))
		return meter_error(t->meter);
	t->rows[t->row_cnt++] = m->r;
	return 0;
}

static void reset(struct line_table *t, struct machine *m, const uint8_t *at)
{
	*m = (struct machine){.r = {.line = 1, .file = 1}, .first = t->row_cnt, .from = at};
}

static int extended(struct line_table *t, const struct header *h, struct machine *m,
		    struct cursor *c)
{
	uint64_t len = cursor_uleb(c), dir;
	struct cursor arg = {c->p, c->p, false};
	const char *name;
	int err = 0;

	cursor_skip(c, len);
	arg.end = c->p;
	if (c->bad || !len)
		return 0;
	switch (cursor_u8(&arg)) {
	case DW_LNE_end_sequence:
		err = emit(t, m);
		if (!err && t->row_cnt > m->first)
			err = end_sequence(t, m->first, m->from, c->p);
		reset(t, m, c->p);
		break;
	case DW_LNE_set_address:
		m->r.addr = cursor_uint(&arg, (unsigned)cursor_left(&arg));
		m->discarded = m->r.addr == (h->u.addr_sz == 4 ? UINT32_MAX : UINT64_MAX);
		break;
	case DW_LNE_define_file:
		name = next_file(&arg, &dir);
		if (name)
			err = add_file(t, name, dir);
		break;
	}
	return err;
}

static int standard(struct line_table *t, const struct header *h, struct machine *m,
		    struct cursor *c, unsigned op)
{
	switch (op) {
	case DW_LNS_copy:
		return emit(t, m);
	case DW_LNS_advance_pc:
		m->r.addr += cursor_uleb(c) * h->p.min_inst_len;
		return 0;
	case DW_LNS_advance_line:
		m->r.line += (uint32_t)cursor_sleb(c);
		return 0;
	case DW_LNS_set_file:
		m->r.file = (uint32_t)cursor_uleb(c);
		return 0;
	case DW_LNS_const_add_pc:
		if (h->p.line_range)
			m->r.addr += (255u - h->p.opcode_base) / h->p.line_range * h->p.min_inst_len;
		return 0;
	case DW_LNS_fixed_advance_pc:
		m->r.addr += cursor_u16(c);
		return 0;
	default:
		for (unsigned i = 0; i < h->p.opcode_args[op] && c->p < c->end; i++)
			cursor_uleb(c);
		return 0;
	}
}

/* Each byte of the program is at most one step and emits at most one row. */
static int run_program(struct line_table *t, const struct header *h, struct cursor *c)
{
	struct machine m;
	int err = meter_work(t->meter, cursor_left(c)) ? 0 : -E2BIG;

	reset(t, &m, c->p);
	while (!err && c->p < c->end) {
		unsigned op = cursor_u8(c);

		if (op >= h->p.opcode_base) {
			unsigned adjusted = op - h->p.opcode_base;

			if (h->p.line_range) {
				m.r.addr += adjusted / h->p.line_range * h->p.min_inst_len;
				m.r.line +=
					(uint32_t)(h->p.line_base + (int)(adjusted % h->p.line_range));
			}
			err = emit(t, &m);
		} else if (op == 0) {
			err = extended(t, h, &m, c);
		} else {
			err = standard(t, h, &m, c, op);
		}
	}
	t->row_cnt = m.first; /* drop a sequence without an end */
	return err;
}

static int by_hi(const void *a, const void *b)
{
	const struct line_sequence *x = a, *y = b;

	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

int line_table_load(struct line_table *t, const struct dwarf_unit *u, const uint64_t *wanted,
		    size_t cnt, struct meter *m)
{
	struct cursor c = cursor_at(u->file->sec.line, u->line_off);
	struct header h = {.u = *u};
	int err;

	t->unit = u;
	t->meter = m;
	t->wanted = wanted;
	t->wanted_cnt = cnt;
	t->dir_cnt = t->file_cnt = t->row_cnt = t->sequence_cnt = 0;
	if (!u->has_line)
		return 0;
	err = read_header(t, &h, &c);
	if (err == -EBADMSG)
		return 0;
	if (!err)
		err = run_program(t, &h, &c);
	if (!err && !meter_sort(m, t->sequence_cnt))
		err = -E2BIG;
	if (t->sequence_cnt)
		qsort(t->sequences, t->sequence_cnt, sizeof(*t->sequences), by_hi);
	return err;
}

/* The last row at or below the address in a sequence. */
static size_t find_row(const struct line_table *t, const struct line_sequence *s, uint64_t addr)
{
	size_t lo = s->first + 1, hi = s->first + s->cnt - 1;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->rows[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

bool line_table_find(const struct line_table *t, uint64_t addr, struct line_hit *hit)
{
	size_t lo = 0, hi = t->sequence_cnt, row;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->sequences[mid].hi <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == t->sequence_cnt || t->sequences[lo].lo > addr)
		return false;
	row = find_row(t, &t->sequences[lo], addr);
	*hit = (struct line_hit){t->rows[row].addr, t->rows[row + 1].addr, t->rows[row].line,
				 t->rows[row].file};
	return true;
}

void line_table_fini(struct line_table *t)
{
	free(t->dirs);
	free(t->files);
	free(t->rows);
	free(t->sequences);
	*t = (struct line_table){0};
}
