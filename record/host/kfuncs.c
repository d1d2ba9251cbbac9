/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/host/kfuncs.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Id of the function that the instruction stands for; 0: it is none, or the kernel has none. */
static int id_of(const struct bpf_insn *in, const int *ids)
{
	bool stands = in->code == (BPF_JMP | BPF_CALL) && !in->src_reg &&
		      in->imm >= WIRE_KFUNC_FIRST && in->imm < WIRE_KFUNC_FIRST + WIRE_KFUNCS;

	return stands ? ids[in->imm - WIRE_KFUNC_FIRST] : 0;
}

static int put(struct bpf_program *prog, const int *ids)
{
	size_t cnt = bpf_program__insn_cnt(prog), sz = cnt * sizeof(struct bpf_insn);
	struct bpf_insn *insns = malloc(sz);
	bool changed = false;
	int err = 0;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), sz);
	for (size_t i = 0; i < cnt; i++) {
		int id = id_of(&insns[i], ids);

		if (!id)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = id;
		changed = true;
	}
	if (changed)
		err = bpf_program__set_insns(prog, insns, cnt);
	free(insns);
	return err;
}

int kfuncs_put(struct bpf_object *obj, const int ids[WIRE_KFUNCS])
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
	{
		int err = bpf_program__autoload(prog) ? put(prog, ids) : 0;

		if (err)
			return err;
	}
	return 0;
}
