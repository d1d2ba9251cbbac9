/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What a probe calls to have a user stack. Include after kernel.bpf.h.
 *
 *	__u32 slot = unwind_slot(ENTRY_PERF);
 *	struct unwind_walk *w = unwind_walk_of(slot);
 *	if (w) {
 *		w->regs (the kernel's struct pt_regs, of user mode) and w->proc are filled in, then
 *		unwind_run(slot);
 *		w->stack has hash, error and frame_cnt, w->frames the frames; with the rest of
 *		w->stack filled in, both go out as one piece.
 *	}
 *
 * Whoever holds the scratch of that entry context holds its slot. Before loading, user space sets
 *max_entries of unwind_slots and unwind_caches to possible CPUs * UNWIND_CONTEXTS.
 */
#ifndef BPF_UNWIND_BPF_H
#define BPF_UNWIND_BPF_H

#include "bpf/unwind.h"

/* wire_stack is followed by room for its frames. */
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"

/*
 * Memory per CPU and entry context; whoever holds it holds the unwinder's cache of that context
 * too. What a sample needs comes first, on one page: by the next sample all of it has left the
 * caches and the TLB, and a page costs more than its lines.
 */
struct scratch {
	__u64 busy; /* claim() */
	struct wire_sample sample;
	struct unwind_walk walk;
	struct wire_stack kernel; /* and its frames, in one piece */
	__u64 kernel_frames[WIRE_MAX_KERNEL_FRAMES + 1];
} __attribute__((aligned(4096)));
_Static_assert(sizeof(struct scratch) == 8192, "two pages");

/* An array and not a per-CPU one: its look-up is inlined on every kernel. MMAPABLE: values begin on
 * a page. */
struct unwind_slots_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct scratch));
};
extern struct unwind_slots_map unwind_slots SEC(".maps");

/* The whole walk; the result is in the slot. */
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
