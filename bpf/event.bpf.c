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
	if (!target_take(&w->proc, tgid))
		copy_proc(&w->proc, bpf_map_lookup_elem(&procs, &tgid));
	return stack_take_user(entry);
}

__noinline int event_count_error(__u32 probe, __u32 series, __u32 error)
{
	struct metric_key key = {};

	metric_key_process(&key);
	key.part[METRIC_PART_ERROR] = error;
	count_add(probe, series, &key, 0);
	return 0;
}

/* ---- text ---- */

/* The last string of an event has the room that is left: the largest of these steps. */
#define EVENT_ROOM(at, copy)                                                                       \
	do {                                                                                       \
		if ((at) <= EVENT_END - EVENT_STR_MAX)                                             \
			copy(EVENT_STR_MAX);                                                       \
		else if ((at) <= EVENT_END - 1024)                                                 \
			copy(1024);                                                                \
		else if ((at) <= EVENT_END - 128)                                                  \
			copy(128);                                                                 \
	} while (0)

/* Length of a string of which `n` bytes with the NUL were copied, `room` at most; `next` is the
 * byte in place of that NUL if the string was cut. */
static __always_inline int text_len(long n, __u32 room, char next)
{
	if (n <= 0)
		return EVENT_CUT;
	return (n - 1) | (n == room && next ? EVENT_CUT : 0);
}

static __always_inline int take_text(__u32 entry, __u32 at, __u64 from, bool user)
{
	struct event_scratch *e = event_scratch_of(entry);
	__u32 room = 0;
	char next = 0;
	long n = -1;

	if (!e)
		return 0;
#define COPY(sz)                                                                                   \
	n = user ? bpf_probe_read_user_str((char *)e + at, room = sz, (void *)from)                \
		 : bpf_probe_read_kernel_str((char *)e + at, room = sz, (void *)from)
	EVENT_ROOM(at, COPY);
#undef COPY
	if (n == room && user)
		bpf_probe_read_user(&next, sizeof(next), (void *)(from + n - 1));
	else if (n == room)
		bpf_probe_read_kernel(&next, sizeof(next), (void *)(from + n - 1));
	return text_len(n, room, next);
}

__noinline int event_user_text(__u32 entry, __u32 at, __u64 from)
{
	return take_text(entry, at, from, true);
}

__noinline int event_kernel_text(__u32 entry, __u32 at, __u64 from)
{
	return take_text(entry, at, from, false);
}

__noinline int event_user_bytes(__u32 entry, __u32 at, __u64 from, __u32 len)
{
	struct event_scratch *e = event_scratch_of(entry);
	__u32 most = 0;
	long err = -1;

	if (!e)
		return 0;
#define COPY(sz)                                                                                   \
	do {                                                                                       \
		most = len < sz ? len : sz;                                                        \
		asm volatile("" : "+r"(most));                                                     \
		if (most <= sz)                                                                    \
			err = bpf_probe_read_user((char *)e + at, most, (void *)from);             \
	} while (0)
	EVENT_ROOM(at, COPY);
#undef COPY
	return (err ? 0 : most) | (err || most < len ? EVENT_CUT : 0);
}
