/* SPDX-License-Identifier: BSD-2-Clause */
/* Line tables (section 6.2), DWARF 2 to 5: the rows near wanted addresses, and file names as
 * llvm-symbolizer prints them. */
#ifndef ANALYZE_SYMBOL_DWARF_LINE_H
#define ANALYZE_SYMBOL_DWARF_LINE_H

#include "analyze/symbol/dwarf_form.h"
#include "analyze/symbol/name_pool.h"

struct line_row {
	uint64_t addr;
	uint32_t line, file;
};

struct line_sequence {
	uint64_t lo, hi;
	size_t first, cnt; /* rows, the last being the end of the sequence */
};

struct line_file {
	const char *name;
	uint64_t dir;
	const struct pooled *path; /* worked out when first asked for */
	bool done;
};

/* Kept by a worker and reloaded for each unit: the arrays are reused. */
struct line_table {
	const struct dwarf_unit *unit;
	uint16_t version;
	const char **dirs;
	struct line_file *files;
	struct line_row *rows;
	struct line_sequence *sequences;
	size_t dir_cnt, dir_cap, file_cnt, file_cap, row_cnt, row_cap, sequence_cnt, sequence_cap;
	const uint64_t *wanted; /* ascending */
	size_t wanted_cnt;
	struct meter *meter; /* while it is loaded */
};

struct line_hit {
	uint64_t lo, hi; /* where the row holds */
	uint32_t line, file;
};

/*
 * Reads the table of u (which has one), keeping only sequences that hold one of the wanted
 * addresses, which must live as long as the table is used. Damage ends the reading; what came
 * before it stays.
 */
int line_table_load(struct line_table *t, const struct dwarf_unit *u, const uint64_t *wanted,
		    size_t cnt, struct meter *m);
bool line_table_find(const struct line_table *t, uint64_t addr, struct line_hit *hit);
/* NULL: no such file. */
const struct pooled *line_table_file(struct line_table *t, uint64_t index, struct name_pool *pool,
				     struct meter *m);
void line_table_fini(struct line_table *t);

#endif
