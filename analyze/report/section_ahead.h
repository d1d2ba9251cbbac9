/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the SQL of sections with a second thread, which has a connection of its own: it begins with
 * the last section while the writer begins with the first one, until they meet.
 */
#ifndef ANALYZE_SECTION_AHEAD_H
#define ANALYZE_SECTION_AHEAD_H

#include <stdbool.h>

#include "analyze/report/section.h"
#include "analyze/store/store.h"

struct section_of {
	const struct section *section;
	const struct named_kind *kind;
};

struct section_ahead;

/* of: must be valid until __free. NULL: not here, or it does not pay. */
struct section_ahead *section_ahead__new(struct store *s, const struct section_of *of, size_t cnt,
					 unsigned limit);
/* The writer is at section `at`; call with rising numbers. Returns whether the thread has ended, so
 * that its rows can be read; until then it leaves this section and those before to the writer. */
bool section_ahead__ended(struct section_ahead *a, size_t at);
/* NULL is allowed. */
void section_ahead__free(struct section_ahead *a);

#endif
