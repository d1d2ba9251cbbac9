/* SPDX-License-Identifier: BSD-2-Clause */
/* Comma-separated patterns with * and ?, case-insensitive: the arguments of filters. NULL matches
 * everything. {n} also matches a number and {id} a word, as names are shown in reports. */
#ifndef ANALYZE_PATTERNS_H
#define ANALYZE_PATTERNS_H

#include <stdbool.h>

#include "format/records.h"

bool patterns_match(const char *list, struct span text);
/* Also matches the part after the last slash: nginx for /usr/sbin/nginx. */
bool patterns_match_name(const char *list, struct span text);

#endif
