/* SPDX-License-Identifier: BSD-2-Clause */
/* Line tables (section 6.2) of DWARF 2 to 5: the rows for wanted addresses, and file names as
 * printed by llvm-symbolizer. */
#ifndef FORMAT_DWARF_LINE_H
#define FORMAT_DWARF_LINE_H

#include "format/dwarf/dwarf_form.h"

struct name_pool;
struct pooled;

struct line_row {
	uint64_t addr;
	uint32_t line, file;
};

struct line_sequence {
	uint64_t lo, hi;
	size_t first, cnt;	  /* rows; the last one is the end of the sequence */
	const uint8_t *from, *to; /* its part of the line program */
};

/* Parameters of the line program. */
struct line_params {
	uint8_t min_inst_len, line_range, opcode_base;
	int8_t line_base;
	uint8_t opcode_args[256];
};

struct line_file {
	const char *name;
	uint64_t dir;
	const struct pooled *path; /* computed at first use */
	bool done;
};

/* Owned by a worker and reloaded for each unit, to reuse the arrays. */
struct line_table {
	const struct dwarf_unit *unit;
	uint16_t version;
	struct line_params params;
	const char **dirs;
	struct line_file *files;
	struct line_row *rows;
	struct line_sequence *sequences;
	size_t dir_cnt, dir_cap, file_cnt, file_cap, row_cnt, row_cap, sequence_cnt, sequence_cap;
	const uint64_t *wanted; /* ascending */
	size_t wanted_cnt;
	struct meter *meter; /* set while loading */
};

struct line_hit {
	uint64_t lo, hi; /* addresses that the row covers */
	uint32_t line, file;
};

/*
 * Reads the line table of u (which must have one). Keeps only sequences that contain a wanted
 * address; `wanted` must be valid as long as the table is used. Stops at damage and keeps what was
 * read before.
 */
int line_table_load(struct line_table *t, const struct dwarf_unit *u, const uint64_t *wanted,
		    size_t cnt, struct meter *m);
bool line_table_find(const struct line_table *t, uint64_t addr, struct line_hit *hit);
/* NULL: no such file. */
const struct pooled *line_table_file(struct line_table *t, uint64_t index, struct name_pool *pool,
				     struct meter *m);
void line_table_fini(struct line_table *t);

#endif
