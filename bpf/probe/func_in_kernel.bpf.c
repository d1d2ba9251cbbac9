/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Latency of functions of the kernel. */
#include "bpf/probe/func_calls.bpf.h"

/*
 * The address of the probed instruction: regs->ip is behind its breakpoint on x86. Functions that
 * begin with endbr64 are probed behind that.
 */
static __always_inline __u32 *func_kernel_cookie(__u64 ip)
{
	struct func_place place = {};
	__u32 *cookie;

#if defined(__TARGET_ARCH_x86)
	ip--;
#endif
	place.position = ip;
	cookie = bpf_map_lookup_elem(&func_places, &place);
	if (cookie)
		return cookie;
	place.position = ip - 4;
	return bpf_map_lookup_elem(&func_places, &place);
}

SEC("?kprobe")
int func_kernel_entry(struct arch_ctx_regs *regs)
{
	__u32 *cookie = func_kernel_cookie(regs->ip);

	return cookie ? func_enter(regs, *cookie, true) : 0;
}

SEC("?kretprobe")
int func_kernel_return(struct arch_ctx_regs *regs)
{
	return func_leave(regs, regs->sp - FUNC_RETURN_SZ, -1, true, true);
}
