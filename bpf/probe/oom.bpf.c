/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Processes killed because memory ran out: of the host, or of a cgroup. oom:mark_victim names the
 * victim, in the context of who asked for memory. Why is in struct oom_control, of which
 * out_of_memory() gets a pointer; without it, the kernel stack tells whether it was for a cgroup.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/oom.h"

const volatile __u32 oom_page_sz = 4096;
const volatile __u64 oom_in_cgroup[2]; /* mem_cgroup_out_of_memory(): begin, end; 0: not known */

#define X(number, text) [number] = text,
static const char oom_scopes[OOM_SCOPE_CNT][OOM_SCOPE_LEN] = {OOM_SCOPES(X)};
#undef X
enum { CGROUP_DEPTH = 32 }; /* searched for limits */
enum { SIGKILL_ = 9, SENT_BY_KERNEL = 1 };

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} __attribute__((preserve_access_index));
struct css_set___oom {
	struct cgroup_subsys_state *subsys[1];
} __attribute__((preserve_access_index));
enum cgroup_subsys_id___oom { memory_cgrp_id = 4 };
struct mem_cgroup {
	struct cgroup_subsys_state css;
	struct {
		struct {
			long counter;
		} usage;
		unsigned long max;
	} memory;
} __attribute__((preserve_access_index));
enum oom_constraint { CONSTRAINT_NONE };
struct oom_control {
	unsigned int gfp_mask;
	int order;
	struct mem_cgroup *memcg;
	unsigned long totalpages;
	struct task_struct *chosen;
	long chosen_points;
	enum oom_constraint constraint;
} __attribute__((preserve_access_index));

/* 6.2, f1a7941243c1 ("mm: convert mm's rss stats into percpu_counter"): it was an array in here.
 * Only types that each kernel has are asked for: for others libbpf searches all modules, which
 * needs CAP_SYS_ADMIN. */
struct mm_rss_stat {
	struct {
		long counter;
	} count[4];
} __attribute__((preserve_access_index));
struct percpu_counter {
	__s64 count;
} __attribute__((preserve_access_index));
struct mm_struct___single {
	struct mm_rss_stat rss_stat;
} __attribute__((preserve_access_index));
struct mm_struct___percpu {
	struct percpu_counter rss_stat[4];
} __attribute__((preserve_access_index));
enum { RSS_FILE, RSS_ANON, RSS_SWAP, RSS_SHMEM };
struct mm_struct___oom {
	unsigned long total_vm;
	struct {
		long counter;
	} pgtables_bytes;
} __attribute__((preserve_access_index));
struct signal_struct___oom {
	short oom_score_adj;
	struct mm_struct *oom_mm;
} __attribute__((preserve_access_index));
struct cred___oom {
	struct {
		unsigned int val;
	} uid;
} __attribute__((preserve_access_index));
struct task_struct___oom {
	struct signal_struct___oom *signal;
	struct cred___oom *real_cred;
} __attribute__((preserve_access_index));

/* The kernel looks for one victim at a time (oom_lock): valid while it does. */
static struct oom_control *oom_control;
/* Who was last killed by the kernel. 6.8, 72ba14deb40a ("mm: update mark_victim tracepoints
 * fields"): before, mark_victim told no more than a thread id. */
static struct task_struct *oom_killed;

SEC("?fentry")
int oom_fentry(__u64 *ctx)
{
	oom_control = (void *)ctx[0];
	return 0;
}

SEC("?kprobe")
int oom_kprobe(struct arch_ctx_regs *regs)
{
	oom_control = (void *)CTX_ARG0(regs);
	return 0;
}

SEC("?raw_tp/signal_generate")
int oom_signal(struct bpf_raw_tracepoint_args *ctx)
{
	if (ctx->args[0] == SIGKILL_ && ctx->args[1] == SENT_BY_KERNEL)
		oom_killed = (void *)ctx->args[2];
	return 0;
}

/* Returns NULL if it is not known. */
static __always_inline struct task_struct *oom_victim(__u64 arg)
{
	struct task_struct *task = (void *)arg;

	if (arg >> 32)
		return task;
	task = (void *)bpf_get_current_task();
	if (task_pid(task, false) == arg)
		return task;
	task = oom_killed;
	return task_pid(task, false) == arg ? task : NULL;
}

