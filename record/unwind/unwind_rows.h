/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills an unwind table in order of addresses: interns rules, merges equal neighbours, splits into
 * pages. */
#ifndef RECORD_UNWIND_ROWS_H
#define RECORD_UNWIND_ROWS_H

#include "record/unwind/unwind_rules.h"
#include "record/unwind/unwind_table.h"

#define ROWS_PAGES_MAX (1u << 16) /* 4 GiB of addresses */

struct row_writer {
	struct unwind_table *t;
	struct rule_set rules;
	uint32_t current; /* rule in force */
	uint64_t last;	  /* address of the last row */
};

/* The table must be zeroed; [first, end) is where rows will lie. -ERANGE: too far apart; -ENOMEM.
 */
int row_writer__init(struct row_writer *w, struct unwind_table *t, uint64_t first, uint64_t end);
/* From `address` on, until the next call, this rule holds. Addresses must not fall. */
int row_writer__add(struct row_writer *w, uint64_t address, const struct rule *rule);
/* Hands the rules to the table and gives back what growing left over. */
void row_writer__finish(struct row_writer *w);
void row_writer__fini(struct row_writer *w);

#endif
