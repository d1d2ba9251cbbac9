/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Functions of allocators: entries, returns, and free().
 *
 * An allocator's functions may call each other (calloc, malloc). Each call's bytes are its own part
 * of the line. Thus it suffices to discard samples of inner calls: those whose caller is within a
 * function of an allocator, or which were jumped to from one.
 *
 * Only of sampled calls the result is of interest, and remembered until it is freed. Where the
 * kernel has sessions (6.13), the entry decides whether the return is probed; else it is always.
 */
#include "bpf/probe/alloc.bpf.h"
#include "bpf/uprobe_page.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct alloc_place);
	__type(value, __u64);
} alloc_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ALLOC_JUMP_CNT);
	__type(key, struct alloc_jump);
	__type(value, __u8);
} alloc_jumps SEC(".maps");

/* ---- which calls are part of others */

static __always_inline __u64 alloc_caller(struct arch_ctx_regs *regs)
{
	__u64 caller = 0;

#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_user(&caller, sizeof(caller), (void *)regs->sp);
#else
	caller = UNWIND_CODE(regs->regs[30]);
#endif
	return caller;
}

__noinline int alloc_is_own(__u32 number, __u64 at)
{
	__u32 file = number & (ALLOC_FILES - 1);
	struct alloc_file *f = bpf_map_lookup_elem(&alloc_files, &file);

	if (!f)
		return 0;
	for (__u32 i = 0; i < ALLOC_FUNCS; i++) {
		if (i >= f->cnt)
			break;
		if (at > f->func[i].start && at <= f->func[i].end)
			return 1;
	}
	return 0;
}

__noinline __u64 alloc_cookie_at(__u64 ip)
{
	struct alloc_place place = {.position = ip & 0xfff};
	__u64 *known;

	bpf_probe_read_user(place.code, sizeof(place.code), (void *)ip + ALLOC_CODE_AT);
	known = bpf_map_lookup_elem(&alloc_places, &place);
	return known ? *known : 0;
}

/* What a call asks for, as alloc_tail.size. */
static __always_inline __u64 alloc_of(__u64 size, __u64 old)
{
	return old ? size | ALLOC_RESIZES : size;
}

static __always_inline bool alloc_is_realloc(__u32 kind)
{
	return kind == ALLOC_realloc || kind == ALLOC_reallocarray || kind == ALLOC_heap_realloc ||
	       kind == ALLOC_heap_reallocarray;
}

/* Whether the function at `from` may end in that at `to`. */
static __always_inline bool alloc_may_jump(__u64 from, __u64 to)
{
	struct alloc_jump jump = {from, to};
	__u32 tails = ALLOC_COOKIE_TAILS(from);

	if (tails & ALLOC_TAILS_ANY)
		return true;
	if (ALLOC_COOKIE_FILE(from) != ALLOC_COOKIE_FILE(to))
		return tails & ALLOC_TAILS_AWAY;
	return bpf_map_lookup_elem(&alloc_jumps, &jump);
}

/*
 * The call was jumped to from another one, in its frame. That one may have returned, and this be
 * another call from the same place. If its return is probed, the return address tells. Else it is
 * taken to be the same if it asks for as much.
 */
static __always_inline bool alloc_is_tail(const struct alloc_tail *t, __u64 ip, __u64 sp,
					  __u64 caller, __u64 cookie, __u64 size)
{
	__u64 from = t->cookie;

	if (t->id != bpf_get_current_pid_tgid() || t->sp != sp || t->ip == ip)
		return false;
	if (t->size & ~size & ALLOC_RESIZES)
		return false;
	if ((t->caller != caller || t->size != size) && uprobe_page() != caller)
		return false;
	if (!ALLOC_COOKIE_ADDRESS(from)) /* it then is that of the program */
		from = alloc_cookie_at(t->ip);
	return alloc_may_jump(from, cookie);
}

/* The call was jumped to from a sampled one, perhaps on another CPU. */
static __always_inline bool alloc_is_within(__u64 sp, __u64 caller)
{
	__u32 tid = bpf_get_current_pid_tgid();
	const struct alloc_call *call = bpf_map_lookup_elem(&alloc_calls, &tid);

	return call && call->sp == sp && uprobe_page() == caller;
}

