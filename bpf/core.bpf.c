/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Maps shared by all probes, sending to the ring buffers, and tracking of fork and exec. */
#include "bpf/core.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool have_task_pt_regs = true;
const volatile bool can_disable_preempt = false;
__u64 user_regs_at;
const volatile bool never = false;
const volatile bool target_all = false;
const volatile __u32 self_tgid = 0;
const volatile __u64 wakeup_sz = 128 << 10; /* queued bytes between two wakeups of obrec */

bool enabled;
__u32 target_slots[TARGET_SLOTS];
__u64 target_procs[TARGET_PROCS][sizeof(struct target_proc) / 8];
__u32 epoch; /* incremented by obrec at times; then every stack is sent again */

struct procs_map procs SEC(".maps");
struct losses_map losses SEC(".maps");

struct rings_map rings SEC(".maps");

/*
 * Stacks already sent to obrec: a two-way cache of hashes combined with the epoch. It is an array,
 * not a hash map: a perf interrupt may be an NMI that occurs during an update, where a locked
 * bucket causes a deadlock on 5.10 (before 20b6cc34ea74) and an error on later kernels. A stack
 * that was evicted, or written by two CPUs at once, is sent again.
 */
struct sent {
	__u64 key[2];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct sent);
} stacks SEC(".maps");

static __always_inline struct sent *sent_of(__u64 hash)
{
	__u32 set = hash & 65535;

	return bpf_map_lookup_elem(&stacks, &set);
}

static __always_inline __u64 sent_key(__u64 hash)
{
	return hash ^ (epoch + 1ULL) << 32;
}

__noinline int stack_is_sent(__u64 hash)
{
	struct sent *sent = sent_of(hash);
	__u64 key = sent_key(hash);

	return sent && (sent->key[0] == key || sent->key[1] == key);
}

static __always_inline int stack_send(struct wire_stack *stack, __u32 max_frames)
{
	struct sent *sent = sent_of(stack->hash);
	__u64 key = sent_key(stack->hash);
	__u32 cnt = stack->frame_cnt;

	if (!sent || sent->key[0] == key || sent->key[1] == key)
		return 0;
	stack->hdr.kind = WIRE_STACK;
	stack->hdr.size = sizeof(*stack) + cnt * sizeof(__u64);
	if (ring_output(stack, sizeof(*stack) + cnt * sizeof(__u64),
			sizeof(*stack) + max_frames * sizeof(__u64), LOSS_RING_STACK))
		return 0;
	sent->key[1] = sent->key[0];
	sent->key[0] = key;
	return 0;
}

/*
 * Whether the walk failed because the thread is in execve(2). Late in an exec, the old program's
 * memory is already gone while its registers are still present; they are then replaced by those of
 * the new program, which has not run yet. Such a thread has no user stack, like one that has
 * released its memory to exit.
 */
static __always_inline bool stack_amid_exec(const struct unwind_walk *w)
{
	return w->stack.error && w->stack.frame_cnt <= 1 && syscall_is_exec((const void *)w->regs);
}

__noinline int stack_take_user(__u32 entry)
{
	struct scratch *s = scratch_of(entry);
	struct unwind_walk *w;

	if (!s)
		return 0;
	w = &s->walk;
	unwind_run(unwind_slot(entry));
	if (stack_amid_exec(w)) {
		s->sample.user_stack = 0;
		return 0;
	}
	w->stack.hdr.probe = s->sample.hdr.probe;
	w->stack.tgid = s->sample.tgid;
	if (w->stack.error) /* the last frame may depend on its mappings */
		w->stack.hash ^= (__u64)s->sample.tgid << 32;
	s->sample.user_stack = w->stack.hash;
	return stack_send(&w->stack, WIRE_MAX_FRAMES);
}

