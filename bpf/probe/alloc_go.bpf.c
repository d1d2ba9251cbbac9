/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Go's allocator. Its own memory profiler samples by bytes as alloc.bpf.c does, one sample per
 * runtime.MemProfileRate bytes, and calls runtime.profilealloc() for the samples only: other
 * allocations cost nothing. A sampled allocation is given a special, a record of its address, which
 * runtime.freeSpecial() frees when a garbage collection has found that it is not in use.
 *
 * Arguments are in registers (Go 1.17). The functions are probed at the jump of their stack check:
 * if it is taken, the stack must grow first, and the function begins anew.
 */
#include "bpf/probe/alloc.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define GO_ARG0(r) ((r)->ax)
#define GO_ARG1(r) ((r)->bx)
#define GO_ARG2(r) ((r)->cx)
#define GO_BEGINS_ANEW(r) ((r)->flags & 0x41) /* jbe: carry or zero */
#else
#define GO_ARG0(r) CTX_ARG0(r)
#define GO_ARG1(r) CTX_ARG1(r)
#define GO_ARG2(r) CTX_ARG2(r)
#define GO_BEGINS_ANEW(r) false /* no function is probed */
#endif

static __always_inline struct alloc_go *go_of(__u64 cookie)
{
	__u32 number = ALLOC_COOKIE_FILE(cookie);
	struct alloc_file *f = cookie ? bpf_map_lookup_elem(&alloc_files, &number) : NULL;

	return f ? &f->go : NULL;
}

static __always_inline int go_sample(struct arch_ctx_regs *regs, __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid(), size = GO_ARG2(regs), address = GO_ARG1(regs);
	__u64 rate = 0, birth_ns, stack;
	struct alloc_go *go = go_of(cookie);

	keep_task_stack();
	if (!enabled || *(volatile bool *)&alloc_detached || !is_recorded(id >> 32))
		return 0;
	if (GO_BEGINS_ANEW(regs) || !go || !size || size >> 47)
		return 0;
	rate = go->rate_at - ALLOC_COOKIE_ADDRESS(cookie) + regs->ip;
	if (bpf_probe_read_user(&rate, sizeof(rate), (void *)rate) || !rate) {
		loss_count(LOSS_ALLOC_RATE);
		return 0;
	}
	if (rate >> 32)
		rate = (__s64)rate < 0 ? 1 : ~0U;
	birth_ns = bpf_ktime_get_ns();
	size = ALLOC_SIZE(size, *(volatile __u32 *)&alloc_level);
	stack = alloc_send(birth_ns, size, 0, rate, 0);
	if (alloc_follow && go->special_at)
		alloc_remember(birth_ns, size, stack, ALLOC_REMEMBER(rate, alloc_cpu()->near),
			       address);
	return 0;
}

static __always_inline int go_free(struct arch_ctx_regs *regs, __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct alloc_go *go = go_of(cookie);
	__u8 special = 0;

	keep_task_stack();
	if (!enabled || !is_recorded(id >> 32) || !go)
		return 0;
	bpf_probe_read_user(&special, sizeof(special), (void *)GO_ARG0(regs) + go->special_at);
	if (special == go->special)
		alloc_forget(GO_ARG1(regs), 0, id);
	return 0;
}

/* ---- many places with a link */

SEC("?uprobe")
int alloc_go_samples(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(go_sample(regs, bpf_get_attach_cookie(regs)));
}

SEC("?uprobe")
int alloc_go_frees(struct arch_ctx_regs *regs)
{
	return go_free(regs, bpf_get_attach_cookie(regs));
}

/* ---- a link per place */

SEC("?uprobe")
int alloc_go_sample(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(go_sample(regs, alloc_cookie_at(regs->ip)));
}

SEC("?uprobe")
int alloc_go_free(struct arch_ctx_regs *regs)
{
	return go_free(regs, alloc_cookie_at(regs->ip));
}
