/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What every probe uses: who is recorded, scratch memory, stacks, sending. Maps and functions live
 * in core.bpf.c; functions are global, so that each is verified once and not again in every probe,
 * and take scalars only (pointers to memory as arguments of global functions came after 5.10).
 */
#ifndef BPF_CORE_BPF_H
#define BPF_CORE_BPF_H

#include "format/records.h"
#include "bpf/kernel.bpf.h"
#include "bpf/wire.h"
#include "bpf/unwind.bpf.h"

/*
 * Entry contexts, each with a scratch of its own: a perf interrupt lands inside tracepoint
 * programs, a tracepoint fires inside a system call's or uprobe's program, and a device's interrupt
 * (with the tracepoints in it) inside any of them.
 */
enum entry { ENTRY_PERF, ENTRY_TRACEPOINT, ENTRY_UPROBE, ENTRY_INTERRUPT, ENTRY_CNT };
_Static_assert(ENTRY_CNT == UNWIND_CONTEXTS, "a slot for each");

struct procs_map {
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated: 5.10 allows nothing else in perf_event */
	__uint(max_entries, 32768);
	__type(key, __u32); /* tgid */
	__type(value, struct proc);
};
struct losses_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOSS_CNT);
	__type(key, __u32);
	__type(value, __u64);
};
/* One ring a CPU: no two CPUs contend, and a burst on one does not lose another's records. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
struct rings_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WIRE_MAX_CPUS);
	__type(key, __u32);
	__array(values, struct ring);
};
extern struct rings_map rings SEC(".maps");
extern struct procs_map procs SEC(".maps");
extern struct losses_map losses SEC(".maps");

extern const volatile __u64 wakeup_sz; /* a power of two */
extern const volatile bool target_all; /* everything is recorded */
extern const volatile __u32 self_tgid; /* but obrec */
extern bool enabled;		       /* set once all probes are attached */
/* By tgid, folded: 0, the only process there that has an entry in procs and is a target, or
 * TARGET_SLOT_ASK. Nearly all are told by it, without a look-up. */
extern __u32 target_slots[TARGET_SLOTS];
/* struct target_proc's; words, for the skeleton's header knows no types of ours. */
extern __u64 target_procs[TARGET_PROCS][sizeof(struct target_proc) / 8];

/*
 * Walks the current task's user stack from `regs` and `proc` of the scratch, sends it unless obrec
 * has it, and notes its hash in the sample.
 */
int stack_take_user(__u32 entry);
/* Notes that there is a user stack but that it could not be taken. */
int stack_none_user(__u32 entry);
/* The kernel stack: `cnt` raw addresses in kernel_frames; leaf_exact: the first is no return
 * address. */
int stack_take_kernel(__u32 entry, __u32 cnt, __u32 leaf_exact);
/* Sends scratch[entry].sample. */
int sample_send(__u32 entry);

static __always_inline void loss_count(__u32 which)
{
	__u64 *v = bpf_map_lookup_elem(&losses, &which);

	if (v)
		add_atomically(v, 1);
}

/* A wake-up is a microsecond and more, so obrec gets one whenever another `every` bytes (a power of
 * two) are queued, and none for each record while it is late. */
static __always_inline bool is_wakeup_due(__u64 queued, __u64 more, __u64 every)
{
	return (queued & (every - 1)) + more >= every;
}

/* For what is in no ring of the kernel's. */
static __always_inline void wake_up(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu), *nothing;

	nothing = ring ? bpf_ringbuf_reserve(ring, sizeof(__u64), 0) : NULL;
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

/*
 * Sends a record of at most max_sz (a constant) bytes to obrec unless this CPU's ring already holds
 * `limit` bytes: what comes in masses leaves room for the rest. -1 when it was lost, counted as
 * `loss`. `wake`: obrec hears of it at once.
 */
static __always_inline int ring_send(void *record, __u64 size, __u64 max_sz, __u32 loss,
				     __u64 limit, bool wake)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 flags = BPF_RB_NO_WAKEUP, queued;
	void *ring;

	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!ring)
		goto lost;
	queued = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	if (queued >= limit)
		goto lost;
	if (wake || is_wakeup_due(queued, size + BPF_RINGBUF_HDR_SZ, wakeup_sz))
		flags = BPF_RB_FORCE_WAKEUP;
	/* Here and not earlier: 5.10 forgets the bounds of a number that was spilled. */
	asm volatile("" : "+r"(size));
	if (size > max_sz)
		goto lost;
	if (!bpf_ringbuf_output(ring, record, size, flags))
		return 0;
