/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a table narrower: text is cut, then columns are left out. For table.c. */
#ifndef ANALYZE_TABLE_FIT_H
#define ANALYZE_TABLE_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum { TABLE_GAP = 2 }; /* blanks between columns */

struct fit_column {
	const char *name;
	size_t width;  /* of the widest cell; reduced */
	bool number;   /* never cut */
	bool omitted;  /* takes no room */
	bool left_out; /* set: omitted to fit */
};

/* Reduces the widths until all columns and the gaps between them take at most `room`, as far as
 * that is possible. */
void table_fit(struct fit_column *columns, size_t cnt, size_t room);

#endif
