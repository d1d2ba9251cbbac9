/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Memory that programs allocate, and what of it is in use.
 *
 * Sampled by bytes: the bytes that all calls ask for, one after the other, are a line on which
 * samples are points of a Poisson process of mean distance alloc_rate. A call is sampled if a point
 * lies in its bytes, which has the probability 1-exp(-size/rate); obrec weights it by the inverse.
 * Calls between two points cost a trap, the filter, and a subtraction. At rate 0 each byte is a
 * point.
 *
 * The allocators' functions are probed in alloc_call.bpf.c, Go's in alloc_go.bpf.c.
 */
#include "bpf/probe/alloc.bpf.h"

const volatile __u64 alloc_rate = 512 << 10;
const volatile __u64 alloc_age_ns;
const volatile bool alloc_follow;

__u64 alloc_cpus[WIRE_MAX_CPUS][sizeof(struct alloc_cpu) / 8];
bool alloc_detached;
__u32 alloc_level;

struct alloc_live_map alloc_live SEC(".maps");
struct alloc_calls_map alloc_calls SEC(".maps");
struct alloc_tails_map alloc_tails SEC(".maps");
struct alloc_files_map alloc_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct alloc_proc);
} alloc_procs SEC(".maps");

/* ---- which calls are sampled */

/*
 * Exponential: rate * -ln(u), u = r / 2^32. The logarithm to the base 2 is computed bit by bit, by
 * squaring; as it runs once a sample, it need not be fast. Without branches, and global, so that it
 * is verified once.
 */
__noinline __u64 alloc_gap(__u64 rate)
{
	__u64 r = bpf_get_prandom_u32() | 1, x, log2 = 0, e, bit;
	__u32 top = metric_log2(r) & 31;

	x = r << (31 - top);
	for (int i = 15; i >= 0; i--) {
		x = x * x >> 31;
		bit = x >> 32 & 1;
		x >>= bit;
		log2 |= bit << i;
	}
	e = (32ULL << 16) - ((__u64)top << 16) - log2;
	e = e * 45426 >> 16; /* ln 2 */
	return (e * rate >> 16) + 1;
}

__noinline int alloc_due(__u64 size)
{
	struct alloc_cpu *cpu = alloc_cpu();

	for (int i = 0; i < ALLOC_SLOTS; i++) {
		struct alloc_slot *s = &cpu->slot[i];
		__s64 gap;

		if (!claim(&s->busy))
			continue;
		s->calls++;
		s->bytes += size;
		gap = s->gap - size;
		s->gap = gap > 0 ? gap : (__s64)alloc_gap(alloc_rate);
		unclaim(&s->busy);
		return gap <= 0;
	}
	loss_count(LOSS_SCRATCH);
	return 0;
}

/* ---- samples */

/*
 * Takes the stack from the caller on, if the allocator has no unwind table (musl): at the beginning
 * of the function, the return address is on top of the stack.
 */
static __always_inline void alloc_stack_of_caller(struct scratch *s, __u64 caller)
{
#if defined(__TARGET_ARCH_x86)
	struct arch_regs *to = (void *)s->walk.regs;

	if (!s->walk.stack.error || s->walk.stack.frame_cnt > 1 || !caller || current_user_regs(to))
		return;
	to->ip = caller - 1;
	to->sp += ALLOC_RETURN_SZ;
	stack_take_user(ENTRY_UPROBE);
#endif
}

static __always_inline __u32 alloc_near(const struct scratch *s)
{
	__u64 near = 0;

	for (__u32 i = 0; i < ALLOC_NEAR && i < s->walk.stack.frame_cnt; i++) {
		near = (near ^ s->walk.frames[i]) * 0x9e3779b97f4a7c15ULL;
		near ^= near >> 32;
	}
	return near;
}

/* Which file a binary is, of those that have been sampled. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4 * ALLOC_FILES);
	__type(key, __u32);
	__type(value, __u32);
} alloc_binaries SEC(".maps");

/* Whether an allocator of another file calls this one: one that is preloaded and wraps it. leaf,
 * frame: of the call's stack, the function itself and one that called it. */
__noinline int alloc_is_wrapped(__u64 leaf, __u64 frame, __u64 cookie)
{
	__u32 own = leaf >> 48, other = frame >> 48, file = ALLOC_COOKIE_FILE(cookie), *known;

	if (own == other)
		return 0;
	known = bpf_map_lookup_elem(&alloc_binaries, &own);
	if ((leaf & FRAME_ADDR_MASK) == ALLOC_COOKIE_ADDRESS(cookie) && (!known || *known != file))
		bpf_map_update_elem(&alloc_binaries, &own, &file, BPF_ANY);
	known = bpf_map_lookup_elem(&alloc_binaries, &other);
	return known && *known != file && alloc_is_own(*known, (frame & FRAME_ADDR_MASK) + 1);
}

