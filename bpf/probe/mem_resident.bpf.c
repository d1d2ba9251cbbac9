/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Memory from the kernel's side: changes of the resident set, by stack.
 *
 * The kernel's own counters of a process's file, anonymous and shared pages are looked at in
 * kmem:rss_stat, which follows each of their changes. Once a counter has moved far enough since the
 * last sample, whichever way, that net change is a sample with the stack that completed it. The
 * samples thus add up to the change of the resident set, whatever brought the pages (a fault for
 * each, huge pages, pages mapped around a fault, MAP_POPULATE, mlock) and took them (munmap,
 * madvise, reclaim), and memory that is used and returned over and over is not growth. How far is
 * drawn anew for each sample, so that no loop of the program keeps step.
 *
 * The counters are no finer than the kernel's own: 64 faults of a thread before 6.2, since then
 * (f1a7941243c1, "mm: convert mm's rss stats into percpu_counter") 32 pages or twice as many as
 * CPUs, of each CPU.
 *
 * A process begins with what it has when the recording starts, a child with the pages that fork
 * copied, a new program with none. Without an iterator (no BTF of the kernel's own), and of
 * processes that become targets later, it begins behind the first change that is seen, which may be
 * a huge page.
 *
 * Not counted by the kernel as resident, and thus not seen here: pages of hugetlbfs.
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
struct mm_struct___users {
	struct {
		int counter;
	} mm_users;
} __attribute__((preserve_access_index));
struct task_struct___parent {
	struct task_struct *real_parent;
} __attribute__((preserve_access_index));

enum { MM_SWAPENTS = 2, MM_COUNTERS = 4 };

/* A process's memory, by the address of its mm_struct. */
struct mem_resident {
	__s64 last[MM_COUNTERS]; /* pages, at the last sample */
	__u64 leader;		 /* its first thread's task_struct; may have been freed */
	__u32 goal;		 /* change that the next sample takes */
	__u32 tgid;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct mem_resident);
} mem_residents SEC(".maps");

/*
 * Those of which a program takes a sample just now: who adds the key is the only one. Kernels
 * before 5.12 have no atomic exchange, and threads of a process count on several CPUs at once.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u8);
} mem_stepping SEC(".maps");

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
	__u32 step = mem_step << mem_thinned();

	return step / 2 + bpf_get_prandom_u32() % (step ?: 1);
}

/* Begins with what the process has now, unless it has begun; `anew`: also then. */
static __noinline int resident_new(__u64 mm, struct task_struct *task, __u32 anew)
{
	struct mem_resident r = {.goal = next_goal()};

	r.leader = (__u64)BPF_CORE_READ(task, group_leader);
	r.tgid = task_tgid(task, false);
	for (__u32 i = 0; i < MM_COUNTERS; i++)
		r.last[i] = pages_of(mm, i);
	if (bpf_map_update_elem(&mem_residents, &mm, &r, anew ? BPF_ANY : BPF_NOEXIST) && anew)
		loss_count(LOSS_MEM_RESIDENT);
	return 0;
}

static __always_inline __s64 resident_moved(const struct mem_resident *r, __s64 pages, __u32 member)
{
	__s64 by = pages - *(volatile const __s64 *)&r->last[member];

	return (by < 0 ? -by : by) < r->goal ? 0 : by;
}

/* The bytes of the sample that is due, negative when pages were released; 0: none is. */
static __always_inline __s64 resident_step(struct mem_resident *r, __u64 mm, __u32 member)
{
	__s64 pages = pages_of(mm, member), by;
	__u8 one = 1;

	if (!resident_moved(r, pages, member) ||
	    bpf_map_update_elem(&mem_stepping, &mm, &one, BPF_NOEXIST))
		return 0;
	pages = pages_of(mm, member);
	by = resident_moved(r, pages, member);
	if (by) {
		r->last[member] = pages;
		r->goal = next_goal();
	}
	bpf_map_delete_elem(&mem_stepping, &mm);
	return by * (__s64)mem_page_sz;
}

