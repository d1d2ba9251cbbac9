/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Latency of functions of the kernel, by kprobes.
 *
 * The kernel sees a return by replacing the return address of the call, and notes the original in
 * an instance from a pool of a fixed size (struct kretprobe, maxactive; struct rethook). When many
 * threads sleep in the function at a time, further calls get none, and their returns are not seen.
 * obrec attaches the program of returns after that of entries. The kernel then runs it first
 * (add_new_kprobe() and add_ftrace_ops() insert at the head), so that the entry finds the address
 * replaced or not. Where it does not, the call is only marked: its return is taken as any other.
 */
#include "bpf/probe/func_calls.bpf.h"

/* What return addresses are replaced by. 0: nothing is known of it. */
const volatile __u64 func_trampolines[2];
const volatile __u32 func_return_below;

static __always_inline bool func_is_missed(const struct arch_ctx_regs *regs, __u32 function)
{
	__u64 to = 0;

	if (!func_trampolines[0] && !func_trampolines[1])
		return false;
#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_kernel(&to, sizeof(to), (void *)regs->sp);
#else
	to = regs->regs[30];
#endif
	return to != func_trampolines[0] && to != func_trampolines[1] &&
	       !(func_wants(function) & FUNC_NO_RETURN);
}

/* ---- many functions with a link: a cookie tells which */

SEC("?kprobe.multi")
int func_kernel_entries(struct arch_ctx_regs *regs)
{
	__u32 cookie = bpf_get_attach_cookie(regs), function = FUNC_COOKIE_NUMBER(cookie);
	bool missed = !func_return_below && func_is_missed(regs, function);

	/* The return finds such a function by its cookie. */
	if (!func_any_untimed || !(func_wants(function) & FUNC_UNTIMED))
		return func_enter(regs, cookie, true, missed);
	if (missed && enabled && is_recorded(bpf_get_current_pid_tgid() >> 32))
		func_count_unfinished(function, FUNC_MISSED, 0);
	return 0;
}

SEC("?kprobe.multi")
int func_kernel_returns(struct arch_ctx_regs *regs)
{
	return func_leave_near(regs, CTX_RET(regs), func_frame_of(regs->sp - FUNC_RETURN_SZ, true),
			       func_return_below, FUNC_COOKIE_NUMBER(bpf_get_attach_cookie(regs)),
			       true, true);
}

/* ---- a link per function */

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

	if (!cookie)
		return 0;
	return func_enter(regs, *cookie, true, func_is_missed(regs, FUNC_COOKIE_NUMBER(*cookie)));
}

SEC("?kretprobe")
int func_kernel_return(struct arch_ctx_regs *regs)
{
	return func_leave(regs, regs->sp - FUNC_RETURN_SZ, -1, true, true);
}
