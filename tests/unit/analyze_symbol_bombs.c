/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small images whose symbols would take hours or gigabytes: each is looked up within the bound that
 * format/FORMAT.md states, and what is left are the names of its symbol table, or addresses.
 *
 * Each runs in a process of its own, so that one without a bound ends with a limit of the kernel.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

#include "analyze/symbol/symbol_budget.h"
#include "analyze/symbol/symbol.h"
#include "check.h"
#include "elf_image_build.h"

#define DEBUG_WHY "debug information exceeds the limit"
#define NAMES_WHY "symbol names exceed the limit"

enum {
	CODE = 1 << 20,
	CPU_SECONDS_MAX = 60, /* far more than any takes, that hours end some time */
};

/* ---- DWARF 4 and 5 by hand */

/* One abbreviation: name and form pairs, ended by 0. */
static void put_abbrev(struct buf *b, unsigned code, unsigned tag, bool children,
		       const unsigned *pairs)
{
	put_uleb(b, code);
	put_uleb(b, tag);
	put_u8(b, children);
	for (; pairs && *pairs; pairs += 2) {
		put_uleb(b, pairs[0]);
		put_uleb(b, pairs[1]);
	}
	put_u16(b, 0);
}

/* A DWARF 4 unit header; unit_end fills in its length. */
static size_t unit_begin(struct buf *b)
{
	size_t at = b->len;

	put_u32(b, 0);
	put_u16(b, 4);
	put_u32(b, 0);
	put_u8(b, 8);
	return at;
}

static void unit_end(struct buf *b, size_t at)
{
	uint32_t len = (uint32_t)(b->len - at - 4);

	memcpy(b->p + at, &len, 4);
}

static const unsigned pc_attrs[] = {DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0};

static void put_pc(struct buf *b, uint64_t lo, uint32_t sz)
{
	put_u64(b, lo);
	put_u32(b, sz);
}

static void add_function_symbols(struct image *im)
{
	struct buf strings = {0};

	put_str(&strings, "");
	put_str(&strings, "function");
	image_add_symbols(im, &strings, 1, CODE, 1, 0);
}

static void finish_dwarf(struct image *im, struct buf *info, struct buf *abbrev)
{
	image_add(im, ".debug_info", SHT_PROGBITS, info);
	image_add(im, ".debug_abbrev", SHT_PROGBITS, abbrev);
	add_function_symbols(im);
	image_finish(im, 0);
}

/* ---- bombs */

/* Each unit's abbreviation is the last of a long table of others, all without attributes. */
static void abbreviations(struct image *im)
{
	enum { ABBREVS = 60000, UNITS = 20000 };
	struct buf info = {0}, abbrev = {0};

	for (unsigned i = 1; i < ABBREVS; i++)
		put_abbrev(&abbrev, i + 1, DW_TAG_variable, false, NULL);
	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, false, NULL);
	for (unsigned i = 0; i < UNITS; i++) {
		size_t at = unit_begin(&info);

		put_uleb(&info, 1);
		unit_end(&info, at);
	}
	finish_dwarf(im, &info, &abbrev);
}

/* The same, one unit's table being short, but each entry's number long. */
static void padded_numbers(struct image *im)
{
	enum { PADDING = 1 << 20, UNITS = 50000 };
	struct buf info = {0}, abbrev = {0};

	put_fill(&abbrev, 0x80, PADDING);
	put_u8(&abbrev, 2);
	put_uleb(&abbrev, DW_TAG_variable);
	put_u8(&abbrev, 0);
	put_u16(&abbrev, 0);
	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, false, NULL);
	for (unsigned i = 0; i < UNITS; i++) {
		size_t at = unit_begin(&info);

		put_uleb(&info, 1);
		unit_end(&info, at);
	}
	finish_dwarf(im, &info, &abbrev);
}

