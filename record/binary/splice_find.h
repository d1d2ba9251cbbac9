/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds programs and libraries that may call splice(2). Pure: only reads the file. */
#ifndef RECORD_SPLICE_FIND_H
#define RECORD_SPLICE_FIND_H

#include <stdbool.h>

/* Returns true if the ELF file imports splice() or has no imports at all (Go and static programs).
 * Returns false for unreadable files, and for code that uses syscall(2) or dlsym(3). */
bool splice_find(int fd);

#endif