static __always_inline __u64 oom_rss(struct mm_struct *mm, __u32 of)
{
	__s64 pages = 0;
	__u64 at;

	if (!bpf_core_field_exists(((struct mm_struct___percpu *)mm)->rss_stat[0].count))
		at = bpf_core_field_offset(struct mm_struct___single, rss_stat) +
		     of * sizeof(pages);
	else
		at = bpf_core_field_offset(struct mm_struct___percpu, rss_stat) +
		     of * bpf_core_type_size(struct percpu_counter) +
		     bpf_core_field_offset(struct percpu_counter, count);
	bpf_probe_read_kernel(&pages, sizeof(pages), (void *)mm + at);
	return pages > 0 ? pages * oom_page_sz : 0;
}

static __always_inline struct mm_struct *oom_mm_of(struct task_struct *victim)
{
	return BPF_CORE_READ((struct task_struct___oom *)victim, signal, oom_mm);
}

static __noinline int oom_put_memory(struct event_oom *e, struct task_struct *victim)
{
	struct task_struct___oom *task = (void *)victim;
	struct mm_struct *mm = oom_mm_of(victim);
	struct mm_struct___oom *sizes = (void *)mm;

	e->total_vm = BPF_CORE_READ(sizes, total_vm) * oom_page_sz;
	e->anon = oom_rss(mm, RSS_ANON);
	e->file = oom_rss(mm, RSS_FILE);
	e->shmem = oom_rss(mm, RSS_SHMEM);
	e->swap = oom_rss(mm, RSS_SWAP);
	e->page_tables = BPF_CORE_READ(sizes, pgtables_bytes.counter);
	e->score_adj = (__s64)BPF_CORE_READ(task, signal, oom_score_adj);
	e->victim_uid = BPF_CORE_READ(task, real_cred, uid.val);
	return 0;
}

static __always_inline struct mem_cgroup *oom_cgroup_of(struct task_struct *task)
{
	struct css_set___oom *set = (void *)BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = NULL;
	__u64 at;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id___oom, memory_cgrp_id))
		return NULL;
	at = bpf_core_enum_value(enum cgroup_subsys_id___oom, memory_cgrp_id) * sizeof(css);
	at += bpf_core_field_offset(set->subsys);
	bpf_probe_read_kernel(&css, sizeof(css), (void *)set + at);
	return (void *)css - bpf_core_field_offset(struct mem_cgroup, css);
}

static __always_inline __u64 oom_path(__u32 at, struct mem_cgroup *cg)
{
	return EVENT_LEN(event_cgroup(ENTRY_TRACEPOINT, at, (__u64)BPF_CORE_READ(cg, css.cgroup)));
}

/* Among a cgroup and its ancestors that with the least room below its limit; NULL: there is none
 * with a limit. */
static __noinline struct mem_cgroup *oom_tightest(struct mem_cgroup *cg)
{
	struct mem_cgroup *found = NULL;
	__s64 least = 1ll << 50, room; /* pages; without a limit there are more */
	struct cgroup_subsys_state *css;

	for (int i = 0; i < CGROUP_DEPTH && cg; i++) {
		room = BPF_CORE_READ(cg, memory.max) - BPF_CORE_READ(cg, memory.usage.counter);
		if (room < least) {
			least = room;
			found = cg;
		}
		css = BPF_CORE_READ(cg, css.parent);
		cg = css ? (void *)css - bpf_core_field_offset(struct mem_cgroup, css) : NULL;
	}
	return found;
}

static __noinline int oom_put_control(struct event_oom *e, struct oom_control *oc)
{
	__s64 points = BPF_CORE_READ(oc, chosen_points);
	struct task_struct *chosen = BPF_CORE_READ(oc, chosen);

	e->gfp = BPF_CORE_READ(oc, gfp_mask);
	e->alloc_order = BPF_CORE_READ(oc, order);
	e->total = BPF_CORE_READ(oc, totalpages) * oom_page_sz;
	if (chosen && task_tgid(chosen, false) == e->victim_pid)
		e->points = points * oom_page_sz;
	return 0;
}