/* All units share one long list of ranges. */
static void unit_ranges(struct image *im)
{
	static const unsigned attrs[] = {DW_AT_ranges, DW_FORM_sec_offset, 0};
	enum { RANGES = 20000, UNITS = 20000 };
	struct buf info = {0}, abbrev = {0}, ranges = {0};

	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, false, attrs);
	for (unsigned i = 0; i < RANGES; i++) {
		put_u64(&ranges, IMAGE_CODE + 2 * i);
		put_u64(&ranges, IMAGE_CODE + 2 * i + 1);
	}
	put_u64(&ranges, 0);
	put_u64(&ranges, 0);
	for (unsigned i = 0; i < UNITS; i++) {
		size_t at = unit_begin(&info);

		put_uleb(&info, 1);
		put_u32(&info, 0);
		unit_end(&info, at);
	}
	image_add(im, ".debug_ranges", SHT_PROGBITS, &ranges);
	finish_dwarf(im, &info, &abbrev);
}

/* The same within one unit: its functions; and lists that hold nothing but base addresses. */
static void function_ranges(struct image *im, bool bases)
{
	static const unsigned attrs[] = {DW_AT_ranges, DW_FORM_sec_offset, 0};
	enum { RANGES = 20000, FUNCTIONS = 50000 };
	struct buf info = {0}, abbrev = {0}, ranges = {0};
	size_t at = unit_begin(&info);

	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, true, pc_attrs);
	put_abbrev(&abbrev, 2, DW_TAG_subprogram, false, attrs);
	for (unsigned i = 0; i < RANGES; i++) {
		put_u64(&ranges, bases ? UINT64_MAX : 2 * i + 1);
		put_u64(&ranges, 2 * i + 2);
	}
	put_u64(&ranges, 0);
	put_u64(&ranges, 0);
	put_uleb(&info, 1);
	put_pc(&info, IMAGE_CODE, CODE);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		put_uleb(&info, 2);
		put_u32(&info, 0);
	}
	put_u8(&info, 0);
	unit_end(&info, at);
	image_add(im, ".debug_ranges", SHT_PROGBITS, &ranges);
	finish_dwarf(im, &info, &abbrev);
}

static void ranges_of_functions(struct image *im)
{
	function_ranges(im, false);
}

static void ranges_of_bases(struct image *im)
{
	function_ranges(im, true);
}

/* Functions of a few bytes with attributes that take none. */
static void empty_attributes(struct image *im)
{
	enum { ATTRS = 60000, FUNCTIONS = 60000 };
	struct buf info = {0}, abbrev = {0};
	size_t at = unit_begin(&info);

	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, true, pc_attrs);
	put_uleb(&abbrev, 2);
	put_uleb(&abbrev, DW_TAG_subprogram);
	put_u8(&abbrev, 0);
	put_uleb(&abbrev, DW_AT_low_pc);
	put_uleb(&abbrev, DW_FORM_udata); /* of no fixed size, and no address */
	for (unsigned i = 0; i < ATTRS; i++) {
		put_uleb(&abbrev, DW_AT_external);
		put_uleb(&abbrev, DW_FORM_flag_present);
	}
	put_u16(&abbrev, 0);
	put_u8(&abbrev, 0);
	put_uleb(&info, 1);
	put_pc(&info, IMAGE_CODE, CODE);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		put_uleb(&info, 2);
		put_uleb(&info, 1);
	}
	put_u8(&info, 0);
	unit_end(&info, at);
	finish_dwarf(im, &info, &abbrev);
}

