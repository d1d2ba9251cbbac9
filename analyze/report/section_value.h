/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of histograms, heat maps and timelines, in the unit given by the suffix of the column
 * name. */
#ifndef ANALYZE_SECTION_VALUE_H
#define ANALYZE_SECTION_VALUE_H

#include <sqlite3.h>
#include <stdint.h>

enum { VALUE_SZ = 32 };

enum unit { UNIT_NONE, UNIT_NS, UNIT_BYTES };

enum unit unit_of(sqlite3_stmt *stmt, int col);
const char *value_of(char buf[VALUE_SZ], int64_t v, enum unit unit);
/* "14:32:10", local time. */
const char *time_of(char buf[VALUE_SZ], int64_t ns);

#endif
