/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Memory from the kernel's side, by stack: page faults, address space that system calls map, unmap
 * and discard, and changes of the resident set.
 *
 * Faults: the kernel's software events PERF_COUNT_SW_PAGE_FAULTS_MIN and _MAJ, one sample per
 * period. They exist on all kernels and processors, tell minor from major faults, count a fault
 * that is retried once, and cost a counter's increment for the faults between two samples. The
 * tracepoints exceptions:page_fault_* do none of this, and exist on x86 only.
 *
 * What is mapped where pages were faulted in is counted in cells, of the same faults with the same
 * weight. The vma is found with bpf_find_vma() (5.17, 7c7e3d31e785, "bpf: Introduce helper
 * bpf_find_vma"), which tries to take mmap_lock and fails while another thread changes the address
 * space. It may release the lock in an IRQ work: the CPU interrupts itself, which in a virtual
 * machine takes microseconds. The events are raised by handle_mm_fault(), never in interrupts and
 * with no lock that the cells' map or the helper would wait for.
 *
 * System calls: every call is a sample, weighted with its bytes in whole pages.
 *
 * Resident set: the kernel's own counters of a process's file, anonymous and shared pages, looked
 * at in kmem:rss_stat, which follows each of their changes. Once a counter has moved far enough
 * since the last sample, whichever way, that net change is a sample with the stack that completed
 * it. The samples thus add up to the change of the resident set, whatever the size of pages, and
 * memory that is used and returned over and over is not growth. How far is drawn anew for each
 * sample, so that no loop of the program keeps step. The counters are no finer than the kernel's
 * own: 64 faults of a thread before 6.2, since then (f1a7941243c1, "mm: convert mm's rss stats into
 * percpu_counter") 32 pages or twice as many as CPUs, of each CPU.
 */
#include "bpf/metric.bpf.h"
#include "bpf/perf_stacks.bpf.h"
#include "bpf/probe/mem.h"
#include "bpf/syscall_args.bpf.h"

const volatile __u64 mem_period = 97;
const volatile __u64 mem_major = 1;
const volatile __u64 mem_page_sz = 4096;
const volatile __u32 mem_step = 64; /* pages, on average */

/* --cpu-budget: one sample in 2^n, selected at random, is used, with 2^n times the weight. */
__u32 mem_thin;

/* Whether the sample is left out; if not, its weight is multiplied by 2^*thin. */
static __always_inline bool passed_over(__u32 *thin)
{
	*thin = *(volatile __u32 *)&mem_thin & 15;
	return *thin && bpf_get_prandom_u32() & ((1u << *thin) - 1);
}

/* Claims the scratch of tracepoints, not that of the CPU timer, which may interrupt this program.
 */
static __always_inline struct scratch *begin(__u32 kind, __u64 id, __u64 value)
{
	struct scratch *s = scratch_claim(ENTRY_TRACEPOINT);

	if (!s)
		return NULL;
	s->sample = (struct wire_sample){
		.hdr.probe = kind,
		.ts_ns = bpf_ktime_get_ns(),
		.tgid = id >> 32,
		.tid = id,
		.value = value,
	};
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	return s;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct mem_name);
} mem_names SEC(".maps");

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));
struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));
struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));
struct file {
	struct path f_path;
} __attribute__((preserve_access_index));
struct mm_struct___areas {
	unsigned long start_brk, brk, start_stack;
} __attribute__((preserve_access_index));
struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	const void *vm_ops;
	struct file *vm_file;
} __attribute__((preserve_access_index));

/* As vma_is_initial_heap(), vma_is_initial_stack() and vma_is_anonymous() in the kernel. */
static __always_inline __u64 mapped_without_file(struct vm_area_struct *vma)
{
	struct mm_struct___areas *mm = (void *)BPF_CORE_READ(vma, vm_mm);
	__u64 start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end), stack;

	if (start < BPF_CORE_READ(mm, brk) && end > BPF_CORE_READ(mm, start_brk))
		return MEM_HEAP;
	stack = BPF_CORE_READ(mm, start_stack);
	if (start <= stack && end >= stack)
		return MEM_STACK;
	return BPF_CORE_READ(vma, vm_ops) ? MEM_OTHER : MEM_ANONYMOUS;
}

/* The key of a file's name in mem_names. */
static __always_inline __u64 mapped_file(struct file *file)
{
	__u64 word[sizeof(struct mem_name) / 8] = {}, id = 0;

	bpf_probe_read_kernel_str(word, sizeof(word),
				  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	for (__u32 i = 0; i < sizeof(word) / 8; i++) {
		id = (id ^ word[i]) * 0x9e3779b97f4a7c15ULL;
		id ^= id >> 32;
	}
	if (id < MEM_FIRST)
		id += MEM_FIRST;
	if (!bpf_map_lookup_elem(&mem_names, &id) &&
	    bpf_map_update_elem(&mem_names, &id, word, BPF_ANY))
		return MEM_OTHER; /* the table is full */
	return id;
}

static long mapped_found(struct task_struct *task, struct vm_area_struct *vma, __u64 *mapped)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);

	*mapped = file ? mapped_file(file) : mapped_without_file(vma);
	return 0;
}

