/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel symbols of the addresses hit, from /proc/kallsyms, written as `symbol` records (binary 0xffff) once each. */
#ifndef RECORD_KALLSYMS_H
#define RECORD_KALLSYMS_H

#include <stdint.h>

#include "../format/archive.h"

struct kallsyms;

/* Compact (names in one block); -EPERM when addresses are hidden (kptr_restrict). */
int kallsyms__new(struct kallsyms **k, struct obz_writer *writer);
void kallsyms__free(struct kallsyms *k);

/* Address in the kernel or a module (a BPF program's too): its symbol's record is written at the first hit. */
int kallsyms__hit(struct kallsyms *k, uint64_t address);

#endif
