/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Waits for the kernel's own locks, from contention_begin to contention_end (5.19, 16edd9b511a1,
 * "locking: Add lock contention tracepoints"). The tracepoints give an address and what kind of
 * lock it is. A lock is named by its address if that is a variable of the kernel, else by the
 * structure of the waiting thread that contains it, if it is one of LOCK_CLASSES. Who holds it is
 * read when the wait begins: a mutex and an rt_mutex have their owner's task_struct in them, an
 * rwsem that of its writer.
 */
#include "bpf/probe/lock.bpf.h"

const volatile __u64 lock_kernel_min_ns; /* waits of this length or more become events */
/* Variables of the kernel and of its modules; first address and size. */
const volatile __u64 lock_variables[LOCK_VARIABLES][2];
/* Functions that take locks; as above. The caller is the first of the stack behind them. */
const volatile __u64 lock_functions[LOCK_FUNCTIONS][2];

/* tracefs: events/lock/contention_begin/format and contention_end/format */
struct contention {
	__u64 common;
	__u64 lock;
	__u32 flags; /* at the end the result */
};

/* A spinning wait may interrupt another one, or be within a sleeping one. */
struct kernel_wait_at {
	__u64 lock;
	__u64 tid;
};
struct kernel_wait {
	__u64 begin_ns;
	__u64 name;   /* LOCK_PART_LOCK */
	__u64 caller; /* an address in the function that waits; 0: not known */
	__u32 flags;
	__u32 owner_tgid, owner; /* 0: not known */
	char owner_comm[WIRE_COMM_LEN];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct kernel_wait_at);
	__type(value, struct kernel_wait);
} lock_kernel_waits SEC(".maps");

/* ---- which lock, and who holds it */

/* Any lock, whose offset only is used; clang 22 fails on structs without members. */
struct some_lock {
	int any;
};
struct mm_struct___lock {
	struct some_lock mmap_lock; /* 5.8; before mmap_sem */
} __attribute__((preserve_access_index));
struct sighand_struct {
	struct some_lock siglock;
} __attribute__((preserve_access_index));
struct files_struct___lock {
	struct some_lock file_lock;
} __attribute__((preserve_access_index));
struct task_struct___locks {
	struct mm_struct___lock *mm;
	struct sighand_struct *sighand;
	struct files_struct___lock *files;
} __attribute__((preserve_access_index));

#define IS_MEMBER(pointer, type, member)                                                           \
	(lock - (__u64)BPF_CORE_READ(task, pointer) == bpf_core_field_offset(struct type, member))

static __always_inline __u64 lock_name(__u64 lock)
{
	struct task_struct___locks *task = (void *)bpf_get_current_task();

	for (int i = 0; i < LOCK_VARIABLES; i++)
		if (lock - lock_variables[i][0] < lock_variables[i][1])
			return lock;
	if (IS_MEMBER(mm, mm_struct___lock, mmap_lock))
		return LOCK_CLASS_MMAP;
	if (IS_MEMBER(sighand, sighand_struct, siglock))
		return LOCK_CLASS_SIGNALS;
	if (IS_MEMBER(files, files_struct___lock, file_lock))
		return LOCK_CLASS_FILES;
	return 0;
}

/* Owner words, whose lowest bits are flags. */
struct mutex {
	struct {
		long counter;
	} owner; /* not with PREEMPT_RT, where it is an rt_mutex */
} __attribute__((preserve_access_index));
struct rw_semaphore {
	struct {
		long counter;
	} count, owner; /* likewise */
} __attribute__((preserve_access_index));
struct rt_mutex_base {
	void *owner;
} __attribute__((preserve_access_index));
enum { MUTEX_FLAGS = 7, RWSEM_WRITER_LOCKED = 1, RWSEM_READER_OWNED = 1, RWSEM_FLAGS = 3 };

static __always_inline __u64 owner_of_rwsem(struct rw_semaphore *sem)
{
	__u64 owner = BPF_CORE_READ(sem, owner.counter);

	if (!(BPF_CORE_READ(sem, count.counter) & RWSEM_WRITER_LOCKED) ||
	    owner & RWSEM_READER_OWNED)
		return 0;
	return owner & ~(__u64)RWSEM_FLAGS;
}

/* The task_struct of who holds the lock; 0: not known. */
static __always_inline __u64 owner_task(__u64 lock, __u32 flags)
{
	struct rw_semaphore *sem = (void *)lock;
	struct mutex *mutex = (void *)lock;

	if (flags & LCB_F_MUTEX)
		return bpf_core_field_exists(mutex->owner)
			       ? BPF_CORE_READ(mutex, owner.counter) & ~(__u64)MUTEX_FLAGS
			       : 0;
	if (flags == LCB_F_READ || flags == LCB_F_WRITE)
		return bpf_core_field_exists(sem->owner) ? owner_of_rwsem(sem) : 0;
	return 0;
}

static __always_inline void owner_take(struct kernel_wait *wait, __u64 lock)
{
	struct task_struct *task = (void *)owner_task(lock, wait->flags);

	if (!task)
		return;
	wait->owner = BPF_CORE_READ(task, pid);
	wait->owner_tgid = BPF_CORE_READ(task, tgid);
	bpf_probe_read_kernel(wait->owner_comm, sizeof(wait->owner_comm), task->comm);
}

