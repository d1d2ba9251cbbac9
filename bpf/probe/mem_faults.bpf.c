/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Memory from the kernel's side: page faults, by stack and by what is mapped there.
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
 */
#include "bpf/metric.bpf.h"
#include "bpf/probe/mem.bpf.h"
#include "bpf/probe/mem.h"

const volatile __u64 mem_period = 97;
const volatile __u64 mem_major = 1;

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
	metric_key_process(&key);
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
