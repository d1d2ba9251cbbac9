/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Interface for probes to take a user stack. Include after kernel.bpf.h.
 *
 *	__u32 slot = unwind_slot(ENTRY_PERF);
 *	struct unwind_walk *w = unwind_walk_of(slot);
 *	if (w) {
 *		fill in w->regs (the kernel's struct pt_regs of user mode) and w->proc
 *		unwind_run(slot);
 *		w->stack has hash, error and frame_cnt, w->frames the frames; fill in the rest
 *		of w->stack, then send both as one piece
 *	}
 *
 * A program that has claimed the scratch of an entry context also owns its slot. Before loading,
 * user space sets max_entries of unwind_slots and unwind_caches to possible CPUs * UNWIND_CONTEXTS.
 */
#ifndef BPF_UNWIND_BPF_H
#define BPF_UNWIND_BPF_H

#include "bpf/unwind.h"

/* The frames follow wire_stack. */
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"

/*
 * Memory per CPU and entry context. Claiming it also claims the unwinder's cache of that context.
 * The data that a sample needs comes first, on one page: between two samples it leaves the caches
 * and the TLB, and a TLB miss costs more than the cache misses.
 */
struct scratch {
	__u64 busy; /* claim() */
	struct wire_sample sample;
	struct unwind_walk walk;
	struct wire_stack kernel; /* its frames follow directly */
	__u64 kernel_frames[WIRE_MAX_KERNEL_FRAMES + 1];
} __attribute__((aligned(4096)));
_Static_assert(sizeof(struct scratch) == 8192, "two pages");

/* A plain array, not a per-CPU one: its lookup is inlined on every kernel. MMAPABLE makes values
 * page-aligned. */
struct unwind_slots_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct scratch));
};
extern struct unwind_slots_map unwind_slots SEC(".maps");

/* Performs the whole walk; the result is in the slot. */
int unwind_run(__u32 slot);

static __always_inline __u32 unwind_slot(__u32 context)
{
	return bpf_get_smp_processor_id() * UNWIND_CONTEXTS + context;
}

static __always_inline struct unwind_walk *unwind_walk_of(__u32 slot)
{
	struct scratch *s = bpf_map_lookup_elem(&unwind_slots, &slot);

	return s ? &s->walk : 0;
}

#endif
