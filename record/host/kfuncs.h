/* SPDX-License-Identifier: BSD-2-Clause */
/* Patches calls of kernel functions (kfuncs) into programs (see bpf/kernel.bpf.h). */
#ifndef RECORD_KFUNCS_H
#define RECORD_KFUNCS_H

#include "bpf/wire.h"

struct bpf_object;

/*
 * For an opened object that is not loaded yet: in its programs that are to be loaded, replaces calls
 * of helper WIRE_KFUNC_FIRST + i by calls of the function with the id ids[i] in the kernel's BTF;
 * where it is 0, leaves them, which the programs must never reach. Returns 0 or a negative errno.
 */
int kfuncs_put(struct bpf_object *obj, const int ids[WIRE_KFUNCS]);

#endif
