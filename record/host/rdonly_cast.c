/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/host/rdonly_cast.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire.h"

int rdonly_cast_put(struct bpf_program *prog, int id)
{
	size_t cnt = bpf_program__insn_cnt(prog), sz = cnt * sizeof(struct bpf_insn);
	struct bpf_insn *insns = malloc(sz);
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), sz);
	for (size_t i = 0; i < cnt; i++) {
		struct bpf_insn *in = &insns[i];

		if (in->code != (BPF_JMP | BPF_CALL) || in->src_reg || in->imm != WIRE_RDONLY_CAST)
			continue;
		in->src_reg = BPF_PSEUDO_KFUNC_CALL;
		in->imm = id;
	}
	err = bpf_program__set_insns(prog, insns, cnt);
	free(insns);
	return err;
}
