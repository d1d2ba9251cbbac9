/* SPDX-License-Identifier: BSD-2-Clause */
/* Which programs and libraries may call splice(2). Pure: reads the file only. */
#ifndef RECORD_SPLICE_FIND_H
#define RECORD_SPLICE_FIND_H

#include <stdbool.h>

/*
 * Whether the ELF file takes splice() from another one, or has no other to take it from: Go and
 * static programs. False also for what cannot be read, and for who calls it by syscall(2) or
 * dlsym(3).
 */
bool splice_find(int fd);

#endif
