/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Memory from the kernel's side: changes of the resident set, by stack.
 *
 * The kernel's own counters of a process's file, anonymous and shared pages are looked at in
 * kmem:rss_stat, which follows each of their changes. Once a counter has moved far enough since the
 * last sample, whichever way, that net change is a sample with the stack that completed it. The
 * samples thus add up to the change of the resident set, whatever the size of pages, and memory
 * that is used and returned over and over is not growth. How far is drawn anew for each sample, so
 * that no loop of the program keeps step. The counters are no finer than the kernel's own: 64
 * faults of a thread before 6.2, since then (f1a7941243c1, "mm: convert mm's rss stats into
 * percpu_counter") 32 pages or twice as many as CPUs, of each CPU.
 */
#include "bpf/probe/mem.bpf.h"

const volatile __u32 mem_step = 64; /* pages, on average */

struct percpu_counter {
	__s64 count;
} __attribute__((preserve_access_index));
struct mm_struct___percpu {
	struct percpu_counter rss_stat[4];
} __attribute__((preserve_access_index));
struct mm_rss_stat {
	struct {
		long counter;
	} count[4];
} __attribute__((preserve_access_index));
struct mm_struct___atomic {
	struct mm_rss_stat rss_stat;
} __attribute__((preserve_access_index));

enum { MM_SWAPENTS = 2, MM_COUNTERS = 4 };

/* A process's memory, by the address of its mm_struct. */
struct mem_resident {
	__s64 last[MM_COUNTERS]; /* pages, at the last sample */
	__u32 goal;		 /* change that the next sample takes */
	__u32 tgid;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct mem_resident);
} mem_residents SEC(".maps");

#define OFFSET_OF(field) __builtin_preserve_field_info(field, BPF_FIELD_BYTE_OFFSET)

static __always_inline __s64 pages_of(__u64 mm, __u32 member)
{
	struct mm_struct___percpu *now = NULL;
	struct mm_struct___atomic *old = NULL;
	__s64 pages = 0;

	if (bpf_core_field_exists(now->rss_stat[0].count))
		mm += OFFSET_OF(now->rss_stat[0].count) +
		      member * bpf_core_type_size(struct percpu_counter);
	else
		mm += OFFSET_OF(old->rss_stat) + member * sizeof(long);
	bpf_probe_read_kernel(&pages, sizeof(pages), (void *)mm);
	return pages;
}

static __always_inline __u32 next_goal(void)
{
	__u32 step = mem_step << (*(volatile __u32 *)&mem_thin & 15);

	return step / 2 + bpf_get_prandom_u32() % (step ?: 1);
}

/* Begins with what the process has now. */
static __noinline int resident_new(__u64 mm, __u32 tgid)
{
	struct mem_resident r = {.tgid = tgid, .goal = next_goal()};

	for (__u32 i = 0; i < MM_COUNTERS; i++)
		r.last[i] = pages_of(mm, i);
	if (bpf_map_update_elem(&mem_residents, &mm, &r, BPF_ANY))
		loss_count(LOSS_MEM_RESIDENT);
	return 0;
}

/* The bytes of the sample that is due, negative when pages were released; 0: none is. */
static __always_inline __s64 resident_step(struct mem_resident *r, __u64 mm, __u32 member)
{
	__s64 pages = pages_of(mm, member), by = pages - r->last[member];

	if ((by < 0 ? -by : by) < r->goal)
		return 0;
	r->last[member] = pages;
	r->goal = next_goal();
	return by * (__s64)mem_page_sz;
}

/* A kernel thread or another process releases the pages of a process: the stack is the kernel's. */
static __always_inline int reclaim_send(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 member = ctx->args[1] & (MM_COUNTERS - 1);
	__u64 mm = ctx->args[0];
	struct mem_resident *r = bpf_map_lookup_elem(&mem_residents, &mm);
	struct scratch *s;
	__s64 by;
	long sz;

	by = r ? resident_step(r, mm, member) : 0;
	if (!by)
		return 0;
	s = begin(by < 0 ? SAMPLE_released : SAMPLE_resident, (__u64)r->tgid << 32 | r->tgid,
		  by < 0 ? -by : by);
	if (!s)
		return 0;
	sz = bpf_get_stack(ctx, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
	stack_take_kernel(ENTRY_TRACEPOINT, sz > 0 ? (__u64)sz / 8 : 0, false);
	sample_send(ENTRY_TRACEPOINT);
	scratch_release(s);
	return 0;
}

#define PF_MEMALLOC 0x00000800 /* reclaims */

SEC("?raw_tp/rss_stat")
int mem_rss(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 member = ctx->args[1] & (MM_COUNTERS - 1), tgid, flags;
	__u64 mm = ctx->args[0], own;
	struct mem_resident *r;
	struct task_struct *task;
	__s64 by;

	if (!enabled || member == MM_SWAPENTS)
		return 0;
	if (have_task_pt_regs) {
		task = (void *)bpf_get_current_task_btf();
		tgid = task->tgid;
		flags = task->flags;
		own = (__u64)task->mm;
	} else {
		task = (void *)bpf_get_current_task();
		tgid = bpf_get_current_pid_tgid() >> 32;
		flags = BPF_CORE_READ(task, flags);
		own = (__u64)BPF_CORE_READ(task, mm);
	}
	if (flags & (PF_KTHREAD | PF_MEMALLOC))
		return reclaim_send(ctx);
	if (!is_recorded(tgid))
		return 0;
	r = bpf_map_lookup_elem(&mem_residents, &mm);
	if (own != mm) { /* of a child, or this is the end */
		if (r && r->tgid == tgid)
			bpf_map_delete_elem(&mem_residents, &mm);
		return 0;
	}
	if (!r || r->tgid != tgid)
		return resident_new(mm, tgid);
	by = resident_step(r, mm, member);
	if (by)
		mem_send(by < 0 ? SAMPLE_released : SAMPLE_resident, by < 0 ? -by : by);
	return 0;
}
