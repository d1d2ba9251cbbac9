/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Typed rows, from any probe:
 *
 *	struct event_open *e = EVENT_BEGIN(open, ENTRY_TRACEPOINT, bpf_get_current_pid_tgid());
 *
 *	if (!e)
 *		return 0;
 *	event_stacks(ctx, ENTRY_TRACEPOINT, open_stack);
 *	e->path = event_user_str(e, 0, path);
 *	EVENT_SEND(open, e, ENTRY_TRACEPOINT, e->path);
 *
 * Each is counted in the series `events` of its probe, by process, before anything else. Of one
 * process and second no more than the probe's rate are sent; the others are counted in `throttled`.
 * What found no room in the ring is a loss.
 */
#ifndef BPF_EVENT_BPF_H
#define BPF_EVENT_BPF_H

#include "bpf/event.h"
#include "bpf/metric.bpf.h"

/* Held with the scratch of the same entry context. */
struct event_scratch {
	struct wire_hdr hdr;
	__u64 fields[EVENT_FIELDS_MAX];
	char rest[WIRE_COMM_LEN + EVENT_TEXT_MAX];
};
struct events_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ENTRY_CNT);
	__type(key, __u32);
	__type(value, struct event_scratch);
};
extern struct events_map events SEC(".maps");
/* By probe number: events a process and second that are sent; set by obrec. */
extern const volatile __u32 event_rates[64];

/* May another event of this process be sent now? */
int event_within_rate(__u32 probe, __u32 tgid);
/* Takes the current task's stacks, as raw addresses in the scratch's kernel_frames, and walks. */
int event_user_stack(__u32 entry);

static __always_inline void *event_scratch_of(__u32 entry)
{
	return bpf_map_lookup_elem(&events, &entry);
}

/* The record's buffer with the scratch claimed; NULL: it is not sent, and was counted. `comm` may
 * be NULL: the current task's. */
static __always_inline void *event_begin(__u32 entry, __u32 number, __u32 probe, __u64 who,
					 const char *comm, __u32 comm_at)
{
	struct metric_key key = {};
	struct event_scratch *e;
	struct scratch *s;

	if (comm)
		metric_key_comm(&key, comm);
	else
		bpf_get_current_comm(key.part, WIRE_COMM_LEN);
	count_add(probe, SERIES_EVENTS, &key, 0);
	if (!event_within_rate(probe, who >> 32)) {
		count_add(probe, SERIES_THROTTLED, &key, 0);
		return NULL;
	}
	s = scratch_claim(entry);
	if (!s)
		return NULL;
	e = event_scratch_of(entry);
	if (!e) {
		scratch_release(s);
		return NULL;
	}
	__builtin_memset(e->fields, 0, sizeof(e->fields));
	e->hdr.kind = WIRE_EVENT;
	e->hdr.probe = number;
	e->fields[0] = bpf_ktime_get_ns();
	e->fields[1] = who;
	__builtin_memcpy((char *)e + comm_at, key.part, WIRE_COMM_LEN);
	return e;
}

#define EVENT_BEGIN_AS(name, entry, who, comm_)                                                    \
	event_begin(entry, EVENT_##name, PROBE_##name, who, comm_,                                 \
		    __builtin_offsetof(struct event_##name, task_comm))
#define EVENT_BEGIN(name, entry, who) EVENT_BEGIN_AS(name, entry, who, NULL)

/* The current task's kernel and user stack into the scratch's sample; for programs that run in its
 * context and have claimed the scratch. */
static __always_inline void stacks_take(void *ctx, __u32 entry)
{
	struct scratch *s = scratch_of(entry);
	__u64 id = bpf_get_current_pid_tgid();
	long sz;

	if (!s)
		return;
	s->sample.hdr.probe = 0;
	s->sample.tgid = id >> 32;
	s->sample.user_stack = 0;
	sz = bpf_get_stack(ctx, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
	stack_take_kernel(entry, sz > 0 ? (__u64)sz / 8 : 0, false);
	event_user_stack(entry);
}

/* The same into the event. */
static __always_inline void event_stacks(void *ctx, __u32 entry, void *event)
{
	struct scratch *s = scratch_of(entry);
	struct event_scratch *e = event;

	if (!s)
		return;
	stacks_take(ctx, entry);
	e->fields[2] = s->sample.user_stack;
	e->fields[3] = s->sample.kernel_stack;
}

/* A string of the current process's, behind `at` bytes of others; how long it is. */
static __always_inline __u32 event_user_str(char *text, __u32 at, const void *from)
{
	long n;

	at &= EVENT_TEXT_MAX / 2 - 1;
	n = bpf_probe_read_user_str(text + at, EVENT_STR_MAX, from);
	return n > 0 && n <= EVENT_STR_MAX ? n - 1 : 0;
}

static __always_inline void event_send(__u32 entry, void *event, __u32 fixed_sz, __u32 text_sz)
{
	struct scratch *s = scratch_of(entry);
	struct event_scratch *e = event;
	__u64 size = (fixed_sz + (text_sz & (EVENT_TEXT_MAX - 1)) + 7) & ~7ULL;

	e->hdr.size = size;
	ring_output(e, size, sizeof(*e), LOSS_RING_EVENT);
	if (s)
		scratch_release(s);
}

#define EVENT_SEND(name, e, entry, text_sz)                                                        \
	event_send(entry, e, __builtin_offsetof(struct event_##name, text), text_sz)

#endif
