/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/host/uprobe_multi.h"

/* From <linux/bpf.h> of 6.13; build headers may be older. */
#define TRACE_UPROBE_MULTI ((enum bpf_attach_type)48)
#define TRACE_UPROBE_SESSION ((enum bpf_attach_type)57)
enum { F_UPROBE_MULTI_RETURN = 1 };
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

static int link_create(const struct link_create *attr)
{
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

static enum bpf_attach_type type_of(enum uprobe_multi_how how)
{
	return how == UPROBE_MULTI_SESSION ? TRACE_UPROBE_SESSION : TRACE_UPROBE_MULTI;
}

bool uprobe_multi__possible(enum uprobe_multi_how how)
{
	/* r0 = 0; exit */
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type_of(how));
	uint64_t offset = 0;
	struct link_create attr = {
		.attach_type = type_of(how),
		.path = (uintptr_t) "/",
		.offsets = (uintptr_t)&offset,
		.cnt = 1,
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), &opts);
	int err;

	if (fd < 0)
		return false;
	attr.prog_fd = fd;
	err = link_create(&attr);
	close(fd);
	return err == -EBADF; /* supported: the kernel got as far as checking the path, which is not
			       * a file */
}

void uprobe_multi__choose(struct bpf_program *prog)
{
	bpf_program__set_autoload(prog, true);
	bpf_program__set_expected_attach_type(prog, TRACE_UPROBE_MULTI);
}

void uprobe_multi__choose_session(struct bpf_program *prog)
{
	bpf_program__set_autoload(prog, true);
	bpf_program__set_expected_attach_type(prog, TRACE_UPROBE_SESSION);
}

int uprobe_multi__attach(int prog_fd, const char *path, const uint64_t *offsets,
			 const uint64_t *cookies, const uint64_t *counters, uint32_t cnt,
			 enum uprobe_multi_how how)
{
	const struct link_create attr = {
		.prog_fd = prog_fd,
		.attach_type = type_of(how),
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.ref_ctr_offsets = (uintptr_t)counters,
		.cookies = (uintptr_t)cookies,
		.cnt = cnt,
		.multi_flags = how == UPROBE_MULTI_RETURN ? F_UPROBE_MULTI_RETURN : 0,
	};

	return link_create(&attr);
}
