/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/lock_waits.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/event.h"
#include "bpf/probe/lock.h"
#include "format/clock.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/base/loss.h"
#include "record/intake/intake.h"
#include "record/probe/hooks.h"
#include "record/probe/metrics.h"
#include "record/probe/probe.h"
#include "record/probe/sleeper.h"

extern const struct probe probe_lock_entry;

/* ---- threads as they stand */

struct standing {
	struct lock_standing *v; /* by process and tid */
	size_t cnt;
};

static uint64_t who_of(const struct lock_standing *t)
{
	return (uint64_t)t->thread.tgid << 32 | t->thread.tid;
}

static int by_who(const void *a, const void *b)
{
	uint64_t x = who_of(a), y = who_of(b);

	return x < y ? -1 : x > y;
}

/* Kernels without BTF have no iterators: -EOPNOTSUPP. */
static int standing_read(struct probe_env *env, struct standing *s)
{
	struct bpf_program *threads = env->skel->progs.lock_threads;
	size_t sz = 0;
	int err;

	*s = (struct standing){0};
	if (!bpf_program__autoload(threads))
		return -EOPNOTSUPP;
	err = hook_run(threads, (void **)&s->v, &sz);
	if (err)
		return err;
	s->cnt = sz / sizeof(*s->v);
	if (s->cnt)
		qsort(s->v, s->cnt, sizeof(*s->v), by_who);
	return 0;
}

static const struct lock_standing *thread_of(const struct standing *s, uint64_t who)
{
	struct lock_standing key = {.thread = {.tgid = who >> 32, .tid = who}};

	return s->cnt ? bsearch(&key, s->v, s->cnt, sizeof(key), by_who) : NULL;
}

/* The thread of a process that has this tid in its pid namespace. */
static const struct lock_standing *owner_of(const struct standing *s, uint32_t tgid, uint32_t tid)
{
	size_t low = 0, high = s->cnt;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->v[middle].thread.tgid < tgid)
			low = middle + 1;
		else
			high = middle;
	}
	for (; tid && low < s->cnt && s->v[low].thread.tgid == tgid; low++)
		if (s->v[low].tid_within == tid)
			return &s->v[low];
	return NULL;
}

/* ---- at the start */

struct starting {
	struct probe_env *env;
	struct standing s;
};

/* As owner_at() of lock.bpf.c. */
static uint32_t owner_in(const struct lock_standing *t, struct stack_memory *m)
{
	struct glibc_mutex mutex = {0};
	uint32_t type = 0;

	if (stack_memory_read(m, &mutex, sizeof(mutex), t->address))
		return 0;
	if (lock_is_pi(t->operation))
		return mutex.lock & LOCK_TID_MASK;
	if (t->value == 2)
		return lock_is_glibc(&mutex, 0) ? mutex.owner : 0;
	if (lock_is_glibc(&mutex, GLIBC_ROBUST))
		return t->value & LOCK_TID_MASK;
	stack_memory_read(m, &type, sizeof(type), t->address - sizeof(type));
	return lock_is_musl(type) ? t->value & LOCK_TID_MASK : 0;
}

/* Its stack is taken when it runs next. */
static void ask(struct probe_env *env, const struct lock_standing *owner)
{
	struct lock_holder h = {.asked_ns = clock_now_ns(), .tgid = owner->thread.tgid};
	uint32_t tid = owner->thread.tid, cnt = sizeof(env->skel->bss->lock_asked);

	memcpy(h.comm, owner->thread.comm, sizeof(h.comm));
	memcpy(h.process, owner->process, sizeof(h.process));
	if (!bpf_map_update_elem(bpf_map__fd(env->skel->maps.lock_holders), &tid, &h, BPF_NOEXIST))
		env->skel->bss->lock_asked[tid % cnt] = 1;
}

