/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Waits for locks of programs: futexes.
 *
 * A futex is a word in memory; the kernel does not know what it is for, and most waits are not for
 * locks: idle workers, joins. Where the word or the memory behind it names the thread that holds a
 * lock, the owner, the wait is one for a lock, and its time is also accounted to who releases it:
 *
 *   PI and robust futexes   the owner's tid in the low 30 bits of the word (futex(2))
 *   glibc's mutexes         word 2, the owner's tid 8 bytes behind it (struct __pthread_mutex_s)
 *
 * The tid is in the process's own pid namespace, and is believed only if the process has such a
 * thread.
 */
#include "bpf/probe/lock.bpf.h"
#include "bpf/syscall_args.bpf.h"

const volatile __u64 lock_min_ns;    /* waits of this length or more become events */
const volatile __u64 lock_period_ns; /* shorter waits are sampled; 0: each is one */

/* Not static: see block_ops. */
const char lock_operations[LOCK_OPERATION_CNT][LOCK_OPERATION_LEN] = {
#define X(number, name, text) [number] = text,
	LOCK_OPERATIONS(X)
#undef X
};

/* futex(2): what else the programs look at. */
enum {
	FUTEX_WAKE = 1,
	FUTEX_REQUEUE = 3,
	FUTEX_CMP_REQUEUE = 4,
	FUTEX_WAKE_OP = 5,
	FUTEX_UNLOCK_PI = 7,
	FUTEX_WAKE_BITSET = 10,
};
#define IS_WAKE(op)                                                                                \
	(1u << (op) & (1 << FUTEX_WAKE | 1 << FUTEX_REQUEUE | 1 << FUTEX_CMP_REQUEUE |             \
		       1 << FUTEX_WAKE_OP | 1 << FUTEX_UNLOCK_PI | 1 << FUTEX_WAKE_BITSET))

struct lock_calls_map lock_calls SEC(".maps");

/*
 * Locks with threads that wait. `state` is their number in the low 16 bits and above that the sum
 * of the times, in LOCK_TICK, since which each one's waiting is accounted to nobody: at time t,
 * that is number * t - sum. Both in one word, so that each change is one atomic addition.
 */
#define LOCK_TICK_SHIFT 10
struct lock_word {
	__u64 state;
	__u64 released; /* tick of the last release */
};
struct lock_place {
	__u64 address;
	__u64 tgid;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct lock_place);
	__type(value, struct lock_word);
} lock_words SEC(".maps");

struct lock_owners_map lock_owners SEC(".maps");

/* Of lock_holder.bpf.c; libbpf 1.1 links only objects that come after a map's own. */
struct lock_holders_map lock_holders SEC(".maps");
__u8 lock_asked[LOCK_ASKED];

/* ---- owners */

/* A process with more threads has owners that are not known. */
#define LOCK_THREADS 512

/* Real tid of the current process's thread `tid`; 0: it has none. */
__noinline int lock_owner(__u32 tid)
{
	struct lock_thread key = {.tgid = bpf_get_current_pid_tgid() >> 32, .tid = tid};
	struct task_struct___lock *task = (void *)bpf_get_current_task();
	struct lock_owner *known, owner = {};
	struct list_head *head, *node;
	__u64 at;

	if (!tid)
		return 0;
	known = bpf_map_lookup_elem(&lock_owners, &key);
	if (known) {
		struct task_struct___lock *last = (void *)known->task;

		if (BPF_CORE_READ(last, pid) == known->tid)
			return known->tid;
	}
	at = tid_place(task);
	head = (void *)BPF_CORE_READ(task, signal) +
	       bpf_core_field_offset(struct signal_struct, thread_head);
	node = BPF_CORE_READ(head, next);
	for (int i = 0; i < LOCK_THREADS && node && node != head; i++) {
		task = (void *)node - bpf_core_field_offset(struct task_struct___lock, thread_node);
		if (tid_in_namespace(task, at) == tid) {
			owner.task = (__u64)task;
			owner.tid = BPF_CORE_READ(task, pid);
			bpf_map_update_elem(&lock_owners, &key, &owner, BPF_ANY);
			return owner.tid;
		}
		node = BPF_CORE_READ(node, next);
	}
	return 0;
}