/* Whether another function, which has called this one, resizes the same block. */
static __always_inline bool alloc_is_resized(__u64 old, __u64 sp)
{
	__u32 tid = bpf_get_current_pid_tgid();
	const struct alloc_call *call = bpf_map_lookup_elem(&alloc_calls, &tid);

	return old && call && call->old == old && call->sp > sp;
}

struct task_struct___switches {
	unsigned long nvcsw, nivcsw;
} __attribute__((preserve_access_index));

static __always_inline __u64 alloc_switches(void)
{
	struct task_struct___switches *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

const __u64 alloc_no_tail[sizeof(struct alloc_tail) / 8];

/* The thread's call that was last looked at. NULL: it cannot be remembered, or need not be. */
static __always_inline struct alloc_tail *alloc_tail_of(__u32 tid, bool needed)
{
	struct alloc_tail *t = bpf_map_lookup_elem(&alloc_tails, &tid);

	if (t || !needed || bpf_map_update_elem(&alloc_tails, &tid, alloc_no_tail, BPF_ANY))
		return t;
	return bpf_map_lookup_elem(&alloc_tails, &tid);
}

/* Whether the call was jumped to from another one that was looked at, which is forgotten. */
__noinline int alloc_is_late_tail(__u64 ip, __u64 sp, __u64 caller, __u64 cookie, __u64 size)
{
	__u64 id = bpf_get_current_pid_tgid(), switches = alloc_switches();
	bool inner, tails = ALLOC_COOKIE_TAILS(cookie);
	struct alloc_tail *t = alloc_tail_of(id, tails);

	if (!t)
		return 0;
	inner = t->switches != switches && alloc_is_tail(t, ip, sp, caller, cookie, size);
	if (tails)
		*t = (struct alloc_tail){id, sp, ip, caller, cookie, size, switches};
	else if (sp >= t->sp)
		t->id = 0;
	return inner;
}

/* Whether the call is part of another one that is probed. A global function, as are those below, so
 * that it is verified once and not on every path. */
__noinline int alloc_is_inner(__u64 ip, __u64 sp, __u64 caller, __u64 cookie, __u64 size)
{
	if (!cookie)
		return 0;
	if (alloc_is_late_tail(ip, sp, caller, cookie, size) ||
	    alloc_is_tail(&alloc_cpu()->tail, ip, sp, caller, cookie, size) ||
	    alloc_is_within(sp, caller))
		return 1;
	return alloc_is_own(ALLOC_COOKIE_FILE(cookie), ALLOC_COOKIE_ADDRESS(cookie) + caller - ip);
}

/* A function that was called with no less stack has returned. */
static __always_inline void alloc_tail_ends(__u64 id, __u64 sp)
{
	struct alloc_tail *t = &alloc_cpu()->tail;

	if (t->id == id && sp >= t->sp)
		t->id = 0;
}

/* Returns whether the call's return is to be probed to know where it ends. */
static __always_inline bool alloc_tail_begins(struct arch_ctx_regs *regs, __u64 cookie, __u64 size,
					      bool returns, bool choose)
{
	struct alloc_tail *t = &alloc_cpu()->tail;
	__u32 tails = ALLOC_COOKIE_TAILS(cookie), kind = ALLOC_COOKIE_KIND(cookie);

	if (!tails)
		return returns;
	if (choose)
		returns |= alloc_follow && kind != ALLOC_new && tails & ALLOC_TAILS_OWN &&
			   !(size & ALLOC_RESIZES);
	t->id = bpf_get_current_pid_tgid();
	t->sp = regs->sp;
	t->ip = regs->ip;
	t->caller = returns ? 0 : alloc_caller(regs);
	t->cookie = cookie;
	t->size = size;
	return returns;
}

/* ---- allocations */

static __always_inline __u64 alloc_product(__u64 a, __u64 b)
{
	return (a | b) >> 32 ? (a && b ? ~0ULL : 0) : a * b;
}

static __always_inline __u64 alloc_size(struct arch_ctx_regs *regs, __u32 kind)
{
	switch (kind) {
	case ALLOC_memalign:
	case ALLOC_realloc:
		return CTX_ARG1(regs);
	case ALLOC_calloc:
		return alloc_product(CTX_ARG0(regs), CTX_ARG1(regs));
	case ALLOC_reallocarray:
	case ALLOC_heap_calloc:
		return alloc_product(CTX_ARG1(regs), CTX_ARG2(regs));
	case ALLOC_heap_reallocarray:
		return alloc_product(CTX_ARG2(regs), CTX_ARG3(regs));
	case ALLOC_posix_memalign:
	case ALLOC_heap_realloc:
		return CTX_ARG2(regs);
	default:
		return CTX_ARG0(regs);
	}
}

/* What realloc() is given. */
static __always_inline __u64 alloc_old(struct arch_ctx_regs *regs, __u32 kind)
{
	__u64 first = CTX_ARG0(regs), second = CTX_ARG1(regs);

	/* Loads one of the two from a chosen address otherwise, which the verifier refuses. */
	asm volatile("" : "+r"(first), "+r"(second));
	if (!alloc_is_realloc(kind))
		return 0;
	return kind == ALLOC_realloc || kind == ALLOC_reallocarray ? first : second;
}

static __always_inline __u64 alloc_birth_of(__u64 address, __u32 tgid)
{
	struct alloc_key key = {.address = address, .tgid = tgid};
	struct alloc_live *live = bpf_map_lookup_elem(&alloc_live, &key);

	return live ? live->birth_ns : 0;
}

/* Not on the stack, where the walk of the caller's stack needs the room. */
const __u64 alloc_no_call[sizeof(struct alloc_call) / 8];

/* The thread's call in progress, if there is one, is interrupted by another, as in a signal
 * handler: it counts as allocated, and is not followed to its end. */
static __noinline int alloc_interrupted(__u32 tid)
{
	const struct alloc_call *call = bpf_map_lookup_elem(&alloc_calls, &tid);

	if (!call)
		return 0;
	loss_count(LOSS_ALLOC_CALL);
	if (call->size && call->stack)
		alloc_send_late(call->birth_ns, call->size, call->stack);
	return 0;
}

/* Samples the call. Returns whether its return is wanted: where one is probed, the sample is sent
 * then, unless the call has failed. */
static __always_inline bool alloc_take(struct arch_ctx_regs *regs, __u32 kind, __u64 cookie,
				       __u64 size, __u64 old)
{
	__u64 id = bpf_get_current_pid_tgid(), old_birth_ns = 0, birth_ns = 0, stack = 0;
	struct alloc_call *call;
	__u32 tid = id;
	bool sampled;

	/* A realloc() to 0 bytes frees. */
	sampled = (size || !old) && alloc_due(size ?: 1);
	if (alloc_follow && old)
		old_birth_ns = alloc_birth_of(old, id >> 32);
	if ((sampled || old_birth_ns) && !ALLOC_COOKIE_ADDRESS(cookie))
		cookie = alloc_cookie_at(regs->ip);
	if ((sampled || old_birth_ns) &&
	    (alloc_is_inner(regs->ip, regs->sp, alloc_caller(regs), cookie, alloc_of(size, old)) ||
	     alloc_is_resized(old, regs->sp))) {
		sampled = false;
		old_birth_ns = 0;
	}
	size = sampled ? ALLOC_SIZE(size ?: 1, *(volatile __u32 *)&alloc_level) : 0;
	if (sampled) {
		birth_ns = bpf_ktime_get_ns();
		stack = alloc_send(birth_ns, alloc_follow && kind != ALLOC_new ? 0 : size,
				   alloc_caller(regs), 0, cookie);
		if (stack == ALLOC_WRAPPED)
			return false;
	}
	if (!alloc_follow || (!sampled && !old_birth_ns))
		return false;
	if (kind == ALLOC_new) {
		loss_count(LOSS_ALLOC_NEW);
		return false;
	}
	alloc_interrupted(tid);
	if (bpf_map_update_elem(&alloc_calls, &tid, alloc_no_call, BPF_ANY)) {
		loss_count(LOSS_PENDING);
		return false;
	}
	call = bpf_map_lookup_elem(&alloc_calls, &tid);
	if (!call)
		return false;
	call->sp = regs->sp;
	call->size = size;
	call->birth_ns = birth_ns;
	call->stack = stack;
	call->near = alloc_cpu()->near;
	call->old = old;
	call->old_birth_ns = old_birth_ns;
	call->result_at = kind == ALLOC_posix_memalign ? CTX_ARG0(regs) : 0;
	return true;
}

/* choose: the program chooses whether the return is probed; else it is if that is of use. Returns
 * 1 unless it is to be. */
static __always_inline int alloc_enter(struct arch_ctx_regs *regs, __u32 kind, __u64 cookie,
				       bool choose)
{
	__u64 id = bpf_get_current_pid_tgid(), size, old;
	bool returns;

	keep_task_stack();
	if (!enabled || *(volatile bool *)&alloc_detached || !is_recorded(id >> 32))
		return 1;
	size = alloc_size(regs, kind);
	if (size >> 47) /* it will fail */
		return 1;
	old = alloc_old(regs, kind);
	returns = alloc_take(regs, kind, cookie, size, old);
	alloc_tail_ends(id, regs->sp);
	if (!choose)
		returns = alloc_follow && kind != ALLOC_new;
	return !alloc_tail_begins(regs, cookie, alloc_of(size, old), returns, choose);
}

/* Not inlined: its copy of the call is not on the stack in the walk of alloc_enter(). */
static __noinline int alloc_returned(struct arch_ctx_regs *regs)
{
	__u64 id = bpf_get_current_pid_tgid(), address = CTX_RET(regs);
	struct alloc_call *known, call;
	__u32 tid = id;

	known = bpf_map_lookup_elem(&alloc_calls, &tid);
	if (!known || known->sp != regs->sp - ALLOC_RETURN_SZ)
		return 0;
	call = *known;
	bpf_map_delete_elem(&alloc_calls, &tid);
	if (call.result_at) {
		if (address ||
		    bpf_probe_read_user(&address, sizeof(address), (void *)call.result_at))
			return 0;
	}
	if (call.old_birth_ns && (address || !call.size))
		alloc_forget(call.old, call.old_birth_ns, id);
	if (call.size && address) {
		if (call.stack) /* else it has been counted as lost */
			alloc_send_late(call.birth_ns, call.size, call.stack);
		alloc_remember(call.birth_ns, call.size, call.stack, ALLOC_REMEMBER(0, call.near),
			       address);
	}
	return 0;
}

static __always_inline int alloc_leave(struct arch_ctx_regs *regs)
{
	keep_task_stack();
	return alloc_returned(regs);
}

static __always_inline int alloc_release(struct arch_ctx_regs *regs)
{
	__u64 id = bpf_get_current_pid_tgid(), address = CTX_ARG0(regs);

	keep_task_stack();
	if (!enabled || !address || !is_recorded(id >> 32))
		return 0;
	add_atomically(&alloc_cpu()->frees, 1);
	alloc_tail_ends(id, regs->sp);
	alloc_forget(address, 0, id);
	return 0;
}

/* ---- many places with a link: a cookie tells the function */

SEC("?uprobe")
int alloc_sessions(struct arch_ctx_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);

	if (regs->ip != bpf_get_func_ip(regs))
		return alloc_leave(regs);
	return UNPREEMPTED(alloc_enter(regs, ALLOC_COOKIE_KIND(cookie), cookie, true));
}