static void wait_began(struct starting *s, const struct lock_standing *t, uint64_t address,
		       uint32_t value, uint32_t may_own)
{
	struct probe_env *env = s->env;
	const struct lock_standing *owner = owner_of(&s->s, t->thread.tgid, may_own);
	struct lock_call call = {
		.begin_ns = env->start_ns,
		.address = address,
		.who = who_of(t),
		.value = value,
		.operation = t->operation,
		.owner = owner ? may_own : 0,
		.early = 1,
	};
	uint64_t key = t->thread.tid;

	if (t->ran_ns && t->ran_ns < env->start_ns)
		call.before_ns = env->start_ns - t->ran_ns;
	memcpy(call.comm, t->thread.comm, sizeof(call.comm));
	memcpy(call.process, t->process, sizeof(call.process));
	if (!bpf_map_update_elem(bpf_map__fd(env->skel->maps.lock_calls), &key, &call,
				 BPF_NOEXIST) &&
	    owner)
		ask(env, owner);
}

static void on_word(void *ctx, const void *of, struct stack_memory *m)
{
	const struct lock_standing *t = of;
	struct {
		uint64_t value, address;
	} first = {t->value, t->address}; /* struct futex_waitv */

	if (t->operation == LOCK_CALL_WAITV)
		stack_memory_read(m, &first, sizeof(first), t->address);
	wait_began(ctx, t, first.address, first.value,
		   t->operation == LOCK_CALL_WAITV ? 0 : owner_in(t, m));
}

static void waits_began(struct starting *s)
{
	struct memory_place *words = calloc(s->s.cnt, sizeof(*words));
	size_t cnt = 0;

	for (size_t i = 0; words && i < s->s.cnt; i++) {
		const struct lock_standing *t = &s->s.v[i];

		if (t->state != LOCK_WAITS)
			continue;
		if (t->operation == LOCK_CALL_WAITV || lock_may_own(t->value, t->operation))
			words[cnt++] = (struct memory_place){t->thread.tgid, t->address, t};
		else
			wait_began(s, t, t->address, t->value, 0);
	}
	stack_memory_each(s->env->readers, words, cnt, on_word, s);
	free(words);
}

/* Removes those that ended before the programs were told. */
static void forget_ended(struct probe_env *env, const struct standing *before)
{
	int calls = bpf_map__fd(env->skel->maps.lock_calls);
	struct standing after;

	if (standing_read(env, &after))
		return;
	for (size_t i = 0; i < before->cnt; i++) {
		const struct lock_standing *was = &before->v[i], *is;
		uint64_t key = was->thread.tid;
		struct lock_call call;

		if (was->state != LOCK_WAITS)
			continue;
		is = thread_of(&after, who_of(was));
		if (is && is->state == LOCK_WAITS && is->thread.switches == was->thread.switches)
			continue;
		if (!bpf_map_lookup_elem(calls, &key, &call) && call.early)
			bpf_map_delete_elem(calls, &key);
	}
	free(after.v);
}

int lock_waits_start(struct probe_env *env)
{
	struct starting s = {.env = env};
	int err = standing_read(env, &s.s);

	if (err == -EOPNOTSUPP) /* the manual page says so */
		return 0;
	if (err)
		message_warn("waits for locks in progress at the start are missed: %s",
			     strerror(-err));
	if (s.s.cnt) {
		waits_began(&s);
		forget_ended(env, &s.s);
	}
	free(s.s.v);
	return 0;
}

/* ---- at the end */

struct waiting {
	struct lock_call call;
	const struct lock_standing *thread, *owner; /* NULL: not known */
};

struct ending {
	struct probe_env *env;
	struct unwind_user *u;
	struct standing s;
	uint64_t *stacks; /* of each thread in `s`; 0: is not wanted */
	struct waiting *v;
	size_t cnt, cap;
};

static bool take_call(struct ending *e, uint64_t key, const struct lock_call *call)
{
	struct waiting *w;

	if (e->cnt == e->cap) {
		size_t cap = e->cap ? 2 * e->cap : 64;

		w = realloc(e->v, cap * sizeof(*w));
		if (!w)
			return false;
		e->v = w;
		e->cap = cap;
	}
	w = &e->v[e->cnt++];
	*w = (struct waiting){.call = *call};
	if ((uint32_t)call->who == key)
		w->thread = thread_of(&e->s, call->who);
	if (w->thread && w->thread->state != LOCK_WAITS)
		w->thread = NULL;
	w->owner = owner_of(&e->s, call->who >> 32, call->owner);
	return true;
}

