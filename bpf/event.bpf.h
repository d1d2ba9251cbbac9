/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Typed events, for use in any probe:
 *
 *	struct event_open *e = EVENT_BEGIN(open, ENTRY_TRACEPOINT, bpf_get_current_pid_tgid());
 *
 *	if (!e)
 *		return 0;
 *	event_stacks(ctx, ENTRY_TRACEPOINT, open_stack);
 *	e->path = EVENT_LEN(event_user_text(ENTRY_TRACEPOINT, EVENT_TEXT_AT(open), path));
 *	EVENT_SEND(open, e, ENTRY_TRACEPOINT, e->path);
 *
 * Every event is first counted by process in the probe's series `events`. Per process and second,
 * at most the probe's rate is sent; further events are counted in the series `throttled`. An event
 * that does not fit into the ring buffer is counted as lost.
 *
 * Events of a probe's other records are begun with EVENT_BEGIN_OF() and counted in two series of
 * their own, one after the other: NAME_events and NAME_throttled.
 */
#ifndef BPF_EVENT_BPF_H
#define BPF_EVENT_BPF_H

#include "bpf/event.h"
#include "bpf/metric.bpf.h"

/* Protected by the claim of the scratch of the same entry context. */
struct event_scratch {
	struct wire_hdr hdr;
	__u64 fields[EVENT_FIELDS_MAX];
	char rest[WIRE_COMM_LEN + EVENT_TEXT_MAX];
	struct event_path {
		__u64 node, mount; /* to be prepended next */
		__u64 root, root_mount;
		__u64 at; /* start of what is built so far */
	} path;
};
struct events_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ENTRY_CNT);
	__type(key, __u32);
	__type(value, struct event_scratch);
};
extern struct events_map events SEC(".maps");
/* Maximum of events sent per process and second, by probe number; set by obrec. */
extern const volatile __u32 event_rates[64];

/* Whether another event of this process may be sent now. */
int event_within_rate(__u32 probe, __u32 tgid);
/*
 * Append to the text of the event in progress. `at`: position in the record (EVENT_TEXT_AT). They
 * return the number of bytes added, without NUL; plus EVENT_CUT if these are not all: the string is
 * longer than EVENT_STR_MAX or the room left, or not readable.
 */
int event_user_text(__u32 entry, __u32 at, __u64 from);
int event_kernel_text(__u32 entry, __u32 at, __u64 from);
/* As above, `len` bytes of the current process, which may contain NULs. */
int event_user_bytes(__u32 entry, __u32 at, __u64 from, __u32 len);
/* As above, the absolute path of a directory entry, as the current process sees it. A path of more
 * than EVENT_PATH_DEPTH components, or too long, starts with "...". */
int event_path(__u32 entry, __u32 at, __u64 dentry, __u64 mount);
int event_cwd(__u32 entry, __u32 at); /* of the current process */
/* As above, the path of a struct cgroup below the root of its hierarchy. */
int event_cgroup(__u32 entry, __u32 at, __u64 cgroup);
#define EVENT_CUT 0x10000
#define EVENT_LEN(n) ((n) & (EVENT_CUT - 1))
#define EVENT_TEXT_AT(name) __builtin_offsetof(struct event_##name, text)
#define EVENT_PATH_DEPTH 128
/* End of the room for text: event_send() takes less than EVENT_TEXT_MAX bytes of any record. */
#define EVENT_END (sizeof(struct wire_hdr) + WIRE_COMM_LEN + EVENT_TEXT_MAX - 8)
/* Counts a failed call of the current process in a series by process and error. */
int event_count_error(__u32 probe, __u32 series, __u32 error);
/* Walks the current task's user stack and stores its hash in the scratch's sample. */
int event_user_stack(__u32 entry);

static __always_inline void *event_scratch_of(__u32 entry)
{
	return bpf_map_lookup_elem(&events, &entry);
}

/* Counts the event; whether it may be sent. process: its name; NULL: the current one. A function,
 * as its key would be too much for the stack of programs that also take stacks: kernels before 6.12
 * allow 512 bytes for all frames together.
 */
static __noinline bool event_admit(__u32 probe, __u32 series, __u32 bound, const char *process)
{
	struct metric_key key = {};

	if (process)
		metric_key_comm(&key, process);
	else
		metric_key_process(&key);
	count_add(probe, series, &key, 0);
	if (event_within_rate(probe, bound))
		return true;
	count_add(probe, series + 1, &key, 0);
	return false;
}

/* Returns the record buffer of an admitted event and claims the scratch. NULL: it is not sent, and
 * has been counted as lost. */
static __always_inline void *event_admitted(__u32 entry, __u32 number, __u64 who, const char *comm,
					    __u32 comm_at)
{
	struct scratch *s = scratch_claim(entry);
	struct event_scratch *e;

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
	bpf_probe_read_kernel((char *)e + comm_at, WIRE_COMM_LEN, comm);
	return e;
}

/*
 * As above, of any event. NULL: it is not sent, and has been counted. `series`: of all events; the
 * next one is of those throttled. `bound`: tgid whose rate is limited. `comm`, `process`: names
 * of thread and process; NULL: the current ones.
 */
static __always_inline void *event_begin(__u32 entry, __u32 number, __u32 probe, __u32 series,
					 __u32 bound, __u64 who, const char *comm,
					 const char *process, __u32 comm_at)
{
	char current[WIRE_COMM_LEN];

	if (!event_admit(probe, series, bound, process))
		return NULL;
	if (!comm) {
		bpf_get_current_comm(current, sizeof(current));
		comm = current;
	}
	return event_admitted(entry, number, who, comm, comm_at);
}

/* For a probe that admits events and counts them itself. */
#define EVENT_ADMITTED(name, entry, who, comm)                                                     \
	event_admitted(entry, EVENT_##name, who, comm,                                             \
		       __builtin_offsetof(struct event_##name, task_comm))
#define EVENT_BEGIN_OF(probe, name, series, bound, entry, who, comm_, process)                     \
	event_begin(entry, EVENT_##name, PROBE_##probe, series, bound, who, comm_, process,        \
		    __builtin_offsetof(struct event_##name, task_comm))
#define EVENT_BEGIN_AS(name, entry, who, comm_, process)                                           \
	EVENT_BEGIN_OF(name, name, SERIES_EVENTS, (who) >> 32, entry, who, comm_, process)
#define EVENT_BEGIN(name, entry, who) EVENT_BEGIN_AS(name, entry, who, NULL, NULL)

/* Stores the current task's user stack in the scratch's sample, and that it has no kernel stack: at
 * the begin and end of a system call, that would be of the tracepoint alone. As stacks_take(). */
static __always_inline void user_stack_take(__u32 entry)
{
	struct scratch *s = scratch_of(entry);

	if (!s)
		return;
	s->sample.hdr.probe = 0;
	s->sample.tgid = bpf_get_current_pid_tgid() >> 32;
	s->sample.user_stack = s->sample.kernel_stack = 0;
	event_user_stack(entry);
}

/* Stores the current task's kernel and user stack in the scratch's sample. For programs that run in
 * the context of the task and have claimed the scratch. */
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

/* As stacks_take(), and stores both stacks in the event. */
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
