/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * All kernel types and fields that obrec uses, relocated at load time (CO-RE), and all differences
 * between kernels, each with the commit that introduced it. 5.10 is the oldest supported kernel.
 */
#ifndef BPF_KERNEL_BPF_H
#define BPF_KERNEL_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/wire.h"

/* User registers in the kernel's layout; an ABI (ptrace), so not relocated. The distribution's
 * headers cannot be used: compiled for BPF, they select the 32-bit layout or none. */
#if defined(__TARGET_ARCH_x86)
struct arch_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	__u64 ip, cs, flags, sp, ss;
};
#define arch_ctx_regs arch_regs
#define ARCH_THREAD_SIZE 16384
#define USER_MODE(r) (((r)->cs & 3) == 3)
#elif defined(__TARGET_ARCH_arm64)
struct arch_regs {
	__u64 regs[31], sp, ip, pstate;
	__u64 orig_x0;
	__s32 syscallno;
	__u32 pad;
};
struct arch_ctx_regs { /* struct user_pt_regs */
	__u64 regs[31], sp, ip, pstate;
};
#define ARCH_THREAD_SIZE 16384
#define USER_MODE(r) (((r)->pstate & 0xf) == 0)
#else
#error "unknown architecture"
#endif

/* The context of a perf_event program (struct bpf_perf_event_data). */
struct perf_event_ctx {
	struct arch_ctx_regs regs;
	__u64 sample_period;
	__u64 addr;
};

/* Arguments and return value of a function. */
#if defined(__TARGET_ARCH_x86)
#define CTX_ARG0(r) ((r)->di)
#define CTX_ARG1(r) ((r)->si)
#define CTX_ARG2(r) ((r)->dx)
#define CTX_ARG3(r) ((r)->cx)
#define CTX_ARG4(r) ((r)->r8)
#define CTX_ARG5(r) ((r)->r9)
#define CTX_RET(r) ((r)->ax)
/* Of a function of Go (1.17 and later); and its goroutine. */
#define CTX_GO_ARG0(r) ((r)->ax)
#define CTX_GO_ARG1(r) ((r)->bx)
#define CTX_GO_ARG2(r) ((r)->cx)
#define CTX_GO_ARG3(r) ((r)->di)
#define CTX_GO_ARG4(r) ((r)->si)
#define CTX_GO_ARG5(r) ((r)->r8)
#define CTX_GO(r) ((r)->r14)
/* Whether the jump of a stack check is taken: jbe, by the carry and zero flags; b.ls. */
#define CTX_GO_GROWS(r) ((r)->flags & 0x41)
#else
#define CTX_ARG0(r) ((r)->regs[0])
#define CTX_ARG1(r) ((r)->regs[1])
#define CTX_ARG2(r) ((r)->regs[2])
#define CTX_ARG3(r) ((r)->regs[3])
#define CTX_ARG4(r) ((r)->regs[4])
#define CTX_ARG5(r) ((r)->regs[5])
#define CTX_RET(r) ((r)->regs[0])
#define CTX_GO_ARG0 CTX_ARG0
#define CTX_GO_ARG1 CTX_ARG1
#define CTX_GO_ARG2 CTX_ARG2
#define CTX_GO_ARG3 CTX_ARG3
#define CTX_GO_ARG4 CTX_ARG4
#define CTX_GO_ARG5 CTX_ARG5
#define CTX_GO(r) ((r)->regs[28])
#define CTX_GO_GROWS(r) (((r)->pstate >> 29 & 3) != 1)
#endif

/* Copies word by word; the verifier allows no other access to a context. */
#define COPY_CTX_REGS(to, from)                                                                    \
	do {                                                                                       \
		_Pragma("unroll") for (unsigned i_ = 0; i_ < sizeof(*(from)) / 8;                  \
				       i_++)((__u64 *)(to))[i_] = ((volatile __u64 *)(from))[i_];  \
	} while (0)