/* Inlined calls around one another, each a reference to one of many attributes. */
static void inlined_calls(struct image *im, unsigned attr_cnt, unsigned depth, unsigned functions)
{
	static const unsigned inlined[] = {DW_AT_low_pc,
					   DW_FORM_addr,
					   DW_AT_high_pc,
					   DW_FORM_data4,
					   DW_AT_abstract_origin,
					   DW_FORM_ref4,
					   0};
	struct buf info = {0}, abbrev = {0};
	size_t at = unit_begin(&info), origins;

	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, true, pc_attrs);
	put_abbrev(&abbrev, 2, DW_TAG_subprogram, true, pc_attrs);
	put_abbrev(&abbrev, 3, DW_TAG_inlined_subroutine, true, inlined);
	put_uleb(&abbrev, 4);
	put_uleb(&abbrev, DW_TAG_subprogram);
	put_u8(&abbrev, 0);
	for (unsigned i = 0; i < attr_cnt; i++) {
		put_uleb(&abbrev, DW_AT_external);
		put_uleb(&abbrev, DW_FORM_flag_present);
	}
	put_u16(&abbrev, 0);
	put_u8(&abbrev, 0);
	put_uleb(&info, 1);
	put_pc(&info, IMAGE_CODE, CODE);
	origins = info.len;
	put_fill(&info, 4, (size_t)depth * functions);
	for (unsigned i = 0; i < functions; i++) {
		put_uleb(&info, 2);
		put_pc(&info, IMAGE_CODE + i * (CODE / functions), CODE / functions);
		for (unsigned k = 0; k < depth; k++) {
			put_uleb(&info, 3);
			put_pc(&info, IMAGE_CODE + i * (CODE / functions), CODE / functions);
			put_u32(&info, (uint32_t)(origins + i * depth + k));
		}
		put_fill(&info, 0, depth + 1);
	}
	put_u8(&info, 0);
	unit_end(&info, at);
	finish_dwarf(im, &info, &abbrev);
}

static void origins(struct image *im)
{
	inlined_calls(im, 60000, 200, 100);
}

static void deep_chains(struct image *im)
{
	inlined_calls(im, 0, 250, 1);
}

/* ---- line tables */

static const unsigned line_attrs[] = {DW_AT_low_pc,
				      DW_FORM_addr,
				      DW_AT_high_pc,
				      DW_FORM_data4,
				      DW_AT_stmt_list,
				      DW_FORM_sec_offset,
				      0};

/* Up to the directory table. lengths: where the two lengths are to be filled in. */
static void put_line_header(struct buf *b, size_t *lengths)
{
	static const unsigned char args[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

	lengths[0] = b->len;
	put_u32(b, 0);
	put_u16(b, 5);
	put_u8(b, 8);
	put_u8(b, 0);
	lengths[1] = b->len;
	put_u32(b, 0);
	put_u8(b, 1);
	put_u8(b, 1);
	put_u8(b, 1);
	put_u8(b, (unsigned)-5);
	put_u8(b, 14);
	put_u8(b, 13);
	put(b, args, sizeof(args));
}

static void line_header_end(struct buf *b, const size_t *lengths)
{
	uint32_t len = (uint32_t)(b->len - lengths[1] - 4);

	memcpy(b->p + lengths[1], &len, 4);
}

static void line_end(struct buf *b, const size_t *lengths)
{
	uint32_t len = (uint32_t)(b->len - lengths[0] - 4);

	memcpy(b->p + lengths[0], &len, 4);
}

/* Units of a few bytes of code each, all with the line table given. */
static void finish_lines(struct image *im, struct buf *line, unsigned units)
{
	struct buf info = {0}, abbrev = {0};

	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, false, line_attrs);
	for (unsigned i = 0; i < units; i++) {
		size_t at = unit_begin(&info);

		put_uleb(&info, 1);
		put_pc(&info, IMAGE_CODE + i * (CODE / units), CODE / units);
		put_u32(&info, 0);
		unit_end(&info, at);
	}
	image_add(im, ".debug_line", SHT_PROGBITS, line);
	finish_dwarf(im, &info, &abbrev);
}

/* cnt directories or files of one column. */
static void put_names(struct buf *b, unsigned form, uint64_t cnt)
{
	put_u8(b, 1);
	put_uleb(b, DW_LNCT_path);
	put_uleb(b, form);
	put_uleb(b, cnt);
}

