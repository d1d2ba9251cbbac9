/* SPDX-License-Identifier: BSD-2-Clause */
/* MiniDebugInfo: a stripped binary's .gnu_debugdata, an xz-compressed ELF whose .symtab has what
 * .dynsym lacks. */
#ifndef RECORD_SLIM_MINI_H
#define RECORD_SLIM_MINI_H

#include "record/symbols/slim_elf.h"

/* What unpacking takes at most; the packagers' `xz` has an 8 MiB dictionary. */
#define SLIM_MINI_MEMORY (10u << 20)

/*
 * Loads it into `mini`, whose descriptor (a temporary file) then is the caller's to
 * close. Its symbols' section numbers are made those of the binary. -ENOENT: there is none;
 * -EBADMSG: damaged or larger than any real one.
 */
int slim_mini__open(struct slim_elf *mini, const struct slim_elf *binary);

#endif