/* By the kernel stack just taken. */
static __noinline bool oom_is_in_cgroup(void)
{
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	__u32 cnt = s ? s->kernel.frame_cnt : 0;

	for (__u32 i = 0; s && i < WIRE_MAX_KERNEL_FRAMES && i < cnt; i++)
		if (s->kernel_frames[i] >= oom_in_cgroup[0] &&
		    s->kernel_frames[i] < oom_in_cgroup[1])
			return true;
	return false;
}

/* Sets which limit was reached and writes it to the text. Returns the cgroup that it is of, or
 * NULL. */
static __noinline struct mem_cgroup *oom_put_scope(struct event_oom *e, struct mem_cgroup *own,
						   struct oom_control *oc)
{
	__u32 scope;
	long n;

	if (oc)
		scope = BPF_CORE_READ(oc, constraint);
	else if (oom_in_cgroup[0])
		scope = oom_is_in_cgroup() ? OOM_SCOPE_CGROUP : OOM_SCOPE_HOST;
	else
		return oom_tightest(own);
	n = bpf_probe_read_kernel_str(e->text, OOM_SCOPE_LEN,
				      oom_scopes[scope & (OOM_SCOPE_CNT - 1)]);
	e->scope = n > 0 ? n - 1 : 0;
	if (oc)
		return BPF_CORE_READ(oc, memcg);
	return scope == OOM_SCOPE_CGROUP ? oom_tightest(own) : NULL;
}

/* Appends names; `victim` NULL: not known. Returns their size. */
static __noinline __u32 oom_put_names(struct event_oom *e, struct task_struct *victim,
				      struct oom_control *oc)
{
	struct mem_cgroup *own = victim ? oom_cgroup_of(victim) : NULL, *cg;
	__u32 at = EVENT_TEXT_AT(oom);

	cg = oom_put_scope(e, own, oc);
	at += e->scope;
	if (victim)
		e->victim = EVENT_LEN(event_kernel_text(ENTRY_TRACEPOINT, at, (__u64)victim->comm));
	at += e->victim;
	if (own)
		e->victim_cgroup = oom_path(at, own);
	at += e->victim_cgroup;
	if (cg) {
		e->cgroup = oom_path(at, cg);
		e->cgroup_bytes = BPF_CORE_READ(cg, memory.usage.counter) * oom_page_sz;
		e->cgroup_max = BPF_CORE_READ(cg, memory.max) * oom_page_sz;
	}
	return at + e->cgroup - EVENT_TEXT_AT(oom);
}

static __noinline int oom_count(struct task_struct *victim)
{
	struct mm_struct *mm = oom_mm_of(victim);
	struct metric_key key = {};

	bpf_probe_read_kernel(key.part, WIRE_COMM_LEN, victim->comm);
	count_add(PROBE_oom, SERIES_oom_killed, &key,
		  oom_rss(mm, RSS_ANON) + oom_rss(mm, RSS_FILE) + oom_rss(mm, RSS_SHMEM));
	return 0;
}

SEC("?raw_tp/mark_victim")
int oom_kill(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *victim = oom_victim(ctx->args[0]);
	__u64 who = bpf_get_current_pid_tgid();
	struct event_oom *e;
	__u32 pid;

	pid = victim ? task_tgid(victim, false) : ctx->args[0];
	if (!enabled || (!is_recorded(who >> 32) && !is_recorded(pid)))
		return 0;
	if (victim)
		oom_count(victim);
	/* One rate for all: each victim is another process. */
	e = EVENT_BEGIN_OF(oom, oom, SERIES_EVENTS, 0, ENTRY_TRACEPOINT, who, NULL, NULL);
	if (!e)
		return 0;
	e->victim_pid = pid;
	event_stacks(ctx, ENTRY_TRACEPOINT, e);
	if (victim)
		oom_put_memory(e, victim);
	if (oom_control)
		oom_put_control(e, oom_control);
	EVENT_SEND(oom, e, ENTRY_TRACEPOINT, oom_put_names(e, victim, oom_control));
	return 0;
}