static void take_calls(struct ending *e)
{
	int calls = bpf_map__fd(e->env->skel->maps.lock_calls);
	struct lock_call call;
	uint64_t key;

	/* Calls that end meanwhile are removed, after which the next key would be the first again.
	 */
	while (!bpf_map_get_next_key(calls, NULL, &key)) {
		if (!bpf_map_lookup_elem(calls, &key, &call) && !take_call(e, key, &call))
			break;
		bpf_map_delete_elem(calls, &key);
	}
}

static uint64_t *stack_of(struct ending *e, const struct lock_standing *t)
{
	return &e->stacks[t - e->s.v];
}

static void on_stack(void *ctx, const void *of, struct stack_memory *m)
{
	const struct lock_standing *t = of;
	struct ending *e = ctx;

	*stack_of(e, t) = sleeper_stack(e->env, e->u, &t->thread, m, SAMPLE_lock);
}

static void take_stacks(struct ending *e)
{
	struct memory_place *places = calloc(e->s.cnt, sizeof(*places));
	size_t cnt = 0;
	unsigned late;

	e->stacks = calloc(e->s.cnt, sizeof(*e->stacks));
	if (!places || !e->stacks)
		goto out;
	for (size_t i = 0; i < e->cnt; i++) {
		const struct waiting *w = &e->v[i];

		if (w->thread)
			*stack_of(e, w->thread) = WIRE_NOT_TAKEN;
		if (w->owner && w->owner->state != LOCK_RUNS)
			*stack_of(e, w->owner) = WIRE_NOT_TAKEN;
	}
	for (size_t i = 0; i < e->s.cnt; i++) {
		const struct lock_standing *t = &e->s.v[i];

		if (e->stacks[i])
			places[cnt++] = (struct memory_place){t->thread.tgid,
							      t->thread.regs[UNWIND_PT_SP], t};
	}
	late = stack_memory_each(e->env->readers, places, cnt, on_stack, e);
	if (late)
		loss__add(e->env->loss, "file access", "the memory of a process timed out", late);
out:
	free(places);
}

/* As lock_weight() of lock.bpf.h. */
static uint64_t weigh(const struct probe_env *env, uint64_t ns)
{
	uint64_t period = env->skel->rodata->lock_period_ns;

	if (ns >= period)
		return ns;
	return random() % period < ns ? period : 0;
}

static void sample(struct probe_env *env, unsigned kind, uint64_t who, const char *comm,
		   uint64_t user_stack, uint64_t kernel_stack, uint64_t weight)
{
	struct wire_sample s = {
		.hdr = {.kind = WIRE_SAMPLE, .probe = kind, .size = sizeof(s)},
		.ts_ns = env->stop_ns,
		.tgid = who >> 32,
		.tid = who,
		.user_stack = user_stack,
		.kernel_stack = kernel_stack,
		.value = weight,
	};

	memcpy(s.comm, comm, sizeof(s.comm));
	if (weight)
		intake__sample(env->intake, &s);
}

static void row(struct probe_env *env, const struct waiting *w, uint64_t stack, uint64_t ns)
{
	const struct lock_call *call = &w->call;
	const char *operation = lock_operation_name(call->operation);
	struct {
		struct event_lock e;
		char text[LOCK_OPERATION_LEN];
	} r = {.e = {
		       .hdr = {.kind = WIRE_EVENT, .probe = REC_lock, .size = sizeof(r)},
		       .ts_ns = env->stop_ns,
		       .thread = call->who,
		       .user_stack = stack,
		       .address = call->address,
		       .operation = strlen(operation),
		       .value = call->value,
		       .wait_ns = ns,
		       .owner = w->owner ? w->owner->thread.tid : 0,
		       .unfinished = 1,
		       .before_ns = call->before_ns,
	       }};

	memcpy(r.e.task_comm, call->comm, sizeof(call->comm));
	memcpy(r.e.text, operation, r.e.operation);
	intake__event(env->intake, &r.e.hdr);
}

static const char *const hows[LOCK_HOW_CNT] = {
#define X(name, text) [LOCK_##name] = text,
	LOCK_HOWS(X)
#undef X
};

