/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds which functions of an allocator may end in which others of it, by following jumps, not
 * calls. Only reads the file. */
#ifndef RECORD_ALLOC_JUMPS_H
#define RECORD_ALLOC_JUMPS_H

#include <libelf.h>

#include "record/binary/alloc_find.h"

/* Sets `tails` and `jumps` of each site. */
void alloc_jumps_find(int fd, Elf *elf, struct alloc_site *sites, size_t cnt);

#endif
