/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands for functions of the kernel in programs that are to be loaded becomes calls of them,
 * and nothing else is changed. Nothing is loaded. */
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "record/host/kfuncs.h"
#include "check.h"
#include "obrec.skel.h"

enum { ID = 4711 };

/* Number of the kfunc that the instruction stands for, or -1. */
static int mark(const struct bpf_insn *in)
{
	bool is = in->code == (BPF_JMP | BPF_CALL) && !in->src_reg && in->imm >= WIRE_KFUNC_FIRST &&
		  in->imm < WIRE_KFUNC_END;

	return is ? in->imm - WIRE_KFUNC_FIRST : -1;
}

static void count(const struct obrec_bpf *skel, size_t cnt[WIRE_KFUNCS])
{
	struct bpf_program *prog;

	memset(cnt, 0, WIRE_KFUNCS * sizeof(*cnt));
	bpf_object__for_each_program(prog, skel->obj)
	{
		const struct bpf_insn *in = bpf_program__insns(prog);

		for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++)
			if (mark(&in[i]) >= 0)
				cnt[mark(&in[i])]++;
	}
}

/* The program, after kfuncs_put(): ids[i] in place of kfunc i, unless it is 0. */
static void compare(const struct bpf_program *prog, const struct bpf_insn *before, const int *ids)
{
	const struct bpf_insn *now = bpf_program__insns(prog);

	for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++) {
		struct bpf_insn want = before[i];

		if (mark(&want) >= 0 && ids[mark(&want)]) {
			want.imm = ids[mark(&before[i])];
			want.src_reg = BPF_PSEUDO_KFUNC_CALL;
		}
		CHECK(!memcmp(&now[i], &want, sizeof(want)), "%s: instruction %zu",
		      bpf_program__name(prog), i);
	}
}

static void put(struct obrec_bpf *skel, struct bpf_program *prog, const int *ids)
{
	size_t cnt = bpf_program__insn_cnt(prog), sz = cnt * sizeof(struct bpf_insn);
	struct bpf_insn *before = malloc(sz);

	CHECK(before);
	if (!before)
		return;
	memcpy(before, bpf_program__insns(prog), sz);
	CHECK(!kfuncs_put(skel->obj, ids));
	CHECK(bpf_program__insn_cnt(prog) == cnt, "%s", bpf_program__name(prog));
	compare(prog, before, ids);
	free(before);
}

int main(void)
{
	struct obrec_bpf *skel = obrec_bpf__open();
	int none[WIRE_KFUNCS] = {0}, ids[WIRE_KFUNCS] = {ID, 0, ID + 2};
	size_t cnt[WIRE_KFUNCS], left[WIRE_KFUNCS];
	struct bpf_program *prog;

	CHECK(skel);
	if (!skel)
		return 1;
	bpf_object__for_each_program(prog, skel->obj) bpf_program__set_autoload(prog, false);
	count(skel, cnt);
	for (size_t i = 0; i < WIRE_KFUNCS; i++)
		CHECK(cnt[i], "nothing calls kfunc %zu", i);
	CHECK(!kfuncs_put(skel->obj, ids));
	count(skel, left);
	CHECK(!memcmp(left, cnt, sizeof(cnt)), "in a program that is not to be loaded");
	bpf_object__for_each_program(prog, skel->obj) bpf_program__set_autoload(prog, true);
	put(skel, skel->progs.alloc_entries, none);
	put(skel, skel->progs.alloc_entries, ids);
	count(skel, left);
	/* What is left would be a call of no helper, which no kernel takes. */
	CHECK(!left[0] && left[1] == cnt[1] && !left[2]);
	ids[1] = ID + 1;
	put(skel, skel->progs.func_returns, ids);
	put(skel, skel->progs.net_sock_send, ids);
	count(skel, left);
	CHECK(!memcmp(left, (size_t[WIRE_KFUNCS]){0}, sizeof(left)));
	obrec_bpf__destroy(skel);
	return failed;
}
