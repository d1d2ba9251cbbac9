/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the kernel's bpf_rdonly_cast(), written into programs (bpf/kernel.bpf.h says why). */
#ifndef RECORD_RDONLY_CAST_H
#define RECORD_RDONLY_CAST_H

struct bpf_program;

/* In an opened program, not loaded yet: its calls of WIRE_RDONLY_CAST call the function with that
 * id in the kernel's BTF. 0 or negative errno. */
int rdonly_cast_put(struct bpf_program *prog, int id);

#endif