/* Whether a task with these user registers is inside execve(2) or execveat(2). */
static __always_inline bool syscall_is_exec(const struct arch_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return regs->orig_ax == 59 || regs->orig_ax == 322;
#else
	return regs->syscallno == 221 || regs->syscallno == 281;
#endif
}

#define STACK_SIZE_MAX 65536 /* upper bound of a kernel stack: arm64 with 64 KiB pages, KASAN */

struct mm_struct;

struct pt_regs {
} __attribute__((preserve_access_index));

struct kernfs_node {
	__u64 id; /* 5.5, 67c0496e87d1 ("kernfs: convert kernfs_node->id from union to u64") */
} __attribute__((preserve_access_index));
struct cgroup {
	struct kernfs_node *kn;
} __attribute__((preserve_access_index));
struct css_set {
	struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	unsigned int flags;
	void *stack;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	char comm[16];
	unsigned long nvcsw, nivcsw;
	struct css_set *cgroups;
} __attribute__((preserve_access_index));

/* 5.14, 2f064a59a11f ("sched: Change task_struct::state"): `state` became `__state`. */
struct task_struct___state {
	unsigned int __state;
} __attribute__((preserve_access_index));
struct task_struct___5_10 {
	long state;
} __attribute__((preserve_access_index));

#define PF_KTHREAD 0x00200000
#define TASK_DEAD 0x0080
#define TASK_STOPPED_OR_TRACED 0x000c

/* Set by obrec after probing the kernel: a reduced BTF does not contain enum bpf_func_id. */
extern const volatile bool have_task_pt_regs;

/* `typed`: the pointer is from a BTF-typed program argument and may be dereferenced. It is a
 * constant, so that the program contains only one of the two variants. */
static __always_inline __u32 task_pid(struct task_struct *t, bool typed)
{
	return typed ? t->pid : BPF_CORE_READ(t, pid);
}

static __always_inline __u32 task_tgid(struct task_struct *t, bool typed)
{
	return typed ? t->tgid : BPF_CORE_READ(t, tgid);
}

/* What a program of iter/task is given. */
struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

/* A function, as stacks of programs are short. */
static __noinline int process_name(void *to, struct task_struct *t)
{
	struct task_struct *leader = BPF_CORE_READ(t, group_leader);

	return bpf_probe_read_kernel(to, sizeof(leader->comm), leader->comm);
}

/* The name of the task's process: that of its first thread. 16 bytes, on the stack aligned. Not
 * copied as the bytes that it is declared as, because each load by a typed pointer is checked. */
static __always_inline void task_process_name(void *to, struct task_struct *t, bool typed)
{
	const __u64 *name;

	if (typed) {
		name = (const void *)t->group_leader->comm;
		((__u64 *)to)[0] = name[0];
		((__u64 *)to)[1] = name[1];
	} else {
		process_name(to, t);
	}
}

/* Same value as bpf_get_current_pid_tgid() for this task, without a helper call. */
static __always_inline __u64 task_who_typed(struct task_struct *t)
{
	return (__u64)t->tgid << 32 | (__u32)t->pid;
}

static __always_inline __u32 task_state(struct task_struct *task, bool typed)
{
	struct task_struct___state *t = (void *)task;
	struct task_struct___5_10 *old = (void *)task;

	if (bpf_core_field_exists(t->__state))
		return typed ? t->__state : BPF_CORE_READ(t, __state);
	return typed ? old->state : BPF_CORE_READ(old, state);
}

/* The task's cgroup in the unified hierarchy: the inode of the cgroup directory. */
static __always_inline __u64 task_cgroup(struct task_struct *t, bool typed)
{
	return typed ? t->cgroups->dfl_cgrp->kn->id : BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id);
}

/* Whether the task has no user memory: a kernel thread, or a thread that has released its mm in
 * exit. */
