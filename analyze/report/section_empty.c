/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/section.h"

#include <stdio.h>
#include <string.h>

#include "format/text.h"

bool section_leaks_short(const struct capture *c, char *buf)
{
	char took[24], age[24];

	if (!c->leak_age_ns || c->duration_ns >= c->leak_age_ns)
		return false;
	snprintf(buf, SECTION_EMPTY_SZ,
		 "cannot be told: recorded for %s, and memory is one only when older than "
		 "%s (alloc:age)",
		 format_duration(took, c->duration_ns), format_duration(age, c->leak_age_ns));
	return true;
}

static const char *no_leaks(const struct captures *c, char *buf)
{
	char age[24];

	for (size_t i = 0; i < c->cnt; i++) {
		if (!c->v[i].leak_age_ns)
			continue;
		if (!section_leaks_short(&c->v[i], buf))
			snprintf(buf, SECTION_EMPTY_SZ, "none: no memory older than %s that grows",
				 format_duration(age, c->v[i].leak_age_ns));
		return buf;
	}
	return NULL;
}

const char *section_empty(const struct section *s, const struct captures *c, char *buf)
{
	return strcmp(s->name, "alloc-leaks") ? NULL : no_leaks(c, buf);
}
