/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Memory from the kernel's side: address space that system calls map, unmap and discard. Every call
 * is a sample with the stack of its caller, weighted with its bytes in whole pages.
 */
#include "bpf/probe/mem.bpf.h"
#include "bpf/syscall_args.bpf.h"

const volatile __u64 mem_page_sz = 4096;
__u32 mem_thin;

struct mem_call {
	__u64 begin_ns;
	__u64 was, size; /* bytes before and after; of brk the program break before */
	__u32 thin, pad;
};
CALLS_IN_PROGRESS(mem_calls, mem_call);

static __always_inline int call_enter(__u64 was, __u64 size)
{
	struct mem_call call = {.was = was, .size = size};

	return passed_over(&call.thin) ? 0 : call_begin(&mem_calls, &call);
}

/* The current thread's call, removed; false: not recorded, or it failed. */
static __always_inline bool call_end(struct mem_call *to, long ret)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct mem_call *call = bpf_map_lookup_elem(&mem_calls, &tid);

	if (!call)
		return false;
	*to = *call;
	bpf_map_delete_elem(&mem_calls, &tid);
	return (unsigned long)ret < -4095UL;
}

static __always_inline __u64 page_align(__u64 sz)
{
	return (sz + mem_page_sz - 1) & -mem_page_sz;
}

/* Sends the difference in size, in whole pages. */
static __always_inline void change_send(const struct mem_call *call, __u64 was, __u64 now)
{
	was = page_align(was);
	now = page_align(now);
	if (now > was)
		UNPREEMPTED(mem_send(SAMPLE_mapped, (now - was) << (call->thin & 15)));
	else
		UNPREEMPTED(mem_send(SAMPLE_unmapped, (was - now) << (call->thin & 15)));
}

SEC("?tracepoint/syscalls/sys_enter_mmap")
int mem_enter_mmap(struct syscall_enter *ctx)
{
	call_enter(0, ctx->args[1]);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_enter_munmap")
int mem_enter_munmap(struct syscall_enter *ctx)
{
	call_enter(ctx->args[1], 0);
	return KEEP_SAMPLES;
}

#define MREMAP_DONTUNMAP 4

SEC("?tracepoint/syscalls/sys_enter_mremap")
int mem_enter_mremap(struct syscall_enter *ctx)
{
	call_enter(ctx->args[3] & MREMAP_DONTUNMAP ? 0 : ctx->args[1], ctx->args[2]);
	return KEEP_SAMPLES;
}

/* Of mmap, munmap, mremap. */
SEC("?tracepoint")
int mem_exit(struct syscall_exit *ctx)
{
	struct mem_call call;

	if (call_end(&call, ctx->ret))
		change_send(&call, call.was, call.size);
	return KEEP_SAMPLES;
}

struct mm_struct___brk {
	unsigned long brk;
} __attribute__((preserve_access_index));

SEC("?tracepoint/syscalls/sys_enter_brk")
int mem_enter_brk(struct syscall_enter *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct___brk *mm;

	if (!ctx->args[0]) /* asks for the program break */
		return KEEP_SAMPLES;
	mm = (void *)BPF_CORE_READ(task, mm);
	call_enter(BPF_CORE_READ(mm, brk), 0);
	return KEEP_SAMPLES;
}

/* Returns the program break, which is the old one if the call failed. */
SEC("?tracepoint/syscalls/sys_exit_brk")
int mem_exit_brk(struct syscall_exit *ctx)
{
	struct mem_call call;

	if (call_end(&call, ctx->ret))
		change_send(&call, call.was, ctx->ret);
	return KEEP_SAMPLES;
}

#define MADV_DONTNEED 4
#define MADV_FREE 8
#define MADV_REMOVE 9
#define MADV_DONTNEED_LOCKED 24

SEC("?tracepoint/syscalls/sys_enter_madvise")
int mem_enter_madvise(struct syscall_enter *ctx)
{
	__u32 advice = ctx->args[2];

	if (advice != MADV_DONTNEED && advice != MADV_FREE && advice != MADV_REMOVE &&
	    advice != MADV_DONTNEED_LOCKED)
		return KEEP_SAMPLES;
	call_enter(0, ctx->args[1]);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_exit_madvise")
int mem_exit_madvise(struct syscall_exit *ctx)
{
	struct mem_call call;
	__u64 size;

	if (call_end(&call, ctx->ret)) {
		size = page_align(call.size) << (call.thin & 15);
		UNPREEMPTED(mem_send(SAMPLE_discarded, size));
	}
	return KEEP_SAMPLES;
}