SEC("?uprobe")
int alloc_entries(struct arch_ctx_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);

	UNPREEMPTED(alloc_enter(regs, ALLOC_COOKIE_KIND(cookie), cookie, false));
	return 0;
}

SEC("?uretprobe")
int alloc_returns(struct arch_ctx_regs *regs)
{
	return alloc_leave(regs);
}

SEC("?uprobe")
int alloc_frees(struct arch_ctx_regs *regs)
{
	return alloc_release(regs);
}

/* ---- a link per place */

#define EACH(kind)                                                                                 \
	SEC("?uprobe")                                                                             \
	int alloc_##kind(struct arch_ctx_regs *regs)                                               \
	{                                                                                          \
		__u64 cookie = ALLOC_COOKIE(ALLOC_##kind, ALLOC_TAILS_ANY, 0, 0);                  \
                                                                                                   \
		UNPREEMPTED(alloc_enter(regs, ALLOC_##kind, cookie, false));                       \
		return 0;                                                                          \
	}
EACH(malloc)
EACH(new)
EACH(memalign)
EACH(calloc)
EACH(realloc)
EACH(reallocarray)
EACH(posix_memalign)
EACH(heap_calloc)
EACH(heap_realloc)
EACH(heap_reallocarray)

SEC("?uretprobe")
int alloc_return(struct arch_ctx_regs *regs)
{
	return alloc_leave(regs);
}

SEC("?uprobe")
int alloc_free(struct arch_ctx_regs *regs)
{
	return alloc_release(regs);
}