static __noinline int mapped_count(__u64 address, __u32 major, __u64 weight)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct metric_key key = {.part[MEM_PART_MAJOR] = major};
	__u64 mapped = MEM_OTHER;

	bpf_find_vma(task, address, mapped_found, &mapped, 0);
	bpf_get_current_comm(key.part, WIRE_COMM_LEN);
	key.part[MEM_PART_MAPPED] = mapped;
	sample_add(PROBE_mem, SERIES_mem_faults, &key, weight);
	return 0;
}

static __always_inline int on_fault(struct perf_event_ctx *ctx, bool major, bool mapped)
{
	__u64 id = bpf_get_current_pid_tgid(), weight = major ? mem_major : mem_period;
	struct proc proc;
	struct scratch *s;
	__u32 thin;

	if (!enabled || passed_over(&thin) || !perf_take_proc(&proc, id >> 32))
		return 0;
	weight <<= thin;
	if (mapped)
		mapped_count(ctx->addr, major, weight);
	s = begin(major ? SAMPLE_majflt : SAMPLE_minflt, id, weight);
	if (!s)
		return 0;
	s->walk.proc = proc;
	perf_take_stacks(ctx, s, ENTRY_TRACEPOINT);
	sample_send(ENTRY_TRACEPOINT);
	scratch_release(s);
	return 0;
}

SEC("?perf_event")
int mem_minor_mapped(struct perf_event_ctx *ctx)
{
	return on_fault(ctx, false, true);
}

SEC("?perf_event")
int mem_major_mapped(struct perf_event_ctx *ctx)
{
	return on_fault(ctx, true, true);
}

/* For kernels without bpf_find_vma(). */
SEC("?perf_event")
int mem_minor_fault(struct perf_event_ctx *ctx)
{
	return on_fault(ctx, false, false);
}

SEC("?perf_event")
int mem_major_fault(struct perf_event_ctx *ctx)
{
	return on_fault(ctx, true, false);
}

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

/* Sends a sample with the user stack of the current thread, which is in a system call. */
static __noinline int call_send(__u32 kind, __u64 bytes)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct scratch *s;
	struct proc proc;

	if (!bytes || !enabled || !perf_take_proc(&proc, id >> 32))
		return 0;
	s = begin(kind, id, bytes);
	if (!s)
		return 0;
	s->walk.proc = proc;
	if (!current_user_regs((void *)s->walk.regs))
		stack_take_user(ENTRY_TRACEPOINT);
	sample_send(ENTRY_TRACEPOINT);
	scratch_release(s);
	return 0;
}

/* Sends the difference in size, in whole pages. */
static __always_inline void change_send(const struct mem_call *call, __u64 was, __u64 now)
{
	was = page_align(was);
	now = page_align(now);
	if (now > was)
		call_send(SAMPLE_mapped, (now - was) << (call->thin & 15));
	else
		call_send(SAMPLE_unmapped, (was - now) << (call->thin & 15));
}

SEC("?tracepoint/syscalls/sys_enter_mmap")
int mem_enter_mmap(struct syscall_enter *ctx)
{
	return call_enter(0, ctx->args[1]);
}

SEC("?tracepoint/syscalls/sys_exit_mmap")
int mem_exit_mmap(struct syscall_exit *ctx)
{
	struct mem_call call;

	if (call_end(&call, ctx->ret))
		change_send(&call, 0, call.size);
	return 0;
}

SEC("?tracepoint/syscalls/sys_enter_munmap")
int mem_enter_munmap(struct syscall_enter *ctx)
{
	return call_enter(ctx->args[1], 0);
}

SEC("?tracepoint/syscalls/sys_exit_munmap")
int mem_exit_munmap(struct syscall_exit *ctx)
{
	struct mem_call call;

	if (call_end(&call, ctx->ret))
		change_send(&call, call.was, 0);
	return 0;
}

#define MREMAP_DONTUNMAP 4

SEC("?tracepoint/syscalls/sys_enter_mremap")
int mem_enter_mremap(struct syscall_enter *ctx)
{
	return call_enter(ctx->args[3] & MREMAP_DONTUNMAP ? 0 : ctx->args[1], ctx->args[2]);
}

SEC("?tracepoint/syscalls/sys_exit_mremap")
int mem_exit_mremap(struct syscall_exit *ctx)
{
	struct mem_call call;

	if (call_end(&call, ctx->ret))
		change_send(&call, call.was, call.size);
	return 0;
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
		return 0;
	mm = (void *)BPF_CORE_READ(task, mm);
	return call_enter(BPF_CORE_READ(mm, brk), 0);
}

/* Returns the program break, which is the old one if the call failed. */
SEC("?tracepoint/syscalls/sys_exit_brk")
int mem_exit_brk(struct syscall_exit *ctx)
{
	struct mem_call call;

	if (call_end(&call, ctx->ret))
		change_send(&call, call.was, ctx->ret);
	return 0;
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
		return 0;
	return call_enter(0, ctx->args[1]);
}

SEC("?tracepoint/syscalls/sys_exit_madvise")
int mem_exit_madvise(struct syscall_exit *ctx)
{
	struct mem_call call;

	if (call_end(&call, ctx->ret))
		call_send(SAMPLE_discarded, page_align(call.size) << (call.thin & 15));
	return 0;
}

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
		call_send(by < 0 ? SAMPLE_released : SAMPLE_resident, by < 0 ? -by : by);
	return 0;
}
