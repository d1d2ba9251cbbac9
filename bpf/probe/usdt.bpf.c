/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* USDT probes of programs: uprobes at their nops. */
#include "bpf/probe/func.bpf.h"
#include "bpf/probe/usdt.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct usdt_args);
} usdt_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct func_place);
	__type(value, __u32);
} usdt_places SEC(".maps");

__noinline int usdt_count(__u32 probe)
{
	struct metric_key key = {};

	metric_key_process(&key);
	key.part[FUNC_PART_FUNCTION] = probe;
	count_add(PROBE_func, SERIES_func_usdt, &key, 0);
	return 0;
}

static __always_inline __u64 usdt_reg(struct arch_ctx_regs *regs, __u32 word)
{
	__u64 v = 0;

	/* Programs cannot access their context at an offset that is not constant. */
	if (word < sizeof(*regs) / 8)
		bpf_probe_read_kernel(&v, sizeof(v), (void *)regs + word * 8);
	return v;
}

static __always_inline __u64 usdt_extend(__u64 v, __u32 sz, bool is_signed)
{
	__u32 unused = (64 - sz * 8) & 63;

	v <<= unused;
	return is_signed ? (__u64)((__s64)v >> unused) : v >> unused;
}

/* Returns whether the argument could be read. */
static __always_inline bool usdt_value(struct arch_ctx_regs *regs, const struct usdt_arg *a,
				       __u64 *to)
{
	__u32 sz = a->sz;
	__u64 at, v = 0;

	if (a->kind == USDT_CONST) {
		*to = a->value;
		return true;
	}
	if (a->kind == USDT_REG) {
		*to = usdt_extend(usdt_reg(regs, a->reg), sz, a->is_signed);
		return true;
	}
	if (a->kind != USDT_MEM || sz > sizeof(v))
		return false;
	at = usdt_reg(regs, a->reg) + (usdt_reg(regs, a->index) << (a->shift & 3)) + a->value;
	if (sz == 8)
		sz = bpf_probe_read_user(&v, 8, (void *)at);
	else if (sz == 4)
		sz = bpf_probe_read_user(&v, 4, (void *)at);
	else if (sz == 2)
		sz = bpf_probe_read_user(&v, 2, (void *)at);
	else
		sz = bpf_probe_read_user(&v, 1, (void *)at);
	*to = usdt_extend(v, a->sz, a->is_signed);
	return !sz;
}

/* Appends the arguments to the text, which is `at` bytes long. Returns its new length. */
static __always_inline __u32 usdt_put(struct arch_ctx_regs *regs, struct event_usdt *e,
				      const struct usdt_args *site, __u64 wants, __u32 at)
{
	struct event_scratch *s = (void *)e;
	__u32 first = (__builtin_offsetof(struct event_usdt, arg1) - sizeof(e->hdr)) / 8;

	for (__u32 i = 0; i < USDT_ARGS; i++) {
		__u32 type = FUNC_WANTED(wants, i), len;
		__u64 v = 0;

		if (!type || i >= site->cnt)
			continue;
		if (!usdt_value(regs, &site->arg[i], &v))
			type = FUNC_TYPE_NONE;
		at &= EVENT_TEXT_MAX - 1;
		len = func_put_value(ENTRY_UPROBE, EVENT_TEXT_AT(usdt) + at, v, type) &
		      (FUNC_STR_MAX - 1);
		s->fields[first + i] = len;
		at += len;
	}
	return at;
}

static __always_inline int usdt_hit(struct arch_ctx_regs *regs, __u32 number)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct usdt_args *site;
	struct event_usdt *e;
	struct scratch *s;
	__u32 names;

	keep_task_stack();
	if (!enabled || !is_recorded(id >> 32))
		return 0;
	site = bpf_map_lookup_elem(&usdt_sites, &number);
	if (!site)
		return 0;
	usdt_count(site->probe);
	if (func_thin && func_is_thinned(SERIES_func_usdt_events))
		return 0;
	e = EVENT_BEGIN_OF(func, usdt, SERIES_func_usdt_events, id >> 32, ENTRY_UPROBE, id, NULL,
			   NULL);
	if (!e)
		return 0;
	s = scratch_of(ENTRY_UPROBE);
	if (s) {
		user_stack_take(ENTRY_UPROBE);
		e->user_stack = s->sample.user_stack;
	}
	names = func_put_names(ENTRY_UPROBE, EVENT_TEXT_AT(usdt), site->probe);
	e->name = names & (FUNC_NAME_LEN - 1);
	e->binary = names >> 16 & (FUNC_BINARY_LEN - 1);
	EVENT_SEND(usdt, e, ENTRY_UPROBE,
		   usdt_put(regs, e, site, func_wants(site->probe), e->name + e->binary));
	return 0;
}

/* Many places with a link: a cookie tells which. */
SEC("?uprobe")
int usdt_hits(struct arch_ctx_regs *regs)
{
	return UNPREEMPTED(usdt_hit(regs, bpf_get_attach_cookie(regs)));
}

/* A link per place. */
SEC("?uprobe")
int usdt_one(struct arch_ctx_regs *regs)
{
	struct func_place place = {.position = regs->ip & 0xfff};
	__u32 *number;

	keep_task_stack();
	bpf_probe_read_user(place.code, sizeof(place.code), (void *)regs->ip + FUNC_CODE_AT);
	number = bpf_map_lookup_elem(&usdt_places, &place);
	return number ? UNPREEMPTED(usdt_hit(regs, *number)) : 0;
}