static void line_headers(struct image *im)
{
	enum { FILES = 100000, UNITS = 10000 };
	struct buf line = {0};
	size_t lengths[2];

	put_line_header(&line, lengths);
	put_names(&line, DW_FORM_udata, FILES);
	put_fill(&line, 1, FILES);
	put_names(&line, DW_FORM_udata, 0);
	line_header_end(&line, lengths);
	line_end(&line, lengths);
	finish_lines(im, &line, UNITS);
}

/* Entries that take no bytes at all, more than there are atoms in this machine. */
static void line_names_of_nothing(struct image *im)
{
	struct buf line = {0};
	size_t lengths[2];

	put_line_header(&line, lengths);
	put_names(&line, DW_FORM_flag_present, UINT64_C(1) << 60);
	put_names(&line, DW_FORM_udata, 0);
	line_header_end(&line, lengths);
	line_end(&line, lengths);
	finish_lines(im, &line, 1);
}

/* Each file's name is a long string, the same with one character less than the one before. */
static void line_strings(struct image *im)
{
	enum { FILES = 400000, NAME = 4 << 20 };
	struct buf line = {0}, strings = {0};
	size_t lengths[2];

	put_line_header(&line, lengths);
	put_names(&line, DW_FORM_udata, 0);
	put_names(&line, DW_FORM_line_strp, FILES);
	for (unsigned i = 0; i < FILES; i++)
		put_u32(&line, i);
	line_header_end(&line, lengths);
	line_end(&line, lengths);
	put_fill(&strings, 'n', NAME);
	put_u8(&strings, 0);
	image_add(im, ".debug_line_str", SHT_PROGBITS, &strings);
	finish_lines(im, &line, 50);
}

static void put_extended(struct buf *b, unsigned op, const void *arg, unsigned len)
{
	put_u8(b, 0);
	put_uleb(b, 1 + len);
	put_u8(b, op);
	put(b, arg, len);
}

static void put_sequence(struct buf *b, unsigned rows)
{
	uint64_t start = IMAGE_CODE;

	put_extended(b, DW_LNE_set_address, &start, 8);
	for (unsigned i = 0; i < rows; i++)
		put_u8(b, 13 + 14 + 6); /* one address and one line on, and a row */
	put_extended(b, DW_LNE_end_sequence, NULL, 0);
}

static void line_programs(struct image *im)
{
	enum { ROWS = 500000, UNITS = 10000 };
	struct buf line = {0};
	size_t lengths[2];

	put_line_header(&line, lengths);
	put_names(&line, DW_FORM_udata, 0);
	put_names(&line, DW_FORM_udata, 0);
	line_header_end(&line, lengths);
	put_sequence(&line, ROWS);
	line_end(&line, lengths);
	finish_lines(im, &line, UNITS);
}

/* ---- sections and symbols */

/* Many of the names begin within one long string. */
static void overlapping_names(struct image *im)
{
	enum { NAME = 4 << 20, SYMBOLS = 100000 };
	struct buf strings = {0};

	put_u8(&strings, 0);
	put_fill(&strings, 'n', NAME);
	put_u8(&strings, 0);
	image_add_symbols(im, &strings, SYMBOLS, 1, 1, 1);
	image_finish(im, 0);
}

