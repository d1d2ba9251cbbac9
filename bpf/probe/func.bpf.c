/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Latency of functions of programs.
 *
 * A call ends when its thread executes one of the function's return instructions, or jumps out of
 * it (tail call), with the stack pointer that the call began with. Functions whose code is not
 * understood have a uretprobe. Calls that end in no such way (longjmp, exceptions) leave their
 * frame below the stack pointer of a later entry or return of the thread, by which they are found.
 */
#include "bpf/probe/func_calls.bpf.h"

const volatile __u64 func_min_ns, func_min_values_ns;
const volatile bool func_any_args, func_any_untimed;
bool func_any_go; /* functions of Go are probed */

struct func_threads_map func_threads SEC(".maps");
struct func_places_map func_places SEC(".maps");
struct func_no_calls_map func_no_calls SEC(".maps");

/* ---- cells */

__noinline int func_count(__u32 function, __u64 ns)
{
	struct metric_key key = {};

	metric_key_process(&key);
	key.part[FUNC_PART_FUNCTION] = function;
	hist_add(PROBE_func, SERIES_func_latency, &key, ns);
	return 0;
}

__noinline int func_count_unfinished(__u32 function, __u32 reason, __u64 ns)
{
	struct metric_key key = {};

	metric_key_process(&key);
	key.part[FUNC_PART_FUNCTION] = function;
	key.part[FUNC_PART_REASON] = reason;
	count_add(PROBE_func, SERIES_func_unfinished, &key, ns);
	return 0;
}

/* ---- many places with a link: a cookie tells the function */

SEC("?uprobe")
int func_entries(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(func_enter(regs, bpf_get_attach_cookie(regs), false, false));
}

SEC("?uretprobe")
int func_returns(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(func_leave(regs, regs->sp - FUNC_RETURN_SZ,
				      FUNC_COOKIE_NUMBER(bpf_get_attach_cookie(regs)), true,
				      false));
}

static __always_inline int func_exit_of(struct arch_ctx_regs *regs, __u32 cookie, bool known)
{
	if (cookie & FUNC_GO)
		return func_leave_go(regs, FUNC_COOKIE_NUMBER(cookie), known);
	return func_leave(regs, regs->sp, FUNC_COOKIE_NUMBER(cookie), known, false);
}

SEC("?uprobe")
int func_exits(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(func_exit_of(regs, bpf_get_attach_cookie(regs), true));
}

SEC("?uprobe")
int func_jumps(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(func_exit_of(regs, bpf_get_attach_cookie(regs), false));
}

/* Whether a conditional jump is taken: Intel's manual, volume 2, appendix B, "tttn". */
static __always_inline bool func_is_taken(const struct arch_ctx_regs *regs, __u32 condition)
{
#if defined(__TARGET_ARCH_x86)
	__u64 f = regs->flags, carry = f & 1, parity = f >> 2 & 1, zero = f >> 6 & 1,
	      sign = f >> 7 & 1, overflow = f >> 11 & 1, less = sign ^ overflow;
	__u64 taken = overflow | carry << 1 | zero << 2 | (carry | zero) << 3 | sign << 4 |
		      parity << 5 | less << 6 | (less | zero) << 7;

	return (taken >> (condition >> 1 & 7) & 1) != (condition & 1);
#else
	return true;
#endif
}

SEC("?uprobe")
int func_ifs(struct arch_ctx_regs *regs)
{
	__u32 cookie = bpf_get_attach_cookie(regs);

	keep_task_stack();
	return func_is_taken(regs, FUNC_COOKIE_CONDITION(cookie))
		       ? UNPREEMPTED(func_leave(regs, regs->sp, FUNC_COOKIE_NUMBER(cookie), false,
						false))
		       : 0;
}

/* ---- a link per place */

SEC("?uprobe")
int func_entry(struct arch_ctx_regs *regs)
{
	struct func_place place = {.position = regs->ip & 0xfff};
	__u32 *cookie;

	keep_task_stack();
	bpf_probe_read_user(place.code, sizeof(place.code), (void *)regs->ip + FUNC_CODE_AT);
	cookie = bpf_map_lookup_elem(&func_places, &place);
	return cookie ? UNPREEMPTED(func_enter(regs, *cookie, false, false)) : 0;
}

SEC("?uretprobe")
int func_return(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(func_leave(regs, regs->sp - FUNC_RETURN_SZ, -1, true, false));
}

/* Of which function is not known: a goroutine's call has no equal among those of its thread. */
static __always_inline int func_exit_here(struct arch_ctx_regs *regs, bool known)
{
	if (func_any_go)
		func_leave_go(regs, -1, known);
	return func_leave(regs, regs->sp, -1, known, false);
}

SEC("?uprobe")
int func_exit(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(func_exit_here(regs, true));
}

SEC("?uprobe")
int func_jump(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(func_exit_here(regs, false));
}

/* The opcode's second byte, behind the breakpoint, tells the condition. */
SEC("?uprobe")
int func_if(struct arch_ctx_regs *regs)
{
	__u8 opcode = 0;

	keep_task_stack();
	bpf_probe_read_user(&opcode, sizeof(opcode), (void *)regs->ip + 1);
	return func_is_taken(regs, opcode)
		       ? UNPREEMPTED(func_leave(regs, regs->sp, -1, false, false))
		       : 0;
}

/* ---- ends of threads */

static __always_inline int func_forget(__u64 key, __u32 reason)
{
	struct func_thread *t = bpf_map_lookup_elem(&func_threads, &key);

	if (!t)
		return 0;
	if (enabled)
		func_drop(t, key, ~0ULL, reason, bpf_ktime_get_ns(), false);
	bpf_map_delete_elem(&func_threads, &key);
	return 0;
}

SEC("?tracepoint/sched/sched_process_exit")
int func_thread_exit(void *ctx)
{
	__u32 tid = bpf_get_current_pid_tgid();

	func_forget(tid | FUNC_KERNEL, FUNC_EXIT);
	func_forget(tid, FUNC_EXIT);
	return KEEP_SAMPLES;
}

/* tracefs: events/sched/sched_process_exec/format */
struct func_exec_args {
	__u64 common;
	__u32 filename, pid, old_pid;
};

SEC("?tracepoint/sched/sched_process_exec")
int func_thread_exec(struct func_exec_args *ctx)
{
	func_forget(ctx->old_pid, FUNC_EXEC);
	return KEEP_SAMPLES;
}
