/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/profile/profile.h"

#include <string.h>

const struct profile_sink *const profile_sinks[] = {&profile_svg, &profile_folded, &profile_pprof,
						    &profile_speedscope, NULL};

const struct profile_sink *profile_sink_find(const char *name)
{
	for (size_t i = 0; profile_sinks[i]; i++)
		if (!strcmp(profile_sinks[i]->name, name))
			return profile_sinks[i];
	return NULL;
}