static void overlapping_dwarf_names(struct image *im)
{
	static const unsigned attrs[] = {DW_AT_low_pc,
					 DW_FORM_addr,
					 DW_AT_high_pc,
					 DW_FORM_data4,
					 DW_AT_name,
					 DW_FORM_strp,
					 0};
	enum { NAME = 4 << 20, FUNCTIONS = 100000 };
	struct buf info = {0}, abbrev = {0}, strings = {0};
	size_t at = unit_begin(&info);

	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, true, pc_attrs);
	put_abbrev(&abbrev, 2, DW_TAG_subprogram, false, attrs);
	put_uleb(&info, 1);
	put_pc(&info, IMAGE_CODE, CODE);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		put_uleb(&info, 2);
		put_pc(&info, IMAGE_CODE + i * (CODE / FUNCTIONS), CODE / FUNCTIONS);
		put_u32(&info, i);
	}
	put_u8(&info, 0);
	unit_end(&info, at);
	put_fill(&strings, 'n', NAME);
	put_u8(&strings, 0);
	image_add(im, ".debug_str", SHT_PROGBITS, &strings);
	finish_dwarf(im, &info, &abbrev);
}

/*
 * Functions without linkage names, each in as many namespaces as are followed, with long names; all
 * inlined, so that none is called as the symbol table says. Units refer to each other's.
 */
static void scoped_names(struct image *im)
{
	static const unsigned unit[] = {DW_AT_low_pc,  DW_FORM_addr,   DW_AT_high_pc,
					DW_FORM_data4, DW_AT_language, DW_FORM_data1, 0};
	static const unsigned named[] = {DW_AT_name, DW_FORM_strp, 0};
	static const unsigned inlined[] = {DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_low_pc,
					   DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0};
	enum { NAME = 4000, DEPTH = 30, FUNCTIONS = 2000, UNITS = 20, PC = CODE / UNITS };
	struct buf info = {0}, abbrev = {0}, strings = {0};
	uint32_t functions[FUNCTIONS];

	put_abbrev(&abbrev, 1, DW_TAG_compile_unit, true, unit);
	put_abbrev(&abbrev, 2, DW_TAG_namespace, true, named);
	put_abbrev(&abbrev, 3, DW_TAG_subprogram, false, named);
	put_abbrev(&abbrev, 4, DW_TAG_subprogram, true, pc_attrs);
	put_abbrev(&abbrev, 5, DW_TAG_inlined_subroutine, false, inlined);
	for (unsigned u = 0; u < UNITS; u++) {
		size_t at = unit_begin(&info);

		put_uleb(&info, 1);
		put_pc(&info, IMAGE_CODE + u * PC, PC);
		put_u8(&info, DW_LANG_C_plus_plus);
		for (unsigned i = 0; i < DEPTH; i++) {
			put_uleb(&info, 2);
			put_u32(&info, NAME - 400 - i);
		}
		for (unsigned i = 0; i < FUNCTIONS && !u; i++) {
			functions[i] = (uint32_t)info.len;
			put_uleb(&info, 3);
			put_u32(&info, i % NAME);
		}
		for (unsigned i = 0; i < DEPTH; i++)
			put_u8(&info, 0);
		put_uleb(&info, 4);
		put_pc(&info, IMAGE_CODE + u * PC, PC);
		for (unsigned i = 0; i < FUNCTIONS; i++) {
			put_uleb(&info, 5);
			put_u32(&info, functions[i]);
			put_pc(&info, IMAGE_CODE + u * PC + i * (PC / FUNCTIONS), PC / FUNCTIONS);
		}
		put_u16(&info, 0);
		unit_end(&info, at);
	}
	put_fill(&strings, 'n', NAME);
	put_u8(&strings, 0);
	image_add(im, ".debug_str", SHT_PROGBITS, &strings);
	finish_dwarf(im, &info, &abbrev);
}

/* One string without end is the name of each of many sections. */
static void section_names(struct image *im)
{
	struct buf big = {0};

	add_function_symbols(im);
	put_fill(&im->names, 'n', 8 << 20);
	image_add(im, ".last", SHT_PROGBITS, &big);
	image_finish(im, 60000);
}

/* Many sections of notes over the same bytes, none of them a build-id. */
static void notes(struct image *im)
{
	struct buf big = {0};

	add_function_symbols(im);
	for (unsigned i = 0; i < 300000; i++) {
		put_u32(&big, 0);
		put_u64(&big, 0);
	}
	image_add(im, ".note", SHT_NOTE, &big);
	image_finish(im, 60000);
}

