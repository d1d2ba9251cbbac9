/* SPDX-License-Identifier: BSD-2-Clause */
/* How long x86-64 instructions are, and nothing else of them. Pure. */
#ifndef RECORD_X86_INSN_H
#define RECORD_X86_INSN_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the instruction at p; 0: none that is valid, or it is cut off. */
size_t x86_insn_len(const uint8_t *p, size_t avail);

#endif
