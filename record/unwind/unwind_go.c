/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "record/unwind/unwind_go.h"

#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* Functions share stack depth tables. A table has two bytes per step and each function about fifty
 * bytes of its own, so a hundred steps per function are far more than real files need. */
#define STEPS_PER_BYTE 2
#define NAME_MAX_SZ 256 /* longer names are irrelevant, and many may overlap */

static struct cursor at(const struct go_table *g, uint64_t off)
{
	struct cursor c = g->all;

	cursor_skip(&c, off);
	return c;
}

uint64_t go_table_text(const void *table, size_t sz)
{
	const uint8_t *p = table;
	struct cursor c = {p, p + sz, false};
	uint32_t magic = cursor_uint(&c, 4);
	uint64_t text;

	cursor_skip(&c, 4 + 8 + 8); /* quantum, pointer size; functions; files */
	text = magic == MAGIC_1_16 ? 0 : cursor_uint(&c, 8);
	return c.bad ? 0 : text;
}

void go_table__open_at(struct go_table *g, const void *table, size_t sz, uint64_t text)
{
	const uint8_t *data = table;
	struct cursor c = {data, data + sz, false};
	uint32_t magic;

	*g = (struct go_table){.all = c, .text = text};
	magic = cursor_uint(&c, 4);
	cursor_skip(&c, 2);
	g->quantum = cursor_uint(&c, 1);
	if (cursor_uint(&c, 1) != 8) /* pointer size */
		return;
	g->nfunc = cursor_uint(&c, 8);
	cursor_skip(&c, 8 + (magic == MAGIC_1_16 ? 0 : 8)); /* files; address of the text */
	g->names = cursor_uint(&c, 8);
	cursor_skip(&c, 16); /* compilation units, files */
	g->pctab = cursor_uint(&c, 8);
	g->functab = cursor_uint(&c, 8);
	if (c.bad || g->nfunc > sz / 8 || g->functab > sz)
		return;
	g->steps_left = STEPS_PER_BYTE * (uint64_t)sz;
	g->version = magic == MAGIC_1_16   ? 16
		     : magic == MAGIC_1_18 ? 18
		     : magic == MAGIC_1_20 ? 20
					   : 0;
}

void go_table__open(struct go_table *g, const struct unwind_image *im)
{
	Elf_Data *d = im->gopclntab ? elf_rawdata(im->gopclntab, NULL) : NULL;
	uint64_t text = d && d->d_buf ? go_table_text(d->d_buf, d->d_size) : 0;

	*g = (struct go_table){0};
	if (d && d->d_buf)
		go_table__open_at(g, d->d_buf, d->d_size,
				  unwind_image_has_code(im, text, text + 1) ? text : im->go_text);
	if (g->quantum != 1) /* x86 */
		g->version = 0;
}

/* TOPFRAME functions of runtime/asm_amd64.s, and functions that switch stacks: their caller is not
 * on this stack. */
static enum go_kind kind_of(const char *name)
{
	static const char *const outermost[] = {"goexit",      "mstart",     "rt0_go",
						"systemstack", "asmcgocall", "mcall",
						"cgocallback", "morestack"};

	if (strncmp(name, "runtime.", 8))
		return GO_NORMAL;
	name += 8;
	if (!strcmp(name, "sigreturn") || !strcmp(name, "sigreturn__sigaction"))
		return GO_SIGNAL;
	for (size_t i = 0; i < sizeof(outermost) / sizeof(*outermost); i++)
		if (!strcmp(name, outermost[i]))
			return GO_OUTERMOST;
	return GO_NORMAL;
}

bool go_table__function(const struct go_table *g, size_t i, struct go_function *f)
{
	bool old = g->version == 16;
	unsigned width = old ? 8 : 4;
	struct cursor c = at(g, g->functab + 2 * width * i), name;
	uint64_t func, flags, left;

	f->start = cursor_uint(&c, width);
	func = cursor_uint(&c, width);
	f->end = cursor_uint(&c, width);
	if (!old) {
		f->start += g->text;
		f->end += g->text;
	}
	if (c.bad || f->end <= f->start || func > (uint64_t)(g->all.end - g->all.p))
		return false;
	c = at(g, g->functab + func + width);
	f->name_at = g->names + cursor_uint(&c, 4);
	name = at(g, f->name_at);
	cursor_skip(&c, 8); /* arguments, deferreturn */
	f->pcsp = cursor_uint(&c, 4);
	cursor_skip(&c, g->version == 20
				? 21
				: 17); /* pcfile, pcln, npcdata, cuOffset, startLine, funcID */
	flags = cursor_uint(&c, 1);
	if (c.bad || name.bad)
		return false;
	left = name.end - name.p;
	f->name = memchr(name.p, 0, left < NAME_MAX_SZ ? left : NAME_MAX_SZ) ? (const char *)name.p
									     : "";
	f->kind = kind_of(f->name);
	if (f->kind == GO_NORMAL && flags & 1 && !old)
		f->kind = GO_OUTERMOST;
	return true;
}

/* Adds a row if it differs from the previous one; see cfi_run for growth. */
static int add(struct cfi_rows *rows, uint64_t address, const struct rule *rule)
{
	if (rows->cnt && !memcmp(&rows->v[rows->cnt - 1].rule, rule, sizeof(*rule)))
		return 0;
	return cfi_rows_add(rows, address, rule);
}

int go_table__run(struct go_table *g, const struct go_function *f, struct cfi_rows *rows)
{
	static const struct rule end = {.cfa = CFA_END}, bad = {.cfa = CFA_BAD},
				 sig = {.cfa = CFA_DEREF | CFA_SIGNAL,
					.reg = UNWIND_SP,
					.saved = RULE_SAVED(SAVED_AT_SP, SAVED_AT_SP),
					.off = 160,
					.ra_off = 168,
					.fp_off = 120};
	struct rule rule = {.cfa = CFA_REG,
			    .reg = UNWIND_SP,
			    .saved = RULE_SAVED(SAVED_AT_CFA, SAVED_SAME),
			    .ra_off = -8};
	struct cursor c = at(g, g->pctab + f->pcsp);
	uint64_t pc = f->start, delta;
	int64_t depth = -1;
	int err = 0;

	rows->cnt = 0;
	if (f->kind != GO_NORMAL)
		return add(rows, f->start, f->kind == GO_SIGNAL ? &sig : &end);
	if (!f->pcsp) /* none: marks of the linker such as go:textfipsstart (Go 1.24) */
		return add(rows, f->start, &bad);
	while (pc < f->end && !err) {
		uint64_t zigzag = cursor_uleb(&c);

		if (!g->steps_left)
			return -EBADMSG;
		g->steps_left--;
		if (c.bad)
			return -EBADMSG;
		if (!zigzag && pc != f->start)
			break;
		depth += (int64_t)(zigzag >> 1 ^ -(zigzag & 1));
		delta = cursor_uleb(&c);
		if (c.bad || depth < -4096 || depth > INT32_MAX - 8 || !delta ||
		    delta > f->end - pc)
			return -EBADMSG;
		rule.off = depth + 8;
		/* code that temporarily pops its return address, such as rawVforkSyscall */
		err = add(rows, pc, depth < 0 ? &bad : &rule);
		pc += delta;
	}
	return err;
}
