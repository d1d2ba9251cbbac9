/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Checks of capabilities, in cap_capable(). Newer kernels have a tracepoint with the verdict, but
 * without the check's options. At the entry of the function the options are known and the verdict
 * is what the function will find: it depends on nothing but its arguments.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/cap.h"

const volatile bool cap_denied; /* only checks that failed */
const volatile bool cap_stack;

enum { EPERM_ = 1, OPT_NOAUDIT = 2, AUDITED = 1, NOT_AUDITED = 2 };
enum { NS_DEPTH = 33 }; /* the kernel allows 32 levels below the first one */

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));
struct user_namespace {
	struct user_namespace *parent;
	int level;
	struct {
		unsigned int val;
	} owner;
	struct ns_common ns;
} __attribute__((preserve_access_index));
struct cred___cap {
	struct {
		unsigned int val;
	} uid, euid;
	struct user_namespace *user_ns;
} __attribute__((preserve_access_index));
/* 6.3, f122a08b197d ("capability: just use a 'u64' instead of a 'u32[2]' array"): the same bits. */
struct cred___effective {
	struct {
		__u64 val;
	} cap_effective;
} __attribute__((preserve_access_index));

struct cap_check {
	struct cred___cap *cred;
	struct user_namespace *ns;
	__u32 number, audit;
};

/* As cap_capable(): returns whether it denies. */
static __noinline bool cap_denies(struct cap_check *c)
{
	struct cred___cap *cred = c->cred;
	struct user_namespace *own = BPF_CORE_READ(cred, user_ns), *ns = c->ns;
	__u64 effective = 0;

	for (int i = 0; i < NS_DEPTH && ns; i++) {
		if (ns == own) {
			bpf_probe_read_kernel(&effective, sizeof(effective),
					      (void *)cred +
						      bpf_core_field_offset(struct cred___effective,
									    cap_effective));
			return !(effective >> (c->number & 63) & 1);
		}
		if (BPF_CORE_READ(ns, level) <= BPF_CORE_READ(own, level))
			return true;
		if (BPF_CORE_READ(ns, parent) == own &&
		    BPF_CORE_READ(ns, owner.val) == BPF_CORE_READ(cred, euid.val))
			return false;
		ns = BPF_CORE_READ(ns, parent);
	}
	return true;
}

static __noinline int cap_count(struct cap_check *c, bool denied)
{
	struct metric_key key = {};

	metric_key_process(&key);
	key.part[CAP_PART_NUMBER] = c->number;
	key.part[CAP_PART_DENIED] = denied;
	count_add(PROBE_cap, SERIES_cap_checks, &key, 0);
	return 0;
}

static __noinline int cap_checked(void *ctx, struct cap_check *c, bool denied)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct user_namespace *ns = c->ns;
	struct cred___cap *cred = c->cred;
	struct event_cap *e;

	cap_count(c, denied);
	if (cap_denied && !denied)
		return 0;
	e = EVENT_BEGIN(cap, ENTRY_TRACEPOINT, id);
	if (!e)
		return 0;
	e->cap = c->number;
	e->error = denied ? EPERM_ : 0;
	e->audit = c->audit;
	e->userns = BPF_CORE_READ(ns, ns.inum);
	e->own_userns = BPF_CORE_READ(cred, user_ns, ns.inum);
	e->uid = BPF_CORE_READ(cred, uid.val);
	if (cap_stack)
		event_stacks(ctx, ENTRY_TRACEPOINT, e);
	EVENT_SEND(cap, e, ENTRY_TRACEPOINT, 0);
	return 0;
}

static __always_inline bool cap_is_seen(void)
{
	return enabled && is_recorded(bpf_get_current_pid_tgid() >> 32);
}

SEC("?raw_tp/cap_capable")
int cap_tracepoint(struct bpf_raw_tracepoint_args *ctx)
{
	struct cap_check c = {
		.cred = (void *)ctx->args[0], .ns = (void *)ctx->args[1], .number = ctx->args[3]};

	return cap_is_seen() ? cap_checked(ctx, &c, (int)ctx->args[4] != 0) : 0;
}

static __always_inline int cap_entered(void *ctx, __u64 cred, __u64 ns, __u32 number, __u32 options)
{
	struct cap_check c = {.cred = (void *)cred,
			      .ns = (void *)ns,
			      .number = number,
			      .audit = options & OPT_NOAUDIT ? NOT_AUDITED : AUDITED};

	return cap_is_seen() ? cap_checked(ctx, &c, cap_denies(&c)) : 0;
}

SEC("?fentry")
int cap_fentry(__u64 *ctx)
{
	return cap_entered(ctx, ctx[0], ctx[1], ctx[2], ctx[3]);
}

SEC("?kprobe")
int cap_kprobe(struct arch_ctx_regs *regs)
{
	return cap_entered(regs, CTX_ARG0(regs), CTX_ARG1(regs), CTX_ARG2(regs), CTX_ARG3(regs));
}