static void holder_row(struct probe_env *env, const struct waiting *w, const struct lock_holder *h,
		       uint64_t ns)
{
	const struct lock_call *call = &w->call;
	struct {
		struct event_lock_holder e;
		char text[LOCK_HOW_LEN];
	} r = {.e = {
		       .hdr = {.kind = WIRE_EVENT, .probe = REC_lock_holder, .size = sizeof(r)},
		       .ts_ns = env->stop_ns,
		       .thread = who_of(w->owner),
		       .user_stack = h->user_stack,
		       .kernel_stack = h->kernel_stack,
		       .waiter = (uint32_t)call->who,
		       .address = call->address,
		       .wait_ns = ns,
		       .after_ns = h->taken_ns - call->begin_ns,
		       .how = strlen(hows[h->how]),
	       }};

	memcpy(r.e.task_comm, h->comm, sizeof(h->comm));
	memcpy(r.e.text, hows[h->how], r.e.how);
	intake__event(env->intake, &r.e.hdr);
}

/* What the owner does, or did when it ran last; false: not known. */
static bool holder_of(struct ending *e, const struct waiting *w, struct lock_holder *h)
{
	int holders = bpf_map__fd(e->env->skel->maps.lock_holders);
	uint32_t tid = w->owner->thread.tid;

	if (w->owner->state != LOCK_RUNS && e->stacks) {
		*h = (struct lock_holder){.taken_ns = e->env->stop_ns,
					  .user_stack = *stack_of(e, w->owner),
					  .how = LOCK_STILL};
		memcpy(h->comm, w->owner->thread.comm, sizeof(h->comm));
		return true;
	}
	return !bpf_map_lookup_elem(holders, &tid, h) && h->taken_ns >= w->call.begin_ns &&
	       h->tgid == w->owner->thread.tgid && h->how < LOCK_HOW_CNT;
}

static void report_holder(struct ending *e, const struct waiting *w, uint64_t ns, uint64_t weight,
			  bool shown)
{
	struct metric_key key = {.series = SERIES_NUMBER(PROBE_lock, SERIES_lock_holders)};
	struct lock_holder h;
	bool known = holder_of(e, w, &h);

	memcpy(key.part, w->owner->process, sizeof(w->owner->process));
	key.part[LOCK_PART_HOW] = known ? h.how : LOCK_MISSED;
	metrics_add(e->env, &key, ns);
	if (!known)
		return;
	sample(e->env, SAMPLE_holder, who_of(w->owner), h.comm, h.user_stack, h.kernel_stack,
	       weight);
	if (shown)
		holder_row(e->env, w, &h, ns);
}

static void report(struct ending *e, const struct waiting *w)
{
	struct probe_env *env = e->env;
	const struct lock_call *call = &w->call;
	uint64_t ns = env->stop_ns > call->begin_ns ? env->stop_ns - call->begin_ns : 0;
	uint64_t weight = weigh(env, ns), stack = call->user_stack;
	bool shown = ns + call->before_ns >= probe_env__option(env, &probe_lock_entry, "min");
	struct metric_key key = {
		.series = SERIES_NUMBER(PROBE_lock, SERIES_lock_ended),
		.part[LOCK_PART_OPERATION] = call->operation,
		.part[LOCK_PART_ERROR] = LOCK_UNFINISHED,
	};

	memcpy(key.part, call->process, sizeof(call->process));
	metrics_add(env, &key, ns);
	if (w->thread && e->stacks)
		stack = *stack_of(e, w->thread);
	if (!stack)
		stack = sleeper_stack(env, NULL, NULL, NULL, SAMPLE_lock);
	sample(env, w->owner ? SAMPLE_lock : SAMPLE_futex, call->who, call->comm, stack, 0, weight);
	if (shown)
		row(env, w, stack, ns);
	if (w->owner)
		report_holder(e, w, ns, weight, shown);
}

void lock_waits_finish(struct probe_env *env)
{
	struct ending e = {.env = env};

	standing_read(env, &e.s);
	take_calls(&e);
	unwind_user__new(&e.u, env->store);
	if (e.s.cnt)
		take_stacks(&e);
	for (size_t i = 0; i < e.cnt; i++)
		report(&e, &e.v[i]);
	if (e.u)
		unwind_user__free(e.u);
	free(e.stacks);
	free(e.v);
	free(e.s.v);
}
