/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Kernel stacks that are remembered. The kernel's own unwinder takes 0.1 us or more a frame, though
 * a program sees the same few stacks over and over. Each CPU remembers some: the return addresses,
 * and where on the stack they were. A stack whose same places have the same addresses is the same:
 * each return address tells the size of its function's frame, and so where the next one is. Only
 * the outermost function has a frame of random size (CONFIG_RANDOMIZE_KSTACK_OFFSET); its own
 * return address has a place that is counted from the top. Frames that the kernel leaves out of a
 * stack, such as those of the scheduler, are compared too: whatever looks like an address of code
 * and is below the first address that is not left out.
 *
 * To remember a stack, the places are searched for its addresses. It is not remembered if more than
 * one choice of places has them in the right order, as calls before may have left the same ones.
 *
 * For programs of tracepoints, which have claimed the scratch.
 */
#ifndef BPF_KERNEL_STACK_BPF_H
#define BPF_KERNEL_STACK_BPF_H

#include "bpf/core.bpf.h"

/* arm64 signs return addresses on the stack, and unwinds by frame pointers. */
#if defined(__TARGET_ARCH_x86)
#define KERNEL_STACK_BY_PLACES 1
#define KERNEL_STACK_CALL_AT __builtin_offsetof(struct arch_regs, orig_ax) /* and ip */
struct thread_struct {
	__u64 sp;
} __attribute__((preserve_access_index));
struct task_struct___x86 {
	struct thread_struct thread;
} __attribute__((preserve_access_index));
#else
#define KERNEL_STACK_BY_PLACES 0
#define KERNEL_STACK_CALL_AT 0
#endif

/* Where stacks are taken: all of one have the program's own frames in common. */
enum kernel_stack_site { KERNEL_STACK_WAKER = 1, KERNEL_STACK_SLEEPER };

#define KERNEL_STACK_WORDS 512 /* of the stack; a power of two */
#define KERNEL_STACK_FRAMES 64 /* a power of two */
#define KERNEL_STACK_PLACES 64 /* that are compared; a power of two */
#define KERNEL_STACK_WAYS 4    /* a power of two */
#define KERNEL_STACKS 64       /* per CPU; a power of two */

/* Of addresses, the lower half: all of the kernel's code is in the highest 4 GiB. */
struct kernel_stack {
	__u32 key;
	__u32 cnt;		 /* frames */
	__u16 places, words_cnt; /* up to the last place */
	__u16 last_at;		 /* the outermost address: words from the top */
	__u16 marked;
	__u64 hash; /* as in struct wire_stack */
	__u32 frames[KERNEL_STACK_FRAMES];
	__u32 word[KERNEL_STACK_PLACES];
	__u16 at[KERNEL_STACK_PLACES]; /* index in `words` */
};

/* The stack: if an interrupt runs, that of the CPU's interrupts, then that of the thread, up to the
 * registers at its top. */
struct kernel_stacks {
	__u64 irq_from, irq_top;
	__u64 from, to;
	__u32 irq_cnt, all_cnt; /* words */
	__u32 site, key;
	__u32 read_cnt, words_cnt; /* words that were read; that are to be searched */
	__u32 tries, turn;	   /* to learn */
	__u32 first, first_at;	   /* frame, word: those before are of the program */
	__u16 at[KERNEL_STACK_FRAMES];
	__u64 words[2 * KERNEL_STACK_WORDS]; /* the second half is room for reading */
	struct kernel_stack known[KERNEL_STACKS];
};

struct kernel_stacks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it: a CPU each */
	__type(key, __u32);
	__type(value, struct kernel_stacks);
};
extern struct kernel_stacks_map kernel_stacks SEC(".maps");

#define KERNEL_STACK_KNOWN 1
#define KERNEL_STACK_MARKED 2

/* Whether the stack from `from` to `to` is known. Its hash is then in the sample. KERNEL_STACK_...
 * or 0. */
int kernel_stack_known(__u32 site);
/* Remembers the stack that was not known, after stack_take_kernel() of its `cnt` addresses. mark:
 * what kernel_stack_known() shall tell. */
int kernel_stack_learn(__u32 cnt, __u32 mark);

static __always_inline struct kernel_stacks *kernel_stacks_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&kernel_stacks, &cpu);
}

/* As kernel_stack_known(), of the current thread. `within`: a pointer into its stack. */
static __always_inline int kernel_stack_current(const void *within, __u32 site)
{
	struct kernel_stacks *k = KERNEL_STACK_BY_PLACES ? kernel_stacks_here() : NULL;

	if (!k)
		return 0;
	k->from = (__u64)within;
	k->to = (__u64)current_regs_place();
	return kernel_stack_known(site);
}

/* The same of a thread that is not running. */
static __always_inline int kernel_stack_sleeper(struct task_struct *task, __u32 site)
{
#if KERNEL_STACK_BY_PLACES
	struct kernel_stacks *k = kernel_stacks_here();

	if (!k)
		return 0;
	k->from = ((struct task_struct___x86 *)task)->thread.sp;
	k->to = have_task_pt_regs ? (__u64)bpf_task_pt_regs((void *)task)
				  : (__u64)user_regs_place(task);
	return kernel_stack_known(site);
#else
	return 0;
#endif
}

#endif
