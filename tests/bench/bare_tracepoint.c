/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bare_tracepoint NAME...: attaches an empty program to each of these raw tracepoints, prints
 * "ready" and waits for the end of its input. Measures the cost of attaching alone.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int empty_program(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "bare", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), NULL);
}

int main(int argc, char **argv)
{
	char c;

	for (int i = 1; i < argc; i++) {
		int prog = empty_program();
		int link = prog < 0 ? prog : bpf_raw_tracepoint_open(argv[i], prog);

		if (link < 0) {
			fprintf(stderr, "bare_tracepoint: %s: %s\n", argv[i], strerror(-link));
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
