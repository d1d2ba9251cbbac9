/* SPDX-License-Identifier: BSD-2-Clause */
/* --exclude-buildids FILE: binaries whose symbols must not leave the host. */
#ifndef RECORD_DEBUGINFO_EXCLUDE_H
#define RECORD_DEBUGINFO_EXCLUDE_H

#include <stdbool.h>

struct exclude_list;

/* One build-id (or sha1:HEX) a line, any case; # begins a comment. Reports what is wrong with file
 * and line: -EINVAL, or what opening it gave. */
int exclude_list__load(struct exclude_list **l, const char *path);
bool exclude_list__has(const struct exclude_list *l, const char *id);
void exclude_list__free(struct exclude_list *l);

#endif
