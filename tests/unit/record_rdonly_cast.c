/* SPDX-License-Identifier: BSD-2-Clause */
/* The casts of the programs on sockets and files become calls of the kernel's function, and nothing
 * else is changed. Nothing is loaded. */
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire.h"
#include "record/host/rdonly_cast.h"
#include "check.h"
#include "obrec.skel.h"

enum { ID = 4711 };

static bool is_mark(const struct bpf_insn *in)
{
	return in->code == (BPF_JMP | BPF_CALL) && !in->src_reg && in->imm == WIRE_RDONLY_CAST;
}

static size_t marks(const struct bpf_program *prog)
{
	const struct bpf_insn *in = bpf_program__insns(prog);
	size_t cnt = 0;

	for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++)
		cnt += is_mark(&in[i]);
	return cnt;
}

static void put(struct bpf_program *prog)
{
	size_t cnt = bpf_program__insn_cnt(prog), sz = cnt * sizeof(struct bpf_insn);
	struct bpf_insn *before = malloc(sz);
	const struct bpf_insn *now;
	const char *name = bpf_program__name(prog);

	CHECK(before && marks(prog), "%s", name);
	if (!before)
		return;
	memcpy(before, bpf_program__insns(prog), sz);
	CHECK(!rdonly_cast_put(prog, ID), "%s", name);
	CHECK(bpf_program__insn_cnt(prog) == cnt, "%s", name);
	now = bpf_program__insns(prog);
	for (size_t i = 0; i < cnt; i++)
		if (is_mark(&before[i]))
			CHECK(now[i].code == (BPF_JMP | BPF_CALL) && now[i].imm == ID &&
				      now[i].src_reg == BPF_PSEUDO_KFUNC_CALL && !now[i].off,
			      "%s: instruction %zu", name, i);
		else
			CHECK(!memcmp(&now[i], &before[i], sizeof(now[i])), "%s: instruction %zu",
			      name, i);
	free(before);
}

int main(void)
{
	struct obrec_bpf *skel = obrec_bpf__open();
	struct bpf_program *prog;

	CHECK(skel);
	if (!skel)
		return 1;
	put(skel->progs.net_sock_send);
	put(skel->progs.net_sock_recv);
	put(skel->progs.net_sock_splice);
	bpf_object__for_each_program(prog, skel->obj) if (!strncmp(bpf_program__name(prog),
								   "file_enter_", 11)) put(prog);
	/* What is left would be a call of no helper, which no kernel takes. */
	bpf_object__for_each_program(prog, skel->obj)
		CHECK(!marks(prog), "%s", bpf_program__name(prog));
	obrec_bpf__destroy(skel);
	return failed;
}
