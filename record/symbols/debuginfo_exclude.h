/* SPDX-License-Identifier: BSD-2-Clause */
/* --exclude-buildids FILE: binaries whose symbols must not be captured. */
#ifndef RECORD_DEBUGINFO_EXCLUDE_H
#define RECORD_DEBUGINFO_EXCLUDE_H

#include <stdbool.h>

struct exclude_list;

/* One build-id (or sha1:HEX) per line, in any case; # starts a comment. Reports errors with file
 * and line: -EINVAL, or the error of open. */
int exclude_list__load(struct exclude_list **l, const char *path);
bool exclude_list__has(const struct exclude_list *l, const char *id);
void exclude_list__free(struct exclude_list *l);

#endif
