/* SPDX-License-Identifier: BSD-2-Clause */
/* Length decoder for x86-64 instructions. Pure. */
#ifndef RECORD_X86_INSN_H
#define RECORD_X86_INSN_H

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the instruction at p; 0: invalid or truncated. */
size_t x86_insn_len(const uint8_t *p, size_t avail);

#endif
