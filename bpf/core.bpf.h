/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Functions and maps that every probe uses: target filter, scratch memory, stacks, sending of
 * records. Maps and functions are defined in core.bpf.c. The functions are global, so that each is
 * verified once and not in every probe. They take only scalars, because pointers to memory as
 * arguments of global functions require kernels newer than 5.10.
 */
#ifndef BPF_CORE_BPF_H
#define BPF_CORE_BPF_H

#include "format/records.h"
#include "bpf/kernel.bpf.h"
#include "bpf/wire.h"
#include "bpf/unwind.bpf.h"

/*
 * What programs of classic tracepoints, SEC("tracepoint/..."), return. With 0 the kernel would drop the
 * event for all perf events of the same tracepoint, those of other users as well (trace_call_bpf() in
 * perf_trace_*() and perf_syscall_enter()): `perf stat -e syscalls:...` beside obrec would count nothing.
 */
#define KEEP_SAMPLES 1

/*
 * Entry contexts, each with its own scratch: a perf interrupt may occur inside a tracepoint
 * program, a tracepoint inside the program of a system call or uprobe, and a device interrupt (with
 * the tracepoints in its handler) inside any of them.
 */
enum entry { ENTRY_PERF, ENTRY_TRACEPOINT, ENTRY_UPROBE, ENTRY_INTERRUPT, ENTRY_CNT };
_Static_assert(ENTRY_CNT == UNWIND_CONTEXTS, "a slot for each");

struct procs_map {
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated: perf_event on 5.10 requires it */
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
/* One ring per CPU: CPUs do not contend, and a burst on one does not lose records of another. */
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
extern const volatile bool target_all; /* record all processes */
extern const volatile __u32 self_tgid; /* obrec's own, never recorded */
extern bool enabled;		       /* set once all probes are attached */
/*
 * Indexed by the low bits of the tgid. 0: no target there; else the tgid of the only process there
 * that has an entry in procs and is a target, or TARGET_SLOT_ASK. This avoids a map lookup for
 * nearly all processes.
 */
extern __u32 target_slots[TARGET_SLOTS];
/* Array of struct target_proc, declared as words because the skeleton header does not know obrec's
 * types. */
extern __u64 target_procs[TARGET_PROCS][sizeof(struct target_proc) / 8];

/* Walks the current task's user stack from `regs` and `proc` of the scratch, sends it unless obrec
 * already has it, and stores its hash in the sample. */
int stack_take_user(__u32 entry);
/* Sets the sample's user stack to "not taken": it exists, but could not be read. */
int stack_none_user(__u32 entry);
/* Packs and sends the kernel stack: `cnt` raw addresses in kernel_frames. leaf_exact: the first
 * address is not a return address. */
int stack_take_kernel(__u32 entry, __u32 cnt, __u32 leaf_exact);
/* Whether obrec has the stack, so that it need not be sent. */
int stack_is_sent(__u64 hash);
/* Sends scratch[entry].sample. */
int sample_send(__u32 entry);

static __always_inline void loss_count(__u32 which)
{
	__u64 *v = bpf_map_lookup_elem(&losses, &which);

	if (v)
		add_atomically(v, 1);
}

/* A wakeup costs a microsecond or more. obrec therefore gets one each time another `every` bytes (a
 * power of two) are queued, and not one per record when it is behind. */
static __always_inline bool is_wakeup_due(__u64 queued, __u64 more, __u64 every)
{
	return (queued & (every - 1)) + more >= every;
}

/* Wakes obrec for data that is not in a kernel ring buffer. */
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
 * `limit` bytes: high-volume records leave room for other ones. Returns -1 and counts `loss` when
 * the record is lost. `wake`: wake obrec immediately.
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
	/* The check is here because the 5.10 verifier loses the bounds of a spilled number. */
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
 * Claims per-CPU memory. A program run may interrupt or preempt another one; `*busy` counts the
 * runs that claim the memory. When two runs claim at the same time, both may fail, but never both
 * succeed.
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

/* Claims the scratch. Returns NULL and counts a loss when the context is already in use on this
 * CPU. */
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
 * As scratch_claim(), for programs that only interrupts can interrupt, which finish before this
 * program continues. It needs no locked instruction: the processor would wait for the cold cache
 * line and, on release, for all preceding stores.
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

/*
 * Whether the process is recorded. *p is its entry; NULL when it is recorded but has no entry yet.
 */
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

/* As is_target(), without the entry. */
static __always_inline bool is_recorded(__u32 tgid)
{
	__u32 only = target_slots[tgid & (TARGET_SLOTS - 1)];
	struct proc *p;

	if (only && only == tgid)
		return true;
	if (!target_all && only != TARGET_SLOT_ASK)
		return false;
	return is_target(tgid, &p);
}

/* Input of the unwinder; all zero (no ranges) when the process is not known yet. */
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

/* Fast path of is_target() and copy_proc(); false: use those instead. The address of each load
 * depends on the previously loaded value, so that no processor reorders the loads. */
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
