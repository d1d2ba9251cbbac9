/* SPDX-License-Identifier: BSD-2-Clause */
/* Patches calls of the kernel function bpf_rdonly_cast() into programs (see bpf/kernel.bpf.h). */
#ifndef RECORD_RDONLY_CAST_H
#define RECORD_RDONLY_CAST_H

struct bpf_program;

/* For an opened program that is not loaded yet: replaces calls of WIRE_RDONLY_CAST by calls of the
 * function with that id in the kernel's BTF. Returns 0 or a negative errno. */
int rdonly_cast_put(struct bpf_program *prog, int id);

#endif
