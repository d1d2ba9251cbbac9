/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The stack walk of unwind_walk.h for BPF: its maps and its memory access. */
#include "bpf/kernel.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/uprobe_page.bpf.h"

struct unwind_slots_map unwind_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* values are page-aligned */
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct unwind_cache));
} unwind_caches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, RANGE_SEGS);
	__uint(key_size, sizeof(__u32));
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct range_seg));
		});
} range_segs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, ROW_SEGS);
	__uint(key_size, sizeof(__u32));
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct row_seg));
		});
} row_segs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PAGE_CNT);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct page));
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, RULE_CNT);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct rule));
} unwind_rules SEC(".maps");

#define UW_FUNC __noinline

static __always_inline struct unwind_walk *uw_walk(__u32 slot)
{
	return unwind_walk_of(slot);
}

static __always_inline struct unwind_cache *uw_cache(__u32 slot)
{
	return bpf_map_lookup_elem(&unwind_caches, &slot);
}

static __always_inline const struct range_seg *uw_ranges(__u32 seg)
{
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&range_segs, &seg);

	return inner ? bpf_map_lookup_elem(inner, &zero) : 0;
}

static __always_inline const struct row_seg *uw_rows(__u32 seg)
{
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&row_segs, &seg);

	return inner ? bpf_map_lookup_elem(inner, &zero) : 0;
}

static __always_inline const struct page *uw_page(__u32 index)
{
	return bpf_map_lookup_elem(&unwind_pages, &index);
}

static __always_inline const struct rule *uw_rule(__u32 index)
{
	return bpf_map_lookup_elem(&unwind_rules, &index);
}

static __always_inline int uw_read(void *to, __u32 size, __u64 at)
{
	return bpf_probe_read_user(to, size, (const void *)at);
}

static __always_inline __u32 uw_load32(const void *p)
{
	return *(const __u32 *)p;
}

static __always_inline __u64 uw_load64(const void *p)
{
	return *(const __u64 *)p;
}

/* ---- code that uprobes put into the process (kernel/events/uprobes.c) */

struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next;
} __attribute__((preserve_access_index));
struct uprobe_task {
	unsigned long vaddr; /* of the instruction that is executed out of line */
	struct return_instance *return_instances;
} __attribute__((preserve_access_index));
struct task_struct___utask {
	struct uprobe_task *utask;
} __attribute__((preserve_access_index));

#define RETURNS_MOST 64 /* MAX_URETPROBE_DEPTH */

/* Where the function returns to whose return address is at `place`. A function that was jumped to
 * may have several instances: the last one has the address. One branch a step: the verifier follows
 * each. */
static __always_inline __u64 return_of(struct return_instance *r, __u64 place, __u64 trampoline)
{
	__u64 to, other;

	for (int i = 0; i < RETURNS_MOST && r; i++) {
		to = BPF_CORE_READ(r, orig_ret_vaddr);
		other = (BPF_CORE_READ(r, stack) ^ place) | !(to ^ trampoline);
		asm volatile("" : "+r"(other)); /* prevents the compiler from creating branches */
		if (!other)
			return to;
		r = BPF_CORE_READ(r, next);
	}
	return 0;
}

static __always_inline int uw_leave_uprobe(struct unwind_walk *w)
{
	struct task_struct___utask *task = (void *)bpf_get_current_task();
	bool interrupted = w->regs_from == UNWIND_REGS_KERNEL;
	struct return_instance *last;
	struct uprobe_task *utask;
	__u64 page, place, to;

	if (!bpf_core_field_exists(task->utask))
		return 0;
	utask = BPF_CORE_READ(task, utask);
	page = utask ? uprobe_page() : 0;
	if (!page || (interrupted ? w->pc - page >= 4096 : w->pc + 1 != page))
		return 0;
	if (interrupted && w->pc - page >= UNWIND_XOL_SLOT_SZ) {
		to = BPF_CORE_READ(utask, vaddr);
		if (to)
			w->pc = to;
		return to != 0;
	}
	last = BPF_CORE_READ(utask, return_instances);
	place = interrupted ? BPF_CORE_READ(last, stack) : w->sp - UNWIND_RETURN_SZ;
	to = return_of(last, place, page);
	if (!to)
		return 0;
	w->sp = place + UNWIND_RETURN_SZ;
	w->pc = UNWIND_CODE(to) - 1;
	w->regs_from = UNWIND_REGS_NONE;
	return 1;
}

#include "bpf/unwind_walk.h"

/* Global functions are verified once, on their own, and not again at every call. */
__noinline int unwind_run(__u32 slot)
{
	struct unwind_walk *w = uw_walk(slot);

	if (!w)
		return 1;
	if (!unwind_begin(w)) {
		for (int i = 0; i < UNWIND_CALLS; i++)
			if (unwind_frames(slot))
				break;
	}
	unwind_end(w);
	return 0;
}
