/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#include "bpf/event.bpf.h"

struct events_map events SEC(".maps");
const volatile __u32 event_rates[64];

/* Number of events sent in the current second, by a hash of process and probe. Pairs with the same
 * hash share the limit. Two CPUs at the same time may send one event more. */
#define RATE_SLOTS 4096
struct rate {
	__u32 second, cnt;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RATE_SLOTS);
	__type(key, __u32);
	__type(value, struct rate);
} event_sent SEC(".maps");

__noinline int event_within_rate(__u32 probe, __u32 tgid)
{
	__u32 slot = ((tgid * 64 + probe) * 2654435761u) >> 20, most = event_rates[probe & 63];
	__u32 second = bpf_ktime_get_ns() / 1000000000;
	struct rate *r;

	slot &= RATE_SLOTS - 1;
	r = bpf_map_lookup_elem(&event_sent, &slot);
	if (!r || !most)
		return 1;
	if (r->second != second) {
		r->second = second;
		r->cnt = 0;
	}
	if (r->cnt >= most)
		return 0;
	r->cnt++;
	return 1;
}

__noinline int event_user_stack(__u32 entry)
{
	struct unwind_walk *w = unwind_walk_of(unwind_slot(entry));
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct arch_regs *regs;

	if (!w || task_is_kernel((void *)bpf_get_current_task(), false))
		return 0;
	regs = (void *)w->regs;
	if (current_user_regs(regs) || !regs->ip)
		return 0;
	copy_proc(&w->proc, bpf_map_lookup_elem(&procs, &tgid));
	return stack_take_user(entry);
}
