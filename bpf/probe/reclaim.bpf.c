/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Stalls of threads that need memory: reclaim by themselves because the host, their cgroup or their
 * node has no free pages; compaction; pauses that the kernel imposes on writers of dirty pages; and
 * pages read back from swap.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/reclaim.h"
#include "bpf/syscall_args.bpf.h"

const volatile __u64 reclaim_min_ns; /* stalls of this length or more become events */

/* Not static: see block_ops. */
const char reclaim_causes[8][RECLAIM_CAUSE_LEN] = {
#define X(number, text) [number] = text,
	RECLAIM_CAUSES(X)
#undef X
};

struct reclaim_call {
	__u64 begin_ns;
	__u32 cause, order;
};
CALLS_IN_PROGRESS(reclaim_calls, reclaim_call);
/* A thread may have to reclaim memory for a page from swap. */
CALLS_IN_PROGRESS(reclaim_swaps, reclaim_call);

#define VM_FAULT_MAJOR 4 /* enum vm_fault_reason: the page was read from the device */

static __always_inline int reclaim_begin(__u32 cause, __u32 order)
{
	struct reclaim_call call = {.cause = cause, .order = order};

	return call_begin(&reclaim_calls, &call);
}

/* A function, as its key would be too much for the stack of programs that also take stacks. */
static __noinline int reclaim_count(__u32 cause, __u64 ns, __u64 pages)
{
	struct metric_key key = {};

	metric_key_process(&key);
	key.part[RECLAIM_PART_CAUSE] = cause;
	hist_add_coarse(PROBE_reclaim, SERIES_reclaim_latency, &key, ns);
	count_add(PROBE_reclaim, SERIES_reclaim_reclaimed, &key, pages);
	return 0;
}

static __always_inline void reclaim_send(void *ctx, __u32 cause, __u64 ns, __u64 pages, __u32 order)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct event_stall *e;
	long n;

	reclaim_count(cause, ns, pages);
	if (ns < reclaim_min_ns)
		return;
	e = EVENT_BEGIN_OF(reclaim, stall, SERIES_EVENTS, id >> 32, ENTRY_TRACEPOINT, id, NULL,
			   NULL);
	if (!e)
		return;
	e->duration_ns = ns;
	e->pages = pages;
	e->alloc_order = order;
	event_stacks(ctx, ENTRY_TRACEPOINT, e);
	n = bpf_probe_read_kernel_str(e->text, RECLAIM_CAUSE_LEN, reclaim_causes[cause & 7]);
	e->cause = n > 0 ? (n - 1) & (RECLAIM_CAUSE_LEN - 1) : 0;
	EVENT_SEND(stall, e, ENTRY_TRACEPOINT, e->cause);
}

static __always_inline int reclaim_end(void *ctx, __u32 cause, __u64 pages)
{
	__u32 tid = bpf_get_current_pid_tgid(), order;
	struct reclaim_call *call = bpf_map_lookup_elem(&reclaim_calls, &tid);
	__u64 ns;

	if (!call || call->cause != cause)
		return 0;
	ns = bpf_ktime_get_ns() - call->begin_ns;
	order = call->order;
	bpf_map_delete_elem(&reclaim_calls, &tid);
	if (enabled)
		reclaim_send(ctx, cause, ns, pages, order);
	return 0;
}

SEC("?raw_tp/mm_vmscan_direct_reclaim_begin")
int reclaim_direct_begin(struct bpf_raw_tracepoint_args *ctx)
{
	return reclaim_begin(RECLAIM_DIRECT, ctx->args[0]);
}

SEC("?raw_tp/mm_vmscan_direct_reclaim_end")
int reclaim_direct_end(struct bpf_raw_tracepoint_args *ctx)
{
	return reclaim_end(ctx, RECLAIM_DIRECT, ctx->args[0]);
}

SEC("?raw_tp/mm_vmscan_memcg_reclaim_begin")
int reclaim_cgroup_begin(struct bpf_raw_tracepoint_args *ctx)
{
	return reclaim_begin(RECLAIM_CGROUP, ctx->args[0]);
}

SEC("?raw_tp/mm_vmscan_memcg_reclaim_end")
int reclaim_cgroup_end(struct bpf_raw_tracepoint_args *ctx)
{
	return reclaim_end(ctx, RECLAIM_CGROUP, ctx->args[0]);
}

SEC("?raw_tp/mm_vmscan_node_reclaim_begin")
int reclaim_node_begin(struct bpf_raw_tracepoint_args *ctx)
{
	return reclaim_begin(RECLAIM_NODE, ctx->args[1]);
}

SEC("?raw_tp/mm_vmscan_node_reclaim_end")
int reclaim_node_end(struct bpf_raw_tracepoint_args *ctx)
{
	return reclaim_end(ctx, RECLAIM_NODE, ctx->args[0]);
}

/* Of one zone; also by the kernel's own threads (kcompactd). */
SEC("?raw_tp/mm_compaction_begin")
int reclaim_compaction_begin(struct bpf_raw_tracepoint_args *ctx)
{
	return reclaim_begin(RECLAIM_COMPACTION, 0);
}

SEC("?raw_tp/mm_compaction_end")
int reclaim_compaction_end(struct bpf_raw_tracepoint_args *ctx)
{
	return reclaim_end(ctx, RECLAIM_COMPACTION, 0);
}

/* Before the pause, whose length the kernel has chosen. */
SEC("?tracepoint/writeback/balance_dirty_pages")
int reclaim_write_back(struct trace_event_raw_balance_dirty_pages *ctx)
{
	long pause = ctx->pause;

	if (enabled && pause > 0 && is_recorded(bpf_get_current_pid_tgid() >> 32))
		reclaim_send(ctx, RECLAIM_WRITE_BACK, pause * 1000000, 0, 0);
	return KEEP_SAMPLES;
}

SEC("?fentry")
int reclaim_swap_begin(__u64 *ctx)
{
	struct reclaim_call call = {.cause = RECLAIM_SWAP_IN};

	return call_begin(&reclaim_swaps, &call);
}

/* vm_fault_t do_swap_page(struct vm_fault *) */
SEC("?fexit")
int reclaim_swap_end(__u64 *ctx)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct reclaim_call *call = bpf_map_lookup_elem(&reclaim_swaps, &tid);
	__u64 ns;

	if (!call)
		return 0;
	ns = bpf_ktime_get_ns() - call->begin_ns;
	bpf_map_delete_elem(&reclaim_swaps, &tid);
	if (enabled && ctx[1] & VM_FAULT_MAJOR)
		reclaim_send(ctx, RECLAIM_SWAP_IN, ns, 0, 0);
	return 0;
}