/* What may be the tid of who holds a lock at this address, which `operation` waits for. */
static __always_inline __u32 owner_at(const __u32 *address, __u32 value, __u32 operation)
{
	struct glibc_mutex m = {};
	__u32 type = 0;

	if (!lock_may_own(value, operation))
		return 0;
	bpf_probe_read_user(&m, sizeof(m), address);
	if (lock_is_pi(operation))
		return m.lock & LOCK_TID_MASK;
	if (value == 2)
		return lock_is_glibc(&m, 0) ? m.owner : 0;
	if (lock_is_glibc(&m, GLIBC_ROBUST))
		return value & LOCK_TID_MASK;
	bpf_probe_read_user(&type, sizeof(type), address - 1);
	return lock_is_musl(type) ? value & LOCK_TID_MASK : 0;
}

/* ---- who waits and who releases */

static __always_inline struct lock_word *word_of(__u64 address)
{
	struct lock_place place = {address, bpf_get_current_pid_tgid() >> 32};

	return bpf_map_lookup_elem(&lock_words, &place);
}

static __always_inline struct lock_word *word_new(__u64 address)
{
	struct lock_place place = {address, bpf_get_current_pid_tgid() >> 32};
	struct lock_word none = {};

	bpf_map_update_elem(&lock_words, &place, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&lock_words, &place);
}

#define LOCK_TICK(ns) ((ns) >> LOCK_TICK_SHIFT)

static __always_inline void word_wait(__u64 address, __u64 begin_ns)
{
	struct lock_word *w = word_of(address);

	if (!w)
		w = word_new(address);
	if (w)
		add_atomically(&w->state, LOCK_TICK(begin_ns) << 16 | 1);
}

static __always_inline void word_waited(__u64 address, __u64 begin_ns)
{
	struct lock_word *w = word_of(address);
	__u64 since = LOCK_TICK(begin_ns);

	if (!w || !(w->state & 0xffff))
		return;
	if (w->released > since)
		since = w->released;
	add_atomically(&w->state, -(since << 16 | 1));
}

/* Time that threads have waited for who releases the lock now. */
__noinline int lock_release(__u64 address, __u64 now)
{
	struct lock_word *w = word_of(address);
	__u64 state, ticks;

	if (!w)
		return 0;
	state = w->state;
	now = LOCK_TICK(now);
	ticks = ((state & 0xffff) * now - (state >> 16)) & (~0ULL >> 16);
	if (!(state & 0xffff) || ticks >> 31)
		return 0;
	w->released = now;
	add_atomically(&w->state, ticks << 16);
	return ticks;
}

static __always_inline int lock_wake(void *ctx, __u64 address)
{
	__u64 id = bpf_get_current_pid_tgid(), ns, weight;

	if (!enabled || !is_recorded(id >> 32))
		return 0;
	if (lock_asked[id & (LOCK_ASKED - 1)])
		lock_holder_take(ctx, id, LOCK_RELEASED);
	ns = (__u64)(__u32)lock_release(address, bpf_ktime_get_ns()) << LOCK_TICK_SHIFT;
	weight = ns ? lock_weight(ns) : 0;
	if (weight)
		lock_sample(ctx, ENTRY_TRACEPOINT, SAMPLE_unlock, 0, weight);
	return 0;
}

static __always_inline void holder_ask(__u32 tid)
{
	struct lock_thread key = {.tgid = bpf_get_current_pid_tgid() >> 32, .tid = tid};
	struct lock_owner *owner;

	if (!lock_owner(tid) || !lock_holder_ask(tid))
		return;
	owner = bpf_map_lookup_elem(&lock_owners, &key);
	if (owner)
		lock_holder_asleep(owner->tid, owner->task);
}

/* key: in lock_calls. The entry is put together in the scratch: the stack has no room for it. */
static __always_inline int lock_wait_as(__u64 key, __u64 address, __u32 value, __u32 operation,
					__u64 user_stack)
{
	struct lock_call *call = event_scratch_of(ENTRY_TRACEPOINT);
	__u64 now = bpf_ktime_get_ns();
	__u32 owner = owner_at((void *)address, value, operation);

	if (!call)
		return 0;
	*call = (struct lock_call){.begin_ns = now,
				   .user_stack = user_stack,
				   .address = address,
				   .who = bpf_get_current_pid_tgid(),
				   .value = value,
				   .operation = operation,
				   .owner = owner};
	bpf_get_current_comm(call->comm, sizeof(call->comm));
	task_process_name(call->process, (void *)bpf_get_current_task(), false);
	if (bpf_map_update_elem(&lock_calls, &key, call, BPF_ANY))
		loss_count(LOSS_PENDING);
	if (owner) {
		word_wait(address, now);
		holder_ask(owner);
	}
	return 0;
}

