/* SPDX-License-Identifier: BSD-2-Clause */
/* MiniDebugInfo: .gnu_debugdata of a stripped binary, an xz-compressed ELF whose .symtab has
 * symbols missing in .dynsym. */
#ifndef RECORD_SLIM_MINI_H
#define RECORD_SLIM_MINI_H

#include "record/symbols/slim_elf.h"

/* Memory limit for decompression; distributions use an 8 MiB dictionary. */
#define SLIM_MINI_MEMORY (10u << 20)

/*
 * Loads it into `mini`. The caller closes its descriptor (a temporary file). Section numbers of its
 * symbols are mapped to those of the binary. -ENOENT: none; -EBADMSG: damaged or larger than any
 * real one.
 */
int slim_mini__open(struct slim_elf *mini, const struct slim_elf *binary);

#endif
