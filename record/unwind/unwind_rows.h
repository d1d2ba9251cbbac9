/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills an unwind table in address order: interns rules, merges equal neighbours, splits into
 * pages. */
#ifndef RECORD_UNWIND_ROWS_H
#define RECORD_UNWIND_ROWS_H

#include "record/unwind/unwind_rules.h"
#include "record/unwind/unwind_table.h"

#define ROWS_PAGES_MAX (1u << 16) /* 4 GiB of address space */

struct row_writer {
	struct unwind_table *t;
	struct rule_set rules;
	uint32_t current; /* rule in effect */
	uint64_t last;	  /* address of the last row */
};

/* The table must be zeroed; rows will be within [first, end). -ERANGE: range too large; -ENOMEM. */
int row_writer__init(struct row_writer *w, struct unwind_table *t, uint64_t first, uint64_t end);
/* The rule applies from `address` until the next call. Addresses must not decrease. */
int row_writer__add(struct row_writer *w, uint64_t address, const struct rule *rule);
/* Moves the rules to the table and frees unused capacity. */
void row_writer__finish(struct row_writer *w);
void row_writer__fini(struct row_writer *w);

#endif