static __always_inline bool task_is_kernel(struct task_struct *t, bool typed)
{
	if (typed)
		return t->flags & PF_KTHREAD || !t->mm;
	return BPF_CORE_READ(t, flags) & PF_KTHREAD || !BPF_CORE_READ(t, mm);
}

/*
 * Functions of the kernel (kfuncs). The object instead calls helpers that do not exist, and obrec
 * inserts the ids of the functions (record/host/kfuncs.h): for an object that references a kfunc,
 * libbpf requires the kernel's own BTF, which not all kernels have. Only programs call them, not
 * functions that are not inlined: those cannot be changed before they are loaded.
 */

/*
 * Casts a pointer to a BTF-typed one, which typed programs may dereference, with bpf_rdonly_cast()
 * (6.2, a35b9af4ec2c, "bpf: Add a kfunc for generic type cast."). The verifier turns it into a
 * move; a helper would be a call.
 */
static void *(*const rdonly_cast)(const void *, __u32 type) = (void *)WIRE_RDONLY_CAST;
#define cast_typed(type, p) ((type *)rdonly_cast(p, bpf_core_type_id_kernel(type)))

/*
 * Address of the registers saved at kernel entry. bpf_task_pt_regs() requires 5.15, dd6e10fbd9fb
 * ("bpf: Add bpf_task_pt_regs() helper"); for older kernels this computes task_pt_regs() (those
 * kernels have no padding at the top of the stack).
 */
static __always_inline const struct arch_regs *user_regs_place(struct task_struct *t)
{
	return BPF_CORE_READ(t, stack) + ARCH_THREAD_SIZE - bpf_core_type_size(struct pt_regs);
}

/* As above, of the current task; to be read with bpf_probe_read_kernel(). */
static __always_inline const struct arch_regs *current_regs_place(void)
{
	if (have_task_pt_regs)
		return (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	return user_regs_place((void *)bpf_get_current_task());
}

static __always_inline long current_user_regs(struct arch_regs *to)
{
	return bpf_probe_read_kernel(to, sizeof(*to), current_regs_place());
}

/* As above, for typed programs, which may dereference the pointer. */
extern __u64 user_regs_at; /* offset in the kernel stack; 0: not known yet */
static __always_inline const struct arch_regs *current_regs_typed(struct task_struct *current)
{
	__u64 at = user_regs_at;

	if (!at) {
		const void *known[] = {(void *)bpf_task_pt_regs((void *)current), current->stack};
		__u64 numbers[2] = {0}; /* typed pointers cannot be subtracted */

		bpf_probe_read_kernel(numbers, sizeof(numbers), known);
		user_regs_at = at = numbers[0] - numbers[1];
	}
	/* Since 7.x the verifier treats `stack` as untyped memory, to which a bounded offset may be
	 * added. */
	at &= STACK_SIZE_MAX - 1;
	return (void *)cast_typed(struct pt_regs, current->stack + at);
}

/* A writer is about to pause. The tracepoint's arguments differ between kernels, its fields do not.
 */
struct trace_event_raw_balance_dirty_pages {
	long pause; /* ms; not positive: none */
} __attribute__((preserve_access_index));

struct file;
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));
struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));
struct task_struct___files {
	struct files_struct *files;
} __attribute__((preserve_access_index));

/* An open file of the current task, by its descriptor; NULL: there is none. */
static __always_inline struct file *current_file(__u32 fd)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file **fds = BPF_CORE_READ(fdt, fd), *file = NULL;

	if (fd >= BPF_CORE_READ(fdt, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), fds + fd))
		return NULL;
	return file;
}

