/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What obana adds to SQL:
 *
 *	quantile(p, low, high, count)   aggregate, of a histogram's rows: buckets_quantile()
 *	part(key, keys, name)           of a key of parts joined by tabs, the one that `keys` calls
 *so; NULL: none
 */
#ifndef ANALYZE_FUNCTIONS_H
#define ANALYZE_FUNCTIONS_H

#include <sqlite3.h>

int functions_add(sqlite3 *db); /* an SQLite result code */

#endif