/* The process's name; empty if its first thread is not known any more. */
static __always_inline void leader_name(const struct mem_resident *r, void *to)
{
	struct task_struct *leader = (void *)r->leader;

	__builtin_memset(to, 0, WIRE_COMM_LEN);
	if (task_pid(leader, false) == r->tgid && task_tgid(leader, false) == r->tgid)
		bpf_probe_read_kernel(to, WIRE_COMM_LEN, leader->comm);
}

/*
 * Bytes that another process has added or taken, or a kernel thread, with the kernel's stack;
 * `own`: that the process has reclaimed of its own, with both stacks.
 */
static __always_inline int others_send(void *ctx, const struct mem_resident *r, __s64 by, bool own)
{
	__u64 id = own ? bpf_get_current_pid_tgid() : (__u64)r->tgid << 32 | r->tgid;
	struct scratch *s;
	long sz;

	s = begin(by < 0 ? SAMPLE_released : SAMPLE_resident, id, by < 0 ? -by : by);
	if (!s)
		return 0;
	if (!own)
		leader_name(r, s->sample.comm);
	sz = bpf_get_stack(ctx, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
	stack_take_kernel(ENTRY_TRACEPOINT, sz > 0 ? (__u64)sz / 8 : 0, false);
	if (own && perf_take_proc(&s->walk.proc, id >> 32))
		mem_take_user(s);
	sample_send(ENTRY_TRACEPOINT);
	scratch_release(s);
	return 0;
}

/* The memory is not the current process's, or it is a kernel thread or reclaims. */
static __always_inline int others_change(struct bpf_raw_tracepoint_args *ctx, __u32 member,
					 bool own)
{
	__u64 mm = ctx->args[0];
	struct mem_resident *r = bpf_map_lookup_elem(&mem_residents, &mm);
	__s64 by;

	if (!r)
		return 0;
	if (!BPF_CORE_READ((struct mm_struct___users *)mm, mm_users.counter)) { /* the end of it */
		bpf_map_delete_elem(&mem_residents, &mm);
		return 0;
	}
	by = resident_step(r, mm, member);
	return by ? others_send(ctx, r, by, own) : 0;
}

/* The process that made the memory: a child of vfork() uses its parent's. */
static __always_inline struct task_struct *owner_of(struct task_struct *task, __u64 mm)
{
	struct task_struct *parent =
		BPF_CORE_READ((struct task_struct___parent *)task, real_parent);

	return parent && (__u64)BPF_CORE_READ(parent, mm) == mm ? parent : task;
}

#define PF_MEMALLOC 0x00000800 /* reclaims */

static __always_inline int on_rss(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 member = ctx->args[1] & (MM_COUNTERS - 1), tgid, flags;
	__u64 mm = ctx->args[0], own;
	struct task_struct *task;
	struct mem_resident *r;
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
	if (own != mm || flags & (PF_KTHREAD | PF_MEMALLOC))
		return others_change(ctx, member, own == mm && !(flags & PF_KTHREAD));
	if (!is_recorded(tgid))
		return 0;
	r = bpf_map_lookup_elem(&mem_residents, &mm);
	if (!r || r->tgid != tgid) {
		task = owner_of((void *)bpf_get_current_task(), mm);
		if (!r || r->tgid != task_tgid(task, false))
			return resident_new(mm, task, true);
	}
	by = resident_step(r, mm, member);
	if (by)
		mem_send(by < 0 ? SAMPLE_released : SAMPLE_resident, by < 0 ? -by : by);
	return 0;
}

SEC("?raw_tp/rss_stat")
int mem_rss(struct bpf_raw_tracepoint_args *ctx)
{
	return UNPREEMPTED(on_rss(ctx));
}

/* A child begins with its copies. */
SEC("?raw_tp/sched_process_fork")
int mem_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u64 mm = (__u64)BPF_CORE_READ(child, mm);

	if (mm && mm != (__u64)BPF_CORE_READ(parent, mm) && is_recorded(task_tgid(child, false)))
		resident_new(mm, child, true);
	return 0;
}

/* Runs once before the start. */
SEC("?iter/task")
int mem_begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 mm;

	if (!task || task->pid != task->tgid || task->flags & PF_KTHREAD)
		return 0;
	mm = (__u64)task->mm;
	if (mm && is_recorded(task->tgid))
		resident_new(mm, (void *)task, false);
	return 0;
}