/* 256 times what there is, in each section. */
static void compressed(struct image *im)
{
	static const char *const names[] = {".debug_info", ".debug_abbrev",   ".debug_line",
					    ".debug_str",  ".debug_line_str", ".debug_ranges"};
	uLongf room = 1 << 20;
	uint64_t sz = UINT64_C(200) << 20;
	unsigned char *zeros = calloc(1, sz), *out = malloc(room);
	Elf64_Chdr h = {ELFCOMPRESS_ZLIB, 0, sz, 1};

	compress(out, &room, zeros, sz);
	free(zeros);
	add_function_symbols(im);
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct buf b = {0};

		put(&b, &h, sizeof(h));
		put(&b, out, room);
		put_fill(&b, 0, (1 << 20) - b.len);
		image_add(im, names[i], SHT_PROGBITS, &b)->sh_flags = SHF_COMPRESSED;
	}
	free(out);
	image_finish(im, 0);
}

static void symbol_named(struct image *im, const char *name)
{
	struct buf strings = {0};

	put_str(&strings, "");
	put_str(&strings, name);
	image_add_symbols(im, &strings, 1, CODE, 1, 0);
	image_finish(im, 0);
}

/* A binder of 62^8 lifetimes in the part of a name that is not printed. */
static void rust_binder(struct image *im)
{
	symbol_named(im, "_RNvC1a1bINvC1a1bFGzzzzzzzz_EuE");
}

