/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parser and the writers of help, manual page and completion. */
#ifndef FORMAT_OPTION_TABLE_H
#define FORMAT_OPTION_TABLE_H

#include "format/option.h"

/* --help and other options of every program; those without help text are hidden. */
extern const struct option_def option_builtins[];

/* Returns the next of the words separated by commas, spaces or bars, and moves *at behind it. NULL:
 * there is none. */
const char *option_next_word(const char **at, size_t *len);

/* False for the entry that ends a table; a heading has only `help`. */
static inline bool option_any(const struct option_def *d)
{
	return d->name || d->help;
}

#endif
