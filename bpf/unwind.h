/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The unwind rule and one step of the walk; the same code runs in BPF and, for tests, in user space. */
#ifndef BPF_UNWIND_H
#define BPF_UNWIND_H

#include "wire.h"

struct rule {
	__u8 cfa, ra, fp, flags;
	__s32 cfa_off;
	__s16 ra_off, fp_off;
};

#endif