__noinline int stack_none_user(__u32 entry)
{
	struct scratch *s = scratch_of(entry);
	struct unwind_walk *w;

	if (!s)
		return 0;
	w = &s->walk;
	w->stack.hdr.probe = s->sample.hdr.probe;
	w->stack.tgid = 0;
	w->stack.frame_cnt = 0;
	w->stack.error = STACK_NOT_TAKEN;
	w->stack.hash = WIRE_NOT_TAKEN;
	s->sample.user_stack = WIRE_NOT_TAKEN;
	return stack_send(&w->stack, WIRE_MAX_FRAMES);
}

/*
 * A separate function, so that the code after the loop is not verified for each exit of the loop.
 */
__noinline int pack_kernel(__u32 entry, __u32 cnt, __u32 leaf_exact)
{
	struct scratch *s = scratch_of(entry);
	__u64 hash = 0x9e3779b97f4a7c15ULL;

	if (!s)
		return 0;
	for (__u32 i = 0; i < WIRE_MAX_KERNEL_FRAMES; i++) {
		__u64 frame = s->kernel_frames[i];

		if (i >= cnt)
			break;
		frame -= 1 - (leaf_exact & 1);
		leaf_exact = 0;
		frame |= 0xffffULL << 48; /* FRAME_BINARY_KERNEL */
		s->kernel_frames[i] = frame;
		hash = (hash ^ frame) * 0xff51afd7ed558ccdULL;
		hash ^= hash >> 32;
	}
	s->kernel.hash = hash ?: 1;
	return 0;
}

__noinline int stack_take_kernel(__u32 entry, __u32 cnt, __u32 leaf_exact)
{
	struct scratch *s = scratch_of(entry);

	if (!s)
		return 0;
	if (cnt > WIRE_MAX_KERNEL_FRAMES)
		cnt = WIRE_MAX_KERNEL_FRAMES;
	pack_kernel(entry, cnt, leaf_exact);
	s->kernel.hdr.probe = s->sample.hdr.probe;
	s->kernel.frame_cnt = cnt;
	s->kernel.error = cnt ? STACK_NONE : STACK_NOT_TAKEN;
	s->kernel.tgid = 0;
	s->sample.kernel_stack = s->kernel.hash;
	return stack_send(&s->kernel, WIRE_MAX_KERNEL_FRAMES);
}

__noinline int sample_send(__u32 entry)
{
	struct scratch *s = scratch_of(entry);

	if (!s)
		return 0;
	s->sample.hdr.kind = WIRE_SAMPLE;
	s->sample.hdr.size = sizeof(s->sample);
	return ring_output(&s->sample, sizeof(s->sample), sizeof(s->sample), LOSS_RING_SAMPLE);
}

static __always_inline void target_forget(__u32 tgid)
{
	struct target_proc *t = target_proc_of(tgid);

	if (t->tgid == tgid)
		t->proc.generation = 0;
}

/* Gives a child its parent's entry: it is recorded from its first instruction, with complete
 * stacks. */
SEC("?raw_tp/sched_process_fork")
int core_fork(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 parent = task_tgid((void *)ctx->args[0], false);
	__u32 child = task_tgid((void *)ctx->args[1], false);
	struct proc *p, copy;

	if (parent == child)
		return 0;
	p = bpf_map_lookup_elem(&procs, &parent);
	if (!p || !(p->flags & PROC_INHERIT))
		return 0;
	copy = *p;
	target_slots[child & (TARGET_SLOTS - 1)] = TARGET_SLOT_ASK; /* until obrec updates the
								     * slot */
	if (bpf_map_update_elem(&procs, &child, &copy, BPF_ANY))
		loss_count(LOSS_PROCS_FULL);
	target_forget(child); /* the tgid may be reused */
	return 0;
}

/* Removes the mappings of the old image; stacks end with "process not known" until obrec has
 * published the new ones. */
SEC("?raw_tp/sched_process_exec")
int core_exec(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct proc *p = bpf_map_lookup_elem(&procs, &tgid);

	if (!p)
		return 0;
	p->range_cnt = 0;
	p->jit_binary = 0;
	p->generation = 0;
	target_forget(tgid);
	return 0;
}