lost:
	loss_count(loss);
	return -1;
}

static __always_inline int ring_output_below(void *record, __u64 size, __u64 max_sz, __u32 loss,
					     __u64 limit)
{
	return ring_send(record, size, max_sz, loss, limit, false);
}

static __always_inline int ring_output(void *record, __u64 size, __u64 max_sz, __u32 loss)
{
	return ring_output_below(record, size, max_sz, loss, ~0ULL);
}

/*
 * Memory of a CPU's that several runs want, as one may interrupt or preempt another: `*busy` counts
 * them. Two that claim it amid each other may both go without it, never both with it.
 */
static __always_inline bool claim(__u64 *busy)
{
	bool mine;

	add_atomically(busy, 1);
	mine = *(volatile __u64 *)busy == 1;
	if (!mine)
		add_atomically(busy, -1);
	barrier();
	return mine;
}

static __always_inline void unclaim(__u64 *busy)
{
	barrier();
	add_atomically(busy, -1);
}

static __always_inline struct scratch *scratch_of(__u32 entry)
{
	__u32 slot = unwind_slot(entry);

	return bpf_map_lookup_elem(&unwind_slots, &slot);
}

/* Claims the scratch; NULL (counted) when the context is entered twice on this CPU. */
static __always_inline struct scratch *scratch_claim(__u32 entry)
{
	struct scratch *s = scratch_of(entry);

	if (!s)
		return NULL;
	if (claim(&s->busy))
		return s;
	loss_count(LOSS_SCRATCH);
	return NULL;
}

/*
 * The same where nothing but an interrupt can come between, which is over before this goes on: no
 * locked instruction, for which the processor would wait until the cold line is there, and at the
 * end until all that was written is.
 */
static __always_inline struct scratch *scratch_claim_nested(__u32 entry)
{
	struct scratch *s = scratch_of(entry);

	if (!s)
		return NULL;
	if (!*(volatile __u64 *)&s->busy) {
		*(volatile __u64 *)&s->busy = 1;
		barrier();
		return s;
	}
	loss_count(LOSS_SCRATCH);
	return NULL;
}

static __always_inline void scratch_release_nested(struct scratch *s)
{
	barrier();
	*(volatile __u64 *)&s->busy = 0;
}

static __always_inline void scratch_release(struct scratch *s)
{
	unclaim(&s->busy);
}

static __always_inline bool is_target_proc(const struct proc *p)
{
	return (p->flags & (PROC_TARGET | PROC_IGNORE)) == PROC_TARGET;
}

/* Is this process recorded? *p is its entry, NULL when it is recorded but not known yet. */
static __always_inline bool is_target(__u32 tgid, struct proc **p)
{
	*p = NULL;
	if (!target_all && !target_slots[tgid & (TARGET_SLOTS - 1)])
		return false;
	*p = bpf_map_lookup_elem(&procs, &tgid);
	if (*p)
		return is_target_proc(*p);
	return target_all && tgid && tgid != self_tgid;
}

/* The same where the entry does not matter. */
static __always_inline bool is_recorded(__u32 tgid)
{
	__u32 only = target_slots[tgid & (TARGET_SLOTS - 1)];
	struct proc *p;

	if (!target_all && only != TARGET_SLOT_ASK)
		return only && only == tgid;
	return is_target(tgid, &p);
}

/* For the unwinder; all zero (no ranges) when nothing is known of the process yet. */
static __always_inline void copy_proc(struct proc *to, const struct proc *from)
{
	if (from)
		*to = *from;
	else
		__builtin_memset(to, 0, sizeof(*to));
}

static __always_inline struct target_proc *target_proc_of(__u32 tgid)
{
	return (void *)target_procs[tgid & (TARGET_PROCS - 1)];
}

/*
 * is_target() and copy_proc() by the short way; false: they have to do it. Each load's address
 * depends on what was read before, so that no processor changes their order.
 */
static __always_inline bool target_take(struct proc *to, __u32 tgid)
{
	const struct target_proc *t = target_proc_of(tgid);
	__u32 generation = *(volatile const __u32 *)&t->proc.generation;
	__u64 after = generation;

	if (!generation || t->tgid != tgid)
		return false;
	asm volatile("%0 &= 0" : "+r"(after));
	t = (const void *)t + after;
	*to = t->proc;
	after = to->flags ^ to->ranges ^ to->range_cnt ^ to->jit_binary;
	asm volatile("%0 &= 0" : "+r"(after));
	t = (const void *)t + after;
	return *(volatile const __u32 *)&t->proc.generation == generation && t->tgid == tgid;
}

#endif
