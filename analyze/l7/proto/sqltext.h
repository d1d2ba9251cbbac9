/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements without what varies, so that equal ones count as one. */
#ifndef ANALYZE_L7_SQLTEXT_H
#define ANALYZE_L7_SQLTEXT_H

#include "analyze/l7/engine/l7.h"

enum sql_dialect { SQL_MYSQL, SQL_POSTGRESQL, SQL_CQL };

/*
 * The digest of `sql` in dst: literals and placeholders become ?, comments go, white space folds to
 * one blank, the lists of IN and VALUES become (?). Names keep their case. `cut`: the text goes on
 * after what was kept; the digest then ends in "...", as it does where dst is full.
 */
struct span sql_digest(struct span sql, enum sql_dialect dialect, bool cut, char *dst,
		       size_t dst_sz);

/* The statement's first word in upper case: SELECT, BEGIN, WITH; empty when it has none. */
struct span sql_keyword(struct span sql, enum sql_dialect dialect, char *dst, size_t dst_sz);

/* Can this begin a statement? Its first word is one of SQL's. */
bool sql_begins(struct span sql, enum sql_dialect dialect);

#endif
