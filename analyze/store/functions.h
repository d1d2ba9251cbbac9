/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQL functions added by obana:
 *
 *	quantile(p, low, high, count)   aggregate over the rows of a histogram: buckets_quantile()
 *	part(key, keys, name)           part of a tab-separated key, by its name in `keys`; or NULL
 *	signal_name(number)             "SIGTERM"; the number where it has no name (Linux)
 *	errno_name(number)              "ENOENT"; NULL for 0
 *	demangle(name)                  of a C++ or Rust function, as format/demangle.h; others as given
 *	bare_name(name)                 of a function, without its return type
 */
#ifndef ANALYZE_FUNCTIONS_H
#define ANALYZE_FUNCTIONS_H

#include <sqlite3.h>

int functions_add(sqlite3 *db); /* an SQLite result code */

#endif