/* It may call it by functions of its own. */
static __always_inline bool alloc_wrapped(const struct scratch *s, __u64 cookie)
{
	bool wrapped = false;

	for (__u32 i = 1; cookie && i < ALLOC_NEAR && i < s->walk.stack.frame_cnt; i++)
		wrapped |= alloc_is_wrapped(s->walk.frames[0], s->walk.frames[i], cookie);
	return wrapped;
}

/*
 * What is needed behind the walk is in the sample
 * meanwhile: on the stack there is no room for it.
 */
__noinline __u64 alloc_send(__u64 birth_ns, __u64 size, __u64 caller, __u64 rate, __u64 cookie)
{
	struct scratch *s = scratch_claim(ENTRY_UPROBE);
	__u64 id = bpf_get_current_pid_tgid(), stack;

	if (!s)
		return 0;
	s->sample = (struct wire_sample){
		.hdr.probe = SAMPLE_alloc,
		.ts_ns = birth_ns,
		.tgid = id >> 32,
		.tid = id,
		.value = size,
		.kernel_stack = caller,
	};
	*(__u64 *)s->sample.comm = cookie;
	event_user_stack(ENTRY_UPROBE);
	alloc_stack_of_caller(s, s->sample.kernel_stack);
	if (alloc_wrapped(s, *(__u64 *)s->sample.comm)) {
		scratch_release(s);
		return ALLOC_WRAPPED;
	}
	s->sample.kernel_stack = rate;
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	alloc_cpu()->near = alloc_near(s);
	stack = s->sample.user_stack;
	s->sample.hdr.kind = WIRE_ALLOC;
	s->sample.hdr.size = sizeof(s->sample);
	if (s->sample.value)
		ring_output(&s->sample, sizeof(s->sample), sizeof(s->sample), LOSS_RING_SAMPLE);
	scratch_release(s);
	return stack;
}

__noinline int alloc_send_late(__u64 birth_ns, __u64 size, __u64 stack)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct wire_sample sample = {
		.hdr = {.kind = WIRE_ALLOC, .probe = SAMPLE_alloc, .size = sizeof(sample)},
		.ts_ns = birth_ns,
		.tgid = id >> 32,
		.tid = id,
		.value = size,
		.user_stack = stack,
	};

	bpf_get_current_comm(sample.comm, sizeof(sample.comm));
	ring_output(&sample, sizeof(sample), sizeof(sample), LOSS_RING_SAMPLE);
	return 0;
}

__noinline int alloc_remember(__u64 birth_ns, __u64 size, __u64 stack, __u64 how, __u64 address)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct alloc_key key = {.address = address, .tgid = id >> 32};
	struct alloc_live live = {
		.birth_ns = birth_ns,
		.size = size,
		.stack = stack,
		.rate = how,
		.near = how >> 32,
		.tid = id,
	};

	bpf_get_current_comm(live.comm, sizeof(live.comm));
	if (bpf_map_lookup_elem(&alloc_live, &key))
		loss_count(LOSS_ALLOC_UNSEEN);
	if (bpf_map_update_elem(&alloc_live, &key, &live, BPF_ANY))
		loss_count(LOSS_ALLOC_FULL);
	return 0;
}

/* ---- processes */

static __always_inline int alloc_begins(__u32 tgid)
{
	struct alloc_proc proc = {.since_ns = bpf_ktime_get_ns()};

	return bpf_map_update_elem(&alloc_procs, &tgid, &proc, BPF_ANY);
}

SEC("?raw_tp/sched_process_fork")
int alloc_fork(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 parent = task_tgid((void *)ctx->args[0], false);
	__u32 child = task_tgid((void *)ctx->args[1], false);

	if (parent != child && is_recorded(parent))
		alloc_begins(child);
	return 0;
}

SEC("?raw_tp/sched_process_exec")
int alloc_exec(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (is_recorded(tgid))
		alloc_begins(tgid);
	return 0;
}

struct signal_struct___alloc {
	struct {
		int counter;
	} live;
} __attribute__((preserve_access_index));
struct task_struct___alloc {
	struct signal_struct___alloc *signal;
} __attribute__((preserve_access_index));

/* The process's last thread ends. */
SEC("?raw_tp/sched_process_exit")
int alloc_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct___alloc *task = (void *)ctx->args[0];
	__u64 id = bpf_get_current_pid_tgid();
	struct alloc_proc *known, proc = {};
	__u32 tgid = id >> 32, tid = id;

	bpf_map_delete_elem(&alloc_calls, &tid);
	bpf_map_delete_elem(&alloc_tails, &tid);
	if (!enabled || !is_recorded(tgid) || BPF_CORE_READ(task, signal, live.counter))
		return 0;
	known = bpf_map_lookup_elem(&alloc_procs, &tgid);
	if (known)
		proc = *known;
	proc.ended_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&alloc_procs, &tgid, &proc, BPF_ANY);
	return 0;
}