/* ---- who waits */

static __always_inline bool takes_locks(__u64 address)
{
	for (int i = 0; i < LOCK_FUNCTIONS; i++)
		if (address - lock_functions[i][0] < lock_functions[i][1])
			return true;
	return false;
}

/* A function, for its frame. On top of the functions that take locks may be those of the tracepoint
 * and, before 6.1, the part that waits. */
static __noinline __u64 lock_caller(void *ctx)
{
	__u64 at[LOCK_CALLERS];
	long sz = bpf_get_stack(ctx, at, sizeof(at), 0);
	bool within = false;

	for (int i = 0; i < LOCK_CALLERS; i++) {
		if (i * 8 >= sz)
			break;
		if (takes_locks(at[i]))
			within = true;
		else if (within)
			return at[i];
	}
	return 0;
}

SEC("?tracepoint/lock/contention_begin")
int lock_contention_begin(struct contention *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct kernel_wait_at at = {.lock = ctx->lock, .tid = (__u32)id};
	struct kernel_wait wait = {.flags = ctx->flags}, *before;

	if (!enabled || !is_recorded(id >> 32))
		return KEEP_SAMPLES;
	/* A wait for a mutex begins more than once: the thread spins, sleeps, and spins again when
	 * it is woken as the first of those that wait (__mutex_lock_common()). Its flags tell
	 * whether it slept. */
	before = bpf_map_lookup_elem(&lock_kernel_waits, &at);
	if (before && before->flags & wait.flags & LCB_F_MUTEX) {
		before->flags &= wait.flags;
		if (!before->owner)
			owner_take(before, at.lock);
		return KEEP_SAMPLES;
	}
	wait.begin_ns = bpf_ktime_get_ns();
	wait.name = lock_name(at.lock);
	wait.caller = lock_caller(ctx);
	owner_take(&wait, at.lock);
	if (bpf_map_update_elem(&lock_kernel_waits, &at, &wait, BPF_ANY))
		loss_count(LOSS_PENDING);
	return KEEP_SAMPLES;
}

/* ---- ends of waits */

static __noinline int lock_count_kernel(struct kernel_wait *wait, __u64 ns)
{
	struct metric_key key = {};

	if (!wait)
		return 0;
	metric_key_process(&key);
	key.part[LOCK_PART_KIND] = wait->flags;
	hist_add_coarse(PROBE_lock, SERIES_lock_kernel, &key, ns);
	key.part[LOCK_PART_LOCK] = wait->name;
	key.part[LOCK_PART_CALLER] = wait->caller;
	hist_add_coarse(PROBE_lock, SERIES_lock_kernel_locks, &key, ns);
	return 0;
}

/* A row, whose texts obrec writes: it is sent with numbers in their places, and the owner's name.
 */
static __always_inline void send_kernel(void *ctx, __u64 lock, const struct kernel_wait *wait,
					__u32 error, __u64 ns, bool sampled)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct event_klock *e = EVENT_BEGIN_OF(lock, klock, SERIES_lock_klock_events, id >> 32,
					       ENTRY_INTERRUPT, id, NULL, NULL);
	struct scratch *s = scratch_of(ENTRY_INTERRUPT);

	if (!e)
		return;
	e->hdr.kind = WIRE_KLOCK;
	if (!sampled)
		event_stacks(ctx, ENTRY_INTERRUPT, e);
	else if (s) {
		e->user_stack = s->sample.user_stack;
		e->kernel_stack = s->sample.kernel_stack;
	}
	e->address = lock;
	e->lock = wait->name;
	e->kind = wait->flags;
	e->caller = wait->caller;
	e->wait_ns = ns;
	e->error = error;
	e->owner = wait->owner;
	e->owner_pid = wait->owner_tgid;
	e->owner_comm = WIRE_COMM_LEN;
	bpf_probe_read_kernel(e->text, WIRE_COMM_LEN, wait->owner_comm);
	EVENT_SEND(klock, e, ENTRY_INTERRUPT, WIRE_COMM_LEN);
}

SEC("?tracepoint/lock/contention_end")
int lock_contention_end(struct contention *ctx)
{
	struct kernel_wait_at at = {.lock = ctx->lock, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct kernel_wait *wait = bpf_map_lookup_elem(&lock_kernel_waits, &at);
	__u64 ns, weight;
	bool sampled = false;

	if (!wait)
		return KEEP_SAMPLES;
	ns = bpf_ktime_get_ns() - wait->begin_ns;
	if (enabled) {
		lock_count_kernel(wait, ns);
		weight = lock_weight(ns);
		if (weight)
			sampled = lock_sample(ctx, ENTRY_INTERRUPT, SAMPLE_klock, 0, weight);
		if (ns >= lock_kernel_min_ns)
			send_kernel(ctx, at.lock, wait, -ctx->flags, ns, sampled);
	}
	bpf_map_delete_elem(&lock_kernel_waits, &at);
	return KEEP_SAMPLES;
}