static const char seq[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* A pattern of 2^34 parts that is searched for a pack before anything of it is printed. */
static void itanium_pack(struct image *im)
{
	enum { DEPTH = 34 };
	char name[512], *p = stpcpy(name, "_Z1fIJiEEvDp1AI");

	for (int i = 1; i < DEPTH; i++)
		p = stpcpy(p, "S0_I");
	p = stpcpy(p, "1B");
	for (int i = 0; i < DEPTH; i++)
		p += sprintf(p, "S%c_E", seq[i + 1]);
	symbol_named(im, name);
}

/* Many names that each grow a thousand times. */
static void itanium_names(struct image *im)
{
	enum { NAMES = 50000 };
	struct buf strings = {0};
	uint32_t each = 0;

	put_u8(&strings, 0);
	for (unsigned i = 0; i < NAMES; i++) {
		char name[256], *p = name + sprintf(name, "_Z6f%05u1AI1BS0_E", i);
		size_t at = strings.len;

		for (int k = 1; k < 9; k++)
			p += sprintf(p, "1AIS%c_S%c_E", seq[k], seq[k]);
		put_str(&strings, name);
		each = (uint32_t)(strings.len - at);
	}
	image_add_symbols(im, &strings, NAMES, CODE / NAMES, 1, each);
	image_finish(im, 0);
}

/* ---- each in a process of its own */

static const struct bomb {
	const char *name;
	void (*build)(struct image *im);
	const char *kind, *why; /* of the binary, after */
	const char *symbol;	/* NULL: not looked at */
	unsigned addr_cnt;	/* spread over the code */
} bombs[] = {
	{"abbreviations by unit", abbreviations, "symtab", DEBUG_WHY, "function", 1},
	{"padded numbers", padded_numbers, "symtab", DEBUG_WHY, "function", 1},
	{"ranges by unit", unit_ranges, "symtab", DEBUG_WHY, "function", 1},
	{"ranges by function", ranges_of_functions, "symtab", DEBUG_WHY, "function", 1},
	{"base addresses by function", ranges_of_bases, "symtab", DEBUG_WHY, "function", 1},
	{"attributes without bytes", empty_attributes, "symtab", DEBUG_WHY, "function", 1},
	{"origins of many attributes", origins, "symtab", DEBUG_WHY, "function", 100},
	{"chains as long as can be", deep_chains, "dwarf", NULL, NULL, 2000},
	{"line headers", line_headers, "symtab", DEBUG_WHY, "function", 10000},
	{"line names without bytes", line_names_of_nothing, "symtab", DEBUG_WHY, "function", 1},
	{"line names that overlap", line_strings, "dwarf", NULL, "function", 50},
	{"line programs", line_programs, "symtab", DEBUG_WHY, "function", 10000},
	{"symbol names that overlap", overlapping_names, "symtab", NAMES_WHY, NULL, 100000},
	{"DWARF names that overlap", overlapping_dwarf_names, "symtab", DEBUG_WHY, "function",
	 100000},
	{"names of many scopes", scoped_names, "symtab", DEBUG_WHY, "function", 20000},
	{"section names that overlap", section_names, "symtab", "no DWARF", "function", 1},
	{"notes that overlap", notes, "symtab", "no DWARF", "function", 1},
	{"compressed sections", compressed, "symtab", DEBUG_WHY, "function", 1},
	{"a Rust binder", rust_binder, "symtab", "no DWARF", "_RNvC1a1bINvC1a1bFGzzzzzzzz_EuE", 1},
	{"a C++ pack", itanium_pack, "symtab", "no DWARF", NULL, 1},
	{"C++ names that grow", itanium_names, "symtab", "no DWARF", NULL, 50000},
};

struct seen {
	const struct bomb *bomb;
	size_t calls, frames;
};

static void look(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt)
{
	struct seen *s = ctx;

	s->calls++;
	s->frames += cnt;
	if (s->bomb->symbol)
		CHECK(cnt == 1 && chain[0].name && !strcmp(chain[0].name, s->bomb->symbol), "%s",
		      cnt && chain[0].name ? chain[0].name : "(none)");
}

/* As FORMAT.md states it: by DWARF and, when that was too much, by the symbol table alone. */
static uint64_t bound(const struct bomb *b, const struct image *im, enum budget_kind kind)
{
	uint64_t sz = im->data.len, cnt = b->addr_cnt;

	if (kind == BUDGET_WORK)
		return 2 * (16 * sz + 4096 * cnt) + (64 << 20);
	return 2 * (16 * sz + 1024 * cnt) + (64 << 20);
}

static void check_cost(const struct bomb *b, const struct image *im, const struct symbolizer *s)
{
	struct symbol_cost c;

	symbolizer__cost(s, &c);
	CHECK(c.work && c.work <= c.work_max && c.bytes && c.bytes <= c.bytes_max,
	      "%s: %" PRIu64 " of %" PRIu64 " steps, %" PRIu64 " of %" PRIu64 " bytes", b->name,
	      c.work, c.work_max, c.bytes, c.bytes_max);
	CHECK(c.work_max <= bound(b, im, BUDGET_WORK), "%s: %" PRIu64, b->name, c.work_max);
	CHECK(c.bytes_max <= bound(b, im, BUDGET_BYTES), "%s: %" PRIu64, b->name, c.bytes_max);
}

static void resolve(const struct bomb *b, struct image *im)
{
	struct symbolizer_opts opts = {.jobs = 2, .inlines = true};
	uint64_t *addrs = calloc(b->addr_cnt, sizeof(*addrs));
	struct seen seen = {b, 0, 0};
	struct symbol_image *image;
	struct symbolizer *s;
	const char *kind, *why = NULL;
	int err;

	for (unsigned i = 0; i < b->addr_cnt; i++)
		addrs[i] = IMAGE_CODE + (uint64_t)i * (CODE / b->addr_cnt);
	CHECK(!symbolizer__new(&s, &opts), "new");
	CHECK(!symbolizer__image(s, NULL, NULL, image_open, im, &image), "image");
	err = symbolizer__resolve(s, image, addrs, b->addr_cnt, look, &seen);
	CHECK(!err, "%s: error %d", b->name, err);
	CHECK(seen.calls == b->addr_cnt, "%s: %zu", b->name, seen.calls);
	CHECK(seen.frames <= 65 * (size_t)b->addr_cnt + 256, "%s: %zu frames", b->name,
	      seen.frames);
	kind = symbol_image__kind(image, &why);
	CHECK(!strcmp(kind, b->kind), "%s: %s", b->name, kind);
	CHECK(b->why ? why && !strcmp(why, b->why) : !why, "%s: %s", b->name, why);
	check_cost(b, im, s);
	symbolizer__free(s);
	free(addrs);
}

/* Address space beyond what this process has: the bound in bytes, the mapped file, thread stacks.
 */
static void limit_memory(const struct bomb *b, const struct image *im)
{
	uint64_t pages = 0, max = (UINT64_C(64) << 20) + im->data.len;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(f && fscanf(f, "%" SCNu64, &pages) == 1, "statm");
	if (f)
		fclose(f);
	max += pages * (uint64_t)sysconf(_SC_PAGESIZE) + bound(b, im, BUDGET_BYTES);
#ifndef __SANITIZE_ADDRESS__ /* its shadow takes terabytes of address space */
	mallopt(M_ARENA_MAX, 1);
	setrlimit(RLIMIT_AS, &(struct rlimit){max, max});
#endif
}

static int run(const struct bomb *b)
{
	struct rlimit cpu = {CPU_SECONDS_MAX, CPU_SECONDS_MAX};
	struct image im;

	failed = 0;
	image_init(&im, CODE);
	b->build(&im);
	setrlimit(RLIMIT_CPU, &cpu);
	limit_memory(b, &im);
	resolve(b, &im);
	image_free(&im);
	return failed;
}

/* What many small images take beyond their own part comes from one reserve. */
static void test_many_images(void)
{
	enum { IMAGES = 300 };
	static const struct bomb bomb = {.name = "many images", .addr_cnt = 1};
	struct symbolizer_opts opts = {.jobs = 1, .inlines = true};
	struct seen seen = {&bomb, 0, 0};
	struct symbol_image *image;
	struct symbolizer *s;
	struct symbol_cost c;
	struct image im;
	uint64_t addr = IMAGE_CODE, own;
	const char *why;

	image_init(&im, CODE);
	line_names_of_nothing(&im);
	own = 2 * (16 * (uint64_t)im.data.len + 4096);
	CHECK(!symbolizer__new(&s, &opts), "new");
	for (unsigned i = 0; i < IMAGES; i++) {
		CHECK(!symbolizer__image(s, NULL, NULL, image_open, &im, &image), "image");
		CHECK(!symbolizer__resolve(s, image, &addr, 1, look, &seen), "resolve");
		CHECK(!strcmp(symbol_image__kind(image, &why), "symtab"), "image %u", i);
		CHECK(why && !strcmp(why, DEBUG_WHY), "image %u: %s", i, why);
	}
	symbolizer__cost(s, &c);
	CHECK(c.work_max <= IMAGES * own + (64 << 20), "%" PRIu64, c.work_max);
	CHECK(c.work <= c.work_max && c.bytes <= c.bytes_max, "%" PRIu64, c.work);
	CHECK(seen.frames == IMAGES, "%zu frames", seen.frames);
	symbolizer__free(s);
	image_free(&im);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(bombs) / sizeof(*bombs); i++) {
		int status = 0;
		pid_t pid;

		if (argc > 1 && strcmp(argv[1], bombs[i].name))
			continue;
		fflush(stdout);
		pid = fork();
		if (!pid) {
			int rc = run(&bombs[i]);

			fflush(stdout);
			_exit(rc);
		}
		waitpid(pid, &status, 0);
		CHECK(!status, "%s: status %#x", bombs[i].name, status);
	}
	if (argc == 1)
		test_many_images();
	return failed;
}
