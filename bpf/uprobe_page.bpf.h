/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The page that uprobes map into a process. Include after kernel.bpf.h. */
#ifndef BPF_UPROBE_PAGE_BPF_H
#define BPF_UPROBE_PAGE_BPF_H

struct xol_area {
	unsigned long vaddr;
} __attribute__((preserve_access_index));
struct mm_struct___xol {
	struct {
		struct xol_area *xol_area;
	} uprobes_state;
} __attribute__((preserve_access_index));

/* First address of the current process's page; 0: there is none. There is the trampoline, to which
 * functions return whose return is probed; behind it are copies of instructions. */
static __always_inline __u64 uprobe_page(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct___xol *mm = (void *)BPF_CORE_READ(task, mm);

	return BPF_CORE_READ(mm, uprobes_state.xol_area, vaddr);
}

#endif
