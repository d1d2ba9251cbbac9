/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hand-assembled call frame information, one row a case: the CIE's and the FDE's bytes in, the rows
 * as text out. Every instruction, pointer encoding, augmentation, and the ways in which they can be
 * cut short or wrong.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/unwind/unwind_cfi.h"

#define FUNC 0x401000u
#define SECTION 0x500000u

struct bytes {
	uint8_t b[256];
	size_t cnt;
};

static void put(struct bytes *o, const void *p, size_t n)
{
	memcpy(o->b + o->cnt, p, n);
	o->cnt += n;
}

static void put_uint(struct bytes *o, uint64_t v, size_t n)
{
	put(o, &v, n);
}

/* ---- what is expected, written and printed in a small language ---- */

static char *print_saved(char *to, unsigned how, int off)
{
	static const char *const names[] = {"same", "c%+d",  "s%+d", "b%+d",
					    "r%d",  "=c%+d", "undef"};

	return to + sprintf(to, names[how], off);
}

static void print_rule(char *to, const struct rule *r)
{
	if (r->cfa & CFA_SIGNAL)
		to += sprintf(to, "signal ");
	switch (r->cfa & CFA_KIND_MASK) {
	case CFA_REG:
		to += sprintf(to, "r%d%+d", r->reg, r->off);
		break;
	case CFA_DEREF:
		to += sprintf(to, "*(r%d%+d)%+d", r->reg, r->off, r->add);
		break;
	case CFA_PLT:
		to += sprintf(to, "plt%d r%d%+d", r->add, r->reg, r->off);
		break;
	case CFA_END:
		sprintf(to, "end");
		return;
	case CFA_BAD:
		sprintf(to, "bad");
		return;
	}
	to += sprintf(to, " ra=");
	to = print_saved(to, r->saved & 15, r->ra_off);
	to += sprintf(to, " fp=");
	print_saved(to, r->saved >> 4, r->fp_off);
}

/* "+0 rule; +4 rule; ..." */
static void print_rows(char *to, const struct cfi_rows *rows)
{
	*to = 0;
	for (size_t i = 0; i < rows->cnt; i++) {
		to += sprintf(to, "%s+%lu ", i ? "; " : "",
			      (unsigned long)(rows->v[i].address - FUNC));
		print_rule(to, &rows->v[i].rule);
		to += strlen(to);
	}
}

static int failures;

static void expect(const char *name, const char *got, const char *want)
{
	if (strcmp(got, want)) {
		printf("%s:\n  got  %s\n  want %s\n", name, got, want);
		failures++;
	}
}

/* ---- programs ---- */

/* The CIE that compilers write: CFA = rsp+8, return address at CFA-8; data alignment -8, code
 * alignment 1. */
static const uint8_t usual_init[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};

