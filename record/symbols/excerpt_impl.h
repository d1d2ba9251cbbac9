/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of excerpt. excerpt.c: finds units; excerpt_dies.c: selects DIEs; excerpt_write.c:
 * writes them; excerpt_lines.c: line tables; excerpt_elf.c: the ELF file. */
#ifndef RECORD_EXCERPT_IMPL_H
#define RECORD_EXCERPT_IMPL_H

#include "format/dwarf/dwarf_abbrev.h"
#include "format/dwarf/dwarf_line.h"
#include "format/dwarf/dwarf_map.h"
#include "format/dwarf/dwarf_ranges.h"
#include "format/dwarf/dwarf_split.h"
#include "record/symbols/excerpt.h"

/* A growing section. */
struct out {
	uint8_t *p;
	size_t len, cap;
};

struct kept_die {
	uint64_t off, parent; /* parent: the nearest kept DIE; 0: the unit DIE */
	uint32_t at;	      /* output offset */
};

struct u64_list {
	uint64_t *v;
	size_t cnt, cap;
};

struct range_list_of {
	struct excerpt_range *v;
	size_t cnt, cap;
};

struct src_unit {
	struct dwarf_unit *u;
	const struct dwarf_unit *skeleton; /* has the line table; equals u unless u is split */
	const uint64_t *wanted;		   /* addresses in it; NULL: the unit is only referred to */
	size_t wanted_cnt;
	struct kept_die *kept;
	size_t kept_cnt, kept_cap, sorted; /* the first `sorted` are in order */
	struct u64_list targets;	   /* DIEs referred to, not yet visited */
	struct range_list_of ranges;	   /* addresses it covers */
	bool queued;
	struct src_unit *next_queued;
	uint8_t *used_files; /* bit set by file number in the line table */
	size_t used_cnt;
};

/* The units of a file by number; NULL: not needed. */
struct src_file {
	struct dwarf_file *f;
	struct src_unit **units;
	struct dwarf_split split; /* owner of the file, if split.unit is set */
};

struct ref_fixup {
	size_t at; /* in info */
	struct src_file *file;
	uint64_t off;
};

struct name_slot {
	const char *s;
	uint32_t off;
};

enum { EXCERPT_ABBREVS = 256 };

struct excerpt_work {
	struct meter *m;
	struct dwarf_file file, alt;
	struct unit_map map;
	struct dwarf_package package;
	size_t missing_cap;
	struct src_file **files;
	size_t file_cnt, file_cap;
	struct src_unit *queue;
	struct abbrev_cache abbrevs;

	struct out info, abbrev, line, str, rnglists;
	struct ref_fixup *fixups;
	size_t fixup_cnt, fixup_cap;
	struct name_slot *names;
	size_t name_cnt, name_cap;
	struct {
		uint16_t tag, mask;
		bool children;
	} decls[EXCERPT_ABBREVS];
	unsigned decl_cnt;
};

/* The attributes copied from a DIE. */
struct die_copy {
	uint16_t tag;
	struct attr_value name, linkage, origin, specification, call_file, call_line, language;
	struct range_attrs ranges;
	bool has_pc;
};

/* Reads the DIE at off. False: malformed. */
bool excerpt_read_die(struct excerpt_work *x, const struct dwarf_unit *u, uint64_t off,
		      struct die_copy *d);
/* Returns the file and offset to which a reference points, or NULL. */
struct src_file *excerpt_target(struct excerpt_work *x, const struct dwarf_unit *u,
				const struct attr_value *v);
struct src_unit *excerpt_unit(struct excerpt_work *x, struct src_file *f, size_t number);
struct src_unit *excerpt_unit_at(struct excerpt_work *x, struct src_file *f, uint64_t off);
const struct kept_die *excerpt_kept(const struct src_unit *su, uint64_t off);

/* Visits all queued units until all referenced DIEs are kept. */
int excerpt_choose(struct excerpt_work *x);

int excerpt_write_units(struct excerpt_work *x);
int excerpt_write_lines(struct excerpt_work *x, struct src_unit *su);
int excerpt_write_elf(struct excerpt_work *x, struct elf_image *elf, struct excerpt *e);

int out_put(struct excerpt_work *x, struct out *o, const void *p, size_t len);
int out_uint(struct excerpt_work *x, struct out *o, uint64_t v, unsigned sz);
int out_uleb(struct excerpt_work *x, struct out *o, uint64_t v);
int out_str(struct excerpt_work *x, struct out *o, const char *s);

#endif
