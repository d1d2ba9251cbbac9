/* SPDX-License-Identifier: BSD-2-Clause */
/* Normalizes SQL statements, so that statements that differ only in literals count as one. */
#ifndef ANALYZE_L7_SQLTEXT_H
#define ANALYZE_L7_SQLTEXT_H

#include "analyze/l7/engine/l7.h"

enum sql_dialect { SQL_MYSQL, SQL_POSTGRESQL, SQL_CQL };

/*
 * Writes the digest of `sql` to dst: literals and placeholders become ?, comments are removed,
 * white space becomes one blank, the lists of IN and VALUES become (?). Names keep their case.
 * `cut`: the text continues beyond what was captured. The digest then ends in "...", as it does if
 * dst is full.
 */
struct span sql_digest(struct span sql, enum sql_dialect dialect, bool cut, char *dst,
		       size_t dst_sz);

/* The first keyword of the statement in upper case: SELECT, BEGIN, WITH; empty if there is none. */
struct span sql_keyword(struct span sql, enum sql_dialect dialect, char *dst, size_t dst_sz);

/* Can this begin a statement? Its first word must be an SQL keyword. */
bool sql_begins(struct span sql, enum sql_dialect dialect);

#endif