#define P(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static const struct {
	const char *name;
	const uint8_t *program;
	size_t size;
	const char *rows;
} programs[] = {
	{"nothing", P(DW_CFA_nop), "+0 r7+8 ra=c-8 fp=same"},
	{"push rbp, mov, leave",
	 P(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
	   DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc | 40,
	   DW_CFA_def_cfa, 7, 8),
	 "+0 r7+8 ra=c-8 fp=same; +1 r7+16 ra=c-8 fp=c-16; +4 r6+16 ra=c-8 fp=c-16; +44 r7+8 "
	 "ra=c-8 fp=c-16"},
	{"advance 1, 2, 4",
	 P(DW_CFA_advance_loc1, 16, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc2, 16, 0,
	   DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc4, 16, 0, 0, 0, DW_CFA_def_cfa_offset, 32),
	 "+0 r7+8 ra=c-8 fp=same; +16 r7+16 ra=c-8 fp=same; +32 r7+24 ra=c-8 fp=same; +48 r7+32 "
	 "ra=c-8 fp=same"},
	{"advance 8",
	 P(DW_CFA_MIPS_advance_loc8, 5, 0, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16),
	 "+0 r7+8 ra=c-8 fp=same; +5 r7+16 ra=c-8 fp=same"},
	{"set_loc", P(DW_CFA_set_loc, 0x20, 0x10, 0x40, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16),
	 "+0 r7+8 ra=c-8 fp=same; +32 r7+16 ra=c-8 fp=same"},
	{"set_loc backwards",
	 P(DW_CFA_advance_loc | 9, DW_CFA_set_loc, 0x04, 0x10, 0x40, 0, 0, 0, 0, 0), NULL},
	{"beyond the function's end", P(DW_CFA_advance_loc1, 200, DW_CFA_def_cfa_offset, 16),
	 "+0 r7+8 ra=c-8 fp=same"},
	{"past the address space",
	 P(DW_CFA_MIPS_advance_loc8, 255, 255, 255, 255, 255, 255, 255, 255), NULL},
	{"remember, restore",
	 P(DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2, DW_CFA_advance_loc | 4,
	   DW_CFA_remember_state, DW_CFA_def_cfa_offset, 8, DW_CFA_restore | 6,
	   DW_CFA_advance_loc | 1, DW_CFA_restore_state),
	 "+0 r7+16 ra=c-8 fp=c-16; +4 r7+8 ra=c-8 fp=same; +5 r7+16 ra=c-8 fp=c-16"},
	{"remember twice",
	 P(DW_CFA_remember_state, DW_CFA_def_cfa_offset, 16, DW_CFA_remember_state,
	   DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc | 1, DW_CFA_restore_state,
	   DW_CFA_advance_loc | 1, DW_CFA_restore_state),
	 "+0 r7+24 ra=c-8 fp=same; +1 r7+16 ra=c-8 fp=same; +2 r7+8 ra=c-8 fp=same"},
	{"restore without remember", P(DW_CFA_restore_state), NULL},
	{"def_cfa_sf", P(DW_CFA_def_cfa_sf, 7, 0x7e), "+0 r7+16 ra=c-8 fp=same"},
	{"def_cfa_offset_sf", P(DW_CFA_def_cfa_offset_sf, 0x7d), "+0 r7+24 ra=c-8 fp=same"},
	{"CFA from r10", P(DW_CFA_def_cfa, 10, 0), "+0 r10+0 ra=c-8 fp=same"},
	{"CFA from a vector register", P(DW_CFA_def_cfa, 17, 8), "+0 bad"},
	{"huge frame", P(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x10),
	 "+0 r7+33554432 ra=c-8 fp=same"},
	{"impossible frame", P(DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0xff, 0x10),
	 "+0 bad"},
	{"offset_extended", P(DW_CFA_offset_extended, 6, 3), "+0 r7+8 ra=c-8 fp=c-24"},
	{"offset_extended_sf", P(DW_CFA_offset_extended_sf, 6, 0x7f), "+0 r7+8 ra=c-8 fp=c+8"},
	{"GNU_negative_offset_extended", P(DW_CFA_GNU_negative_offset_extended, 6, 2),
	 "+0 r7+8 ra=c-8 fp=c+16"},
	{"offset out of range", P(DW_CFA_offset_extended, 6, 0x80, 0x80, 1),
	 "+0 r7+8 ra=c-8 fp=undef"},
	{"val_offset", P(DW_CFA_val_offset, 6, 2), "+0 r7+8 ra=c-8 fp==c-16"},
	{"val_offset_sf", P(DW_CFA_val_offset_sf, 6, 0x7e), "+0 r7+8 ra=c-8 fp==c+16"},
	{"register", P(DW_CFA_register, 16, 9, DW_CFA_register, 6, 12), "+0 r7+8 ra=r9 fp=r12"},
	{"undefined rbp", P(DW_CFA_undefined, 6), "+0 r7+8 ra=c-8 fp=undef"},
	{"undefined return address", P(DW_CFA_undefined, 16), "+0 end"},
	{"same_value rbp", P(DW_CFA_offset | 6, 2, DW_CFA_same_value, 6), "+0 r7+8 ra=c-8 fp=same"},
	{"same_value return address", P(DW_CFA_same_value, 16), "+0 bad"},
	{"restore_extended",
	 P(DW_CFA_undefined, 16, DW_CFA_advance_loc | 1, DW_CFA_restore_extended, 16),
	 "+0 end; +1 r7+8 ra=c-8 fp=same"},
	{"GNU_args_size", P(DW_CFA_GNU_args_size, 0x80, 1, DW_CFA_def_cfa_offset, 16),
	 "+0 r7+16 ra=c-8 fp=same"},
	{"other registers",
	 P(DW_CFA_offset | 3, 2, DW_CFA_register, 12, 13, DW_CFA_expression, 14, 1, DW_OP_lit0),
	 "+0 r7+8 ra=c-8 fp=same"},
	{"realigned stack",
	 P(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref, DW_CFA_expression, 6, 2,
	   DW_OP_breg6, 0),
	 "+0 *(r6-8)+0 ra=c-8 fp=b+0"},
	{"assembly that keeps rsp on the stack",
	 P(DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 40, DW_OP_deref, DW_OP_plus_uconst, 8),
	 "+0 *(r7+40)+8 ra=c-8 fp=same"},
	{"expression with constants",
	 P(DW_CFA_def_cfa_expression, 6, DW_OP_const1u, 16, DW_OP_breg7, 8, DW_OP_plus, DW_OP_nop),
	 "+0 r7+24 ra=c-8 fp=same"},
	{"expression with minus",
	 P(DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 8, DW_OP_const1s, 0xf8, DW_OP_minus),
	 "+0 r7+16 ra=c-8 fp=same"},
	{"expression from the CFA", P(DW_CFA_expression, 6, 2, DW_OP_plus_uconst, 16),
	 "+0 r7+8 ra=c-8 fp=c+16"},
	{"val_expression from the CFA", P(DW_CFA_val_expression, 6, 2, DW_OP_lit8, DW_OP_minus),
	 "+0 r7+8 ra=c-8 fp==c-8"},
	{"lazy PLT",
	 P(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
	   DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
	 "+0 plt11 r7+8 ra=c-8 fp=same"},
	{"IBT PLT",
	 P(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
	   DW_OP_lit9, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
	 "+0 plt9 r7+8 ra=c-8 fp=same"},
	{"expression beyond us", P(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_neg),
	 "+0 bad"},
	{"expression of nothing", P(DW_CFA_def_cfa_expression, 0), "+0 bad"},
	{"offset after an expression",
	 P(DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8, DW_CFA_def_cfa_offset, 16), NULL},
	{"expression longer than the program", P(DW_CFA_def_cfa_expression, 9, DW_OP_breg7), NULL},
	{"operand missing", P(DW_CFA_def_cfa_offset), NULL},
	{"number without an end", P(DW_CFA_def_cfa_offset, 0xff, 0xff), NULL},
	{"number of more than 64 bits",
	 P(DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
	 NULL},
	{"unknown instruction", P(0x3f), NULL},
};

static void test_programs(void)
{
	const struct cfi_section s = {
		.data = usual_init, .size = sizeof(usual_init), .address = SECTION};
	struct cfi_rows rows = {0};
	char text[1024];

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct cfi_cie cie = {
			.code_align = 1, .data_align = -8, .ra_reg = 16, .address_size = 8};
		struct cfi_fde fde = {.start = FUNC, .end = FUNC + 100};
		int err;

		cie.program = (struct cursor){usual_init, usual_init + sizeof(usual_init), false};
		fde.program = (struct cursor){programs[i].program,
					      programs[i].program + programs[i].size, false};
		err = cfi_run(&s, &cie, &fde, &rows);
		print_rows(text, &rows);
		expect(programs[i].name, err ? "malformed" : text,
		       programs[i].rows ? programs[i].rows : "malformed");
		if (err && err != -EBADMSG)
			expect(programs[i].name, "another error", "-EBADMSG");
	}
	free(rows.v);
}

/* ---- sections: pointer encodings, augmentations, versions, lengths ---- */

struct section_case {
	const char *name;
	const char *augmentation;
	uint8_t version, enc;
	bool wide, debug_frame;
	uint8_t personality; /* its encoding, for P */
	const char *rows;
};

#define USUAL_ROWS "+0 r7+8 ra=c-8 fp=same; +4 r7+16 ra=c-8 fp=same"

static const struct section_case sections[] = {
	{"absolute", "", 1, 0, false, false, 0, USUAL_ROWS},
	{"zR absptr", "zR", 1, DW_EH_PE_absptr, false, false, 0, USUAL_ROWS},
	{"zR udata2 is too short for the address", "zR", 1, DW_EH_PE_udata2, false, false, 0,
	 "none"},
	{"zR udata4", "zR", 1, DW_EH_PE_udata4, false, false, 0, USUAL_ROWS},
	{"zR udata8", "zR", 1, DW_EH_PE_udata8, false, false, 0, USUAL_ROWS},
	{"zR sdata8", "zR", 1, DW_EH_PE_sdata8, false, false, 0, USUAL_ROWS},
	{"zR pcrel sdata4", "zR", 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, false, false, 0, USUAL_ROWS},
	{"zR pcrel udata8", "zR", 1, DW_EH_PE_pcrel | DW_EH_PE_udata8, false, false, 0, USUAL_ROWS},
	{"zR textrel udata2", "zR", 1, DW_EH_PE_textrel | DW_EH_PE_udata2, false, false, 0,
	 USUAL_ROWS},
	{"zR textrel sdata2", "zR", 1, DW_EH_PE_textrel | DW_EH_PE_sdata2, false, false, 0,
	 USUAL_ROWS},
	{"zR datarel sdata4", "zR", 1, DW_EH_PE_datarel | DW_EH_PE_sdata4, false, false, 0,
	 USUAL_ROWS},
	{"zR uleb128", "zR", 1, DW_EH_PE_uleb128, false, false, 0, USUAL_ROWS},
	{"zR pcrel sleb128", "zR", 1, DW_EH_PE_pcrel | DW_EH_PE_sleb128, false, false, 0,
	 USUAL_ROWS},
	{"zR aligned", "zR", 1, DW_EH_PE_aligned, false, false, 0, USUAL_ROWS},
	{"zR indirect", "zR", 1, DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4, false, false,
	 0, "none"},
	{"zR unknown form", "zR", 1, 0x05, false, false, 0, "none"},
	{"zR unknown base", "zR", 1, 0x63, false, false, 0, "none"},
	{"zPLR", "zPLR", 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, false, false,
	 DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4, USUAL_ROWS},
	{"zRS", "zRS", 1, DW_EH_PE_udata4, false, false, 0,
	 "+0 signal r7+8 ra=c-8 fp=same; +4 signal r7+16 ra=c-8 fp=same"},
	{"zRB", "zRB", 1, DW_EH_PE_udata4, false, false, 0, USUAL_ROWS},
	{"unknown letter after R", "zR?", 1, DW_EH_PE_udata4, false, false, 0, USUAL_ROWS},
	{"unknown augmentation", "eh", 1, 0, false, false, 0, "none"},
	{"version 3", "zR", 3, DW_EH_PE_udata4, false, false, 0, USUAL_ROWS},
	{"version 2", "zR", 2, DW_EH_PE_udata4, false, false, 0, "none"},
	{"64-bit .eh_frame", "zR", 1, DW_EH_PE_udata4, true, false, 0, USUAL_ROWS},
	{".debug_frame 1", "", 1, 0, false, true, 0, USUAL_ROWS},
	{".debug_frame 3", "", 3, 0, false, true, 0, USUAL_ROWS},
	{".debug_frame 4", "", 4, 0, false, true, 0, USUAL_ROWS},
	{"64-bit .debug_frame 4", "", 4, 0, true, true, 0, USUAL_ROWS},
};

static void put_uleb(struct bytes *o, uint64_t v)
{
	do {
		put_uint(o, (v & 0x7f) | (v > 0x7f ? 0x80 : 0), 1);
		v >>= 7;
	} while (v);
}

static void put_sleb(struct bytes *o, int64_t v)
{
	for (;;) {
		uint8_t byte = v & 0x7f;

		v >>= 7;
		if ((!v && !(byte & 0x40)) || (v == -1 && byte & 0x40)) {
			put_uint(o, byte, 1);
			return;
		}
		put_uint(o, byte | 0x80, 1);
	}
}

static const uint64_t text_base = FUNC - 0x100, data_base = 0x480000;

static void put_pointer(struct bytes *o, uint8_t enc, uint64_t v)
{
	switch (enc & 0x70) {
	case DW_EH_PE_pcrel:
		v -= SECTION + o->cnt;
		break;
	case DW_EH_PE_textrel:
		v -= text_base;
		break;
	case DW_EH_PE_datarel:
		v -= data_base;
		break;
	case DW_EH_PE_aligned:
		while (o->cnt % 8)
			put_uint(o, 0, 1);
	}
	switch (enc & 0x0f) {
	case DW_EH_PE_uleb128:
		put_uleb(o, v);
		break;
	case DW_EH_PE_sleb128:
		put_sleb(o, v);
		break;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		put_uint(o, v, 2);
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		put_uint(o, v, 4);
		break;
	default:
		put_uint(o, v, 8);
	}
}

/* The length goes before what was written since `from`; returns where the entry's body begins. */
static size_t begin(struct bytes *o, bool wide)
{
	if (wide)
		put_uint(o, 0xffffffff, 4);
	put_uint(o, 0, wide ? 8 : 4);
	return o->cnt;
}

static void finish(struct bytes *o, size_t body, bool wide)
{
	uint64_t len = o->cnt - body;
	size_t size = wide ? 8 : 4;

	memcpy(o->b + body - size, &len, size);
}

static void put_cie(struct bytes *o, const struct section_case *c)
{
	size_t id = c->wide && c->debug_frame ? 8 : 4, body = begin(o, c->wide), data;

	put_uint(o, c->debug_frame ? ~0ULL : 0, id);
	put_uint(o, c->version, 1);
	put(o, c->augmentation, strlen(c->augmentation) + 1);
	if (c->version == 4)
		put_uint(o, 8, 2); /* address size, no segments */
	put_uint(o, 1, 1);
	put_uint(o, 0x78, 1); /* -8 */
	put_uint(o, 16, 1);
	if (*c->augmentation == 'z') {
		put_uint(o, 0, 1);
		data = o->cnt;
		for (const char *a = c->augmentation + 1; *a; a++) {
			if (*a == 'R')
				put_uint(o, c->enc, 1);
			if (*a == 'L')
				put_uint(o, DW_EH_PE_omit, 1);
			if (*a == 'P') {
				put_uint(o, c->personality, 1);
				put_pointer(o, c->personality, 0x402000);
			}
			if (*a == '?')
				put_uint(o, 0x1234, 2);
		}
		o->b[data - 1] = o->cnt - data;
	}
	put(o, usual_init, sizeof(usual_init));
	finish(o, body, c->wide);
}

static void put_fde(struct bytes *o, const struct section_case *c)
{
	static const uint8_t program[] = {DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16};
	size_t id = c->wide && c->debug_frame ? 8 : 4, body = begin(o, c->wide);

	put_uint(o, c->debug_frame ? 0 : body, id); /* the CIE lies at 0 */
	put_pointer(o, c->enc, FUNC);
	put_pointer(o, c->enc & 0x0f, 64);
	if (*c->augmentation == 'z')
		put_uint(o, 0, 1);
	put(o, program, sizeof(program));
	finish(o, body, c->wide);
}

/* Reads all entries; the rows of the FDE that starts at FUNC, else "none". */
static void read_entries(const struct cfi_section *s, char *text)
{
	struct cfi_cie cie = {0};
	struct cfi_fde fde;
	struct cfi_rows rows = {0};
	size_t offset = 0, before;
	enum cfi_entry e;

	strcpy(text, "none");
	do {
		before = offset;
		e = cfi_next(s, &offset, &cie, &fde);
		if (e == CFI_FDE && fde.start == FUNC && fde.end == FUNC + 64 &&
		    !cfi_run(s, &cie, &fde, &rows))
			print_rows(text, &rows);
	} while (e != CFI_END && offset > before);
	free(rows.v);
}

/* The same from memory, and from a file, in which more follows. */
static void read_section(const struct cfi_section *s, char *text)
{
	static int fd = -1;
	struct cfi_section in_file = *s;
	struct cfi_file file = {.offset = 3};
	char other[4096];

	if (fd < 0)
		fd = memfd_create("section", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, s->data, s->size, 3) != (ssize_t)s->size ||
	    ftruncate(fd, s->size + 100))
		exit(1);
	file.fd = fd;
	in_file.data = NULL;
	in_file.file = &file;
	read_entries(s, text);
	read_entries(&in_file, other);
	expect("of a file", other, text);
	cfi_file__fini(&file);
}

static void test_sections(void)
{
	char text[1024];

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		const struct section_case *c = &sections[i];
		struct cfi_section s = {.address = SECTION,
					.text = text_base,
					.datarel = data_base,
					.debug_frame = c->debug_frame};
		struct bytes o = {.cnt = 0};

		put_cie(&o, c);
		if (!c->debug_frame)
			put_uint(&o, 0, 4); /* a terminator in the middle */
		put_fde(&o, c);
		if (!c->debug_frame)
			put_uint(&o, 0, 4);
		s.data = o.b;
		s.size = o.cnt;
		read_section(&s, text);
		expect(c->name, text, c->rows);
		s.until_zero = true;
		read_section(&s, text);
		if (!c->debug_frame)
			expect("until zero", text, "none");
	}
}

/* Cut at every byte, and every byte changed: nothing is read outside (ASan), nothing hangs, and
 * only the whole gives all. */
static void test_damage(void)
{
	static const struct section_case c = {
		"", "zPLR", 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, false, false, DW_EH_PE_udata8, ""};
	struct cfi_section s = {.address = SECTION};
	struct bytes o = {.cnt = 0};
	char text[4096];

	put_cie(&o, &c);
	put_fde(&o, &c);
	for (size_t cut = 0; cut < o.cnt; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		memcpy(copy, o.b, cut);
		s.data = copy;
		s.size = cut;
		read_section(&s, text);
		expect("cut short", text, "none");
		free(copy);
	}
	for (size_t i = 0; i < 256 * o.cnt; i++) {
		uint8_t *copy = malloc(o.cnt);

		memcpy(copy, o.b, o.cnt);
		copy[i / 256] = i;
		s.data = copy;
		s.size = o.cnt;
		read_section(&s, text);
		free(copy);
	}
}

int main(void)
{
	test_programs();
	test_sections();
	test_damage();
	printf("%zu programs, %zu sections, %d wrong\n", sizeof(programs) / sizeof(*programs),
	       sizeof(sections) / sizeof(*sections), failures);
	return failures != 0;
}
