/* SPDX-License-Identifier: BSD-2-Clause */
/* Which names are those of secrets. */
#ifndef FORMAT_REDACT_NAMES_H
#define FORMAT_REDACT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

bool redact_name_is_secret(const char *name, size_t len); /* of a field, property or setting */

#endif
