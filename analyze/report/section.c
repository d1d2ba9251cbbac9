/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/section.h"

#include <string.h>

const struct section sections[] = {
#define SECTION(name, probe, heading, title, aliases, as, ...)                                     \
	{name, probe, heading, title, aliases, SECTION_##as, __VA_ARGS__},
#include "analyze/report/sections.def"
};
const size_t section_cnt = sizeof(sections) / sizeof(*sections);

/* "b" of "a,b". */
static int listed(const char *list, const char *name)
{
	size_t len = strlen(name), n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == len && !memcmp(list, name, len))
			return 1;
	}
	return 0;
}

const struct section *section_find(const char *name)
{
	for (size_t i = 0; i < section_cnt; i++)
		if (!strcmp(sections[i].name, name) || listed(sections[i].aliases, name))
			return &sections[i];
	return NULL;
}

void section_bind(sqlite3_stmt *stmt, uint64_t limit, uint64_t interval_ns)
{
	int at = sqlite3_bind_parameter_index(stmt, ":limit");

	if (at)
		sqlite3_bind_int64(stmt, at, limit);
	at = sqlite3_bind_parameter_index(stmt, ":interval");
	if (at)
		sqlite3_bind_int64(stmt, at, interval_ns ? interval_ns : INT64_MAX);
}