/* As above, where have_task_pt_regs. `cast`: the program may cast; it gets a pointer to be cast. */
static __always_inline struct file *current_file_typed(__u32 fd, bool cast)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct fdtable *fdt = ((struct task_struct___files *)task)->files->fdt;
	__u64 at = bpf_core_field_offset(struct fdtable, fd);
	struct file *file = NULL;

	if (fd >= fdt->max_fds)
		return NULL;
	asm volatile("%0 &= %1" : "+r"(fd) : "i"((1 << 26) - 1)); /* known to the verifier */
	/* An array of pointers has no type: element `fd` is read as if it were the member. */
	if (cast)
		return (void *)cast_typed(struct fdtable, (void *)(fdt->fd + fd) - at)->fd;
	bpf_probe_read_kernel(&file, sizeof(file), fdt->fd + fd);
	return file;
}

/* Reads the user registers of any task. */
static __always_inline long task_user_regs(struct task_struct *t, bool typed, struct arch_regs *to)
{
	const void *from;

	if (typed && have_task_pt_regs)
		from = (void *)bpf_task_pt_regs((void *)t);
	else
		from = user_regs_place(t);
	return bpf_probe_read_kernel(to, sizeof(*to), from);
}

/* Whether the current thread entered the kernel through a system call, not a fault or interrupt. */
static __always_inline bool current_in_syscall(void)
{
	const struct arch_regs *r;
#if defined(__TARGET_ARCH_x86)
	__s64 nr = -1;
#else
	__s32 nr = -1;
#endif

	if (have_task_pt_regs)
		r = (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	else
		r = user_regs_place((void *)bpf_get_current_task());
#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_kernel(&nr, sizeof(nr), &r->orig_ax);
#else
	bpf_probe_read_kernel(&nr, sizeof(nr), &r->syscallno);
#endif
	return nr >= 0;
}

/*
 * Keeps a program on the task's stack: programs with a tail call, which is never executed here, get
 * no private stack (6.13, a76ab5731e32, "bpf: Find eligible subprogs for private stack support").
 * Private stacks are per CPU. A task can be preempted in a uprobe program and no run is skipped, so
 * several runs may be active on a CPU; with a private stack, they would overwrite each other's
 * variables and pointers.
 */
extern const volatile bool never;

static __always_inline void keep_task_stack(void)
{
	if (never)
		((long (*)(void))BPF_FUNC_tail_call)();
}

/*
 * Runs what a program consists of, an expression, without preemption: else other threads run
 * meanwhile, and their programs find the scratch memory of the CPU in use. Programs of uprobes can
 * be preempted, since 7.x also those of tracepoints. Where kernels allow it: bpf_preempt_disable()
 * (6.10, fc7566ad0a82, "bpf: Introduce bpf_preempt_[disable,enable] kfuncs"), and calls of global
 * functions meanwhile (6.15, e2d8f560d176, "bpf: Summarize sleepable global subprogs").
 */
extern const volatile bool can_disable_preempt;
static void (*const preempt_disable)(void) = (void *)WIRE_PREEMPT_DISABLE;
static void (*const preempt_enable)(void) = (void *)WIRE_PREEMPT_ENABLE;

#define UNPREEMPTED(run)                                                                           \
	({                                                                                         \
		int result;                                                                        \
                                                                                                   \
		if (can_disable_preempt)                                                           \
			preempt_disable();                                                         \
		result = (run);                                                                    \
		if (can_disable_preempt)                                                           \
			preempt_enable();                                                          \
		result;                                                                            \
	})

/*
 * Atomic addition that does not return the old value, in the form that all kernels support. With a
 * stronger memory order, newer clangs (seen: 22) emit the fetching instruction, which kernels
 * before 5.12 reject.
 */
static __always_inline void add_atomically(__u64 *to, __u64 n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

/*
 * Makes the verifier compare states where paths join. It prunes states only after two jumps and
 * eight instructions since the last check (is_state_visited() of kernel/bpf/verifier.c); these are
 * two jumps, which it removes afterwards. Without them, a path is often verified to its end again
 * for each preceding branch, although the remaining code is the same.
 */
static __always_inline void verifier_join(void)
{
	asm volatile("goto +0; goto +0");
}

#endif