static __always_inline int lock_wait(__u64 address, __u32 value, __u32 operation)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (!enabled || !is_recorded(id >> 32))
		return 0;
	return lock_wait_as((__u32)id, address, value, operation, 0);
}

/* ---- ends of waits */

/* A function, as its key would be too much for the stack of programs that also take stacks. */
static __noinline int lock_count(const struct lock_call *call, __u32 error, __u64 ns)
{
	struct metric_key key = {};
	__u32 operation = call->operation;

	metric_key_comm(&key, call->process);
	key.part[LOCK_PART_OPERATION] = operation;
	if (error != 11) /* EAGAIN: the word had changed */
		hist_add_coarse(PROBE_lock, SERIES_lock_latency, &key, ns);
	key.part[LOCK_PART_ERROR] = error;
	count_add(PROBE_lock, SERIES_lock_ended, &key, ns);
	return 0;
}

static __always_inline void lock_send(const struct lock_call *call, __u32 owner, __u32 error,
				      __u64 ns, bool sampled)
{
	struct event_lock *e =
		EVENT_BEGIN_AS(lock, ENTRY_TRACEPOINT, call->who, call->comm, call->process);
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	__u32 operation = call->operation & (LOCK_OPERATION_CNT - 1);
	long n;

	if (!e)
		return;
	e->address = call->address;
	e->value = call->value;
	e->wait_ns = ns;
	e->error = error;
	e->owner = owner;
	e->before_ns = call->before_ns;
	if (!sampled && !call->user_stack)
		user_stack_take(ENTRY_TRACEPOINT);
	if (call->user_stack)
		e->user_stack = call->user_stack;
	else if (s)
		e->user_stack = s->sample.user_stack;
	e->kernel_stack = 0;
	n = bpf_probe_read_kernel_str(e->text, LOCK_OPERATION_LEN, lock_operations[operation]);
	e->operation = n > 0 ? (n - 1) & (LOCK_OPERATION_LEN - 1) : 0;
	EVENT_SEND(lock, e, ENTRY_TRACEPOINT, e->operation);
}

static __always_inline void lock_waited(void *ctx, __u64 key, const struct lock_call *call,
					long ret)
{
	__u64 ns = bpf_ktime_get_ns() - call->begin_ns, weight;
	__u32 error = ret < 0 ? -ret : 0, owner;
	bool sampled = false;

	if (call->owner && !call->early)
		word_waited(call->address, call->begin_ns);
	if (!enabled)
		return;
	if (error >= 512) /* ERESTARTSYS and its like, which programs do not see */
		error = LOCK_EINTR;
	lock_count(call, error, ns);
	weight = lock_weight(ns);
	if (!weight && ns < lock_min_ns)
		return;
	owner = lock_owner(call->owner);
	if (weight)
		sampled = lock_sample(ctx, ENTRY_TRACEPOINT, owner ? SAMPLE_lock : SAMPLE_futex,
				      call->user_stack, weight);
	if (ns >= lock_min_ns)
		lock_send(call, owner, error, ns, sampled);
	if (owner)
		lock_holder_tell(key, owner, ns, weight);
}

static __always_inline int lock_wait_end(struct syscall_exit *ctx)
{
	__u64 tid = (__u32)bpf_get_current_pid_tgid();
	struct lock_call *call = bpf_map_lookup_elem(&lock_calls, &tid);

	if (!call)
		return 0;
	lock_waited(ctx, tid, call, ctx->ret);
	bpf_map_delete_elem(&lock_calls, &tid);
	return 0;
}

SEC("?tracepoint/syscalls/sys_enter_futex")
int lock_enter_futex(struct syscall_enter *ctx)
{
	__u32 op = ctx->args[1] & LOCK_CMD_MASK;

	if (op > LOCK_LOCK_PI2)
		return KEEP_SAMPLES;
	if (LOCK_IS_WAIT(op))
		UNPREEMPTED(lock_wait(ctx->args[0], ctx->args[2], op));
	else if (IS_WAKE(op))
		UNPREEMPTED(lock_wake(ctx, ctx->args[0]));
	return KEEP_SAMPLES;
}

SEC("?tracepoint")
int lock_exit(struct syscall_exit *ctx)
{
	UNPREEMPTED(lock_wait_end(ctx));
	return KEEP_SAMPLES;
}

