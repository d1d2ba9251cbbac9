/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/section_value.h"

#include <string.h>
#include <time.h>

#include "format/text.h"

enum unit unit_of(sqlite3_stmt *stmt, int col)
{
	const char *name = sqlite3_column_name(stmt, col), *end = name ? strrchr(name, '_') : NULL;

	return !name			    ? UNIT_NONE
	       : end && !strcmp(end, "_ns") ? UNIT_NS
	       : !strcmp(end ? end + 1 : name, "bytes") ? UNIT_BYTES
							: UNIT_NONE;
}

const char *value_of(char buf[VALUE_SZ], int64_t v, enum unit unit)
{
	if (unit == UNIT_NS)
		return format_duration(buf, v);
	if (unit == UNIT_BYTES)
		return format_bytes(buf, v);
	snprintf(buf, VALUE_SZ, "%lld", (long long)v);
	return buf;
}

const char *time_of(char buf[VALUE_SZ], int64_t ns)
{
	time_t t = ns / 1000000000;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, VALUE_SZ, "%H:%M:%S", &tm))
		*buf = 0;
	return buf;
}