/* 6.7, 9f6c532f59b2 ("futex: Add sys_futex_wake()") and following ones. */
SEC("?tracepoint/syscalls/sys_enter_futex_wake")
int lock_enter_futex_wake(struct syscall_enter *ctx)
{
	UNPREEMPTED(lock_wake(ctx, ctx->args[0]));
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_enter_futex_wait")
int lock_enter_futex_wait(struct syscall_enter *ctx)
{
	UNPREEMPTED(lock_wait(ctx->args[0], ctx->args[1], LOCK_CALL_WAIT));
	return KEEP_SAMPLES;
}

/* Of the words that it waits for, the first is recorded. */
struct first_word {
	__u64 value, address; /* struct futex_waitv */
};
static __always_inline struct first_word first_of(__u64 words)
{
	struct first_word w = {};

	bpf_probe_read_user(&w, sizeof(w), (void *)words);
	return w;
}

SEC("?tracepoint/syscalls/sys_enter_futex_waitv")
int lock_enter_futex_waitv(struct syscall_enter *ctx)
{
	struct first_word w = first_of(ctx->args[0]);

	UNPREEMPTED(lock_wait(w.address, w.value, LOCK_CALL_WAITV));
	return KEEP_SAMPLES;
}

/*
 * Futexes of io_uring (6.7, 194bb58c6090 "io_uring: add support for futex wake and wait" and
 * following ones). A wait lasts from its submission to its completion, while its thread goes on:
 * its stack is that of the submission.
 */
enum {
	URING_FUTEX_WAIT = 51,
	URING_FUTEX_WAKE = 52,
	URING_FUTEX_WAITV = 53
}; /* enum io_uring_op */
struct io_cqe {
	int res;
} __attribute__((preserve_access_index));
struct io_kiocb {
	__u8 opcode;
	struct io_cqe cqe;
} __attribute__((preserve_access_index));
struct io_futex { /* at the start of the request */
	void *uaddr;
	unsigned long futex_val;
} __attribute__((preserve_access_index));

__u64 lock_uring_waits; /* in progress */

static __always_inline __u64 lock_uring_stack(void)
{
	struct scratch *s = scratch_claim(ENTRY_TRACEPOINT);
	__u64 stack;

	if (!s)
		return 0;
	user_stack_take(ENTRY_TRACEPOINT);
	stack = s->sample.user_stack;
	scratch_release(s);
	return stack;
}

static __always_inline int uring_submit(struct bpf_raw_tracepoint_args *ctx)
{
	struct io_kiocb *req = (void *)ctx->args[0];
	struct io_futex *futex = (void *)req;
	struct first_word w = {};
	__u32 op;

	op = BPF_CORE_READ(req, opcode);
	if (op < URING_FUTEX_WAIT || op > URING_FUTEX_WAITV || !enabled ||
	    !is_recorded(bpf_get_current_pid_tgid() >> 32))
		return 0;
	w.address = (__u64)BPF_CORE_READ(futex, uaddr);
	if (op == URING_FUTEX_WAKE)
		return lock_wake(ctx, w.address);
	w.value = BPF_CORE_READ(futex, futex_val);
	if (op == URING_FUTEX_WAITV)
		w = first_of(w.address);
	add_atomically(&lock_uring_waits, 1);
	return lock_wait_as((__u64)req, w.address, w.value,
			    op == URING_FUTEX_WAIT ? LOCK_URING_WAIT : LOCK_URING_WAITV,
			    lock_uring_stack());
}

SEC("?raw_tp/io_uring_submit_req")
int lock_uring_submit(struct bpf_raw_tracepoint_args *ctx)
{
	return UNPREEMPTED(uring_submit(ctx));
}

static __always_inline int uring_complete(struct bpf_raw_tracepoint_args *ctx)
{
	struct io_kiocb *req = (void *)ctx->args[1];
	__u64 key = (__u64)req;
	struct lock_call *call;

	if (!lock_uring_waits)
		return 0;
	call = bpf_map_lookup_elem(&lock_calls, &key);
	if (!call)
		return 0;
	add_atomically(&lock_uring_waits, -1ULL);
	lock_waited(ctx, key, call, BPF_CORE_READ(req, cqe.res));
	bpf_map_delete_elem(&lock_calls, &key);
	return 0;
}

SEC("?raw_tp/io_uring_complete")
int lock_uring_complete(struct bpf_raw_tracepoint_args *ctx)
{
	return UNPREEMPTED(uring_complete(ctx));
}
