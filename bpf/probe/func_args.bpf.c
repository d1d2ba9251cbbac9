/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Arguments and results of functions: kept, counted, and written as text. */
#include "bpf/probe/func.bpf.h"

struct func_names_map func_names SEC(".maps");
__u32 func_thin;

__noinline int func_is_thinned(__u32 series)
{
	struct metric_key key = {};

	if (!(bpf_get_prandom_u32() & ((1u << (func_thin & 31)) - 1)))
		return 0;
	metric_key_process(&key);
	count_add(PROBE_func, series, &key, 0);
	count_add(PROBE_func, series + 1, &key, 0);
	return 1;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct func_args_key);
	__type(value, struct func_args);
} func_args SEC(".maps");

/* A new call's; too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct func_args);
} func_no_args SEC(".maps");

/* Of what the kernel's functions take, some is in the program's memory. */
static __always_inline long read_str(void *to, __u64 from)
{
	if ((__s64)from < 0)
		return bpf_probe_read_kernel_str(to, FUNC_STR_MAX, (void *)from);
	return bpf_probe_read_user_str(to, FUNC_STR_MAX, (void *)from);
}

static __always_inline struct func_args *func_args_of(const struct func_args_key *key)
{
	struct func_args *a = bpf_map_lookup_elem(&func_args, key), *none;
	__u32 zero = 0;

	if (a)
		return a;
	none = bpf_map_lookup_elem(&func_no_args, &zero);
	if (!none || bpf_map_update_elem(&func_args, key, none, BPF_NOEXIST))
		return NULL;
	return bpf_map_lookup_elem(&func_args, key);
}

__noinline int func_save_arg(__u64 thread, __u32 at, __u64 value, __u32 type)
{
	struct func_args_key key = {thread, at & 0xffff};
	struct func_args *a = func_args_of(&key);
	__u32 i = at >> 16 & 7;
	long n = 0;

	if (!a) {
		loss_count(LOSS_PENDING);
		return 0;
	}
	a->value[i] = value;
	if (type == FUNC_TYPE_STR)
		n = read_str(a->text[i], value);
	a->len[i] = n > 0 ? n : 0;
	return 0;
}

__noinline int func_drop_args(__u64 thread, __u32 depth)
{
	struct func_args_key key = {thread, depth};

	bpf_map_delete_elem(&func_args, &key);
	return 0;
}

static __always_inline bool func_is_signed(__u32 type)
{
	return type == FUNC_TYPE_INT || type == FUNC_TYPE_LONG || type == FUNC_TYPE_INT8 ||
	       type == FUNC_TYPE_INT16;
}

/* Of a register only the low bits of the type are defined. */
static __always_inline __u64 func_number(__u64 value, __u32 type)
{
	__u32 unused = type == FUNC_TYPE_INT || type == FUNC_TYPE_UINT	     ? 32
		       : type == FUNC_TYPE_INT16 || type == FUNC_TYPE_UINT16 ? 48
		       : type >= FUNC_TYPE_BOOL				     ? 56
									     : 0;

	value <<= unused;
	if (func_is_signed(type))
		return (__s64)value >> unused;
	return type == FUNC_TYPE_BOOL ? !!value : value >> unused;
}

static __always_inline bool func_is_negative(__u64 number, __u32 type)
{
	return func_is_signed(type) && (__s64)number < 0;
}

__noinline int func_count_result(__u32 function, __u64 value, __u32 type)
{
	__u64 number = func_number(value, type);
	struct metric_key key = {};

	metric_key_process(&key);
	key.part[FUNC_PART_FUNCTION] = function;
	if (type == FUNC_TYPE_PTR || type == FUNC_TYPE_STR)
		number = !!number;
	if (type == FUNC_TYPE_NONE)
		key.part[FUNC_PART_RESULT] = FUNC_RESULT_UNKNOWN;
	else if (func_is_negative(number, type))
		key.part[FUNC_PART_RESULT] = -number <= FUNC_ERRORS ? -number : FUNC_RESULT_BELOW;
	if (key.part[FUNC_PART_RESULT])
		count_add(PROBE_func, SERIES_func_returned_other, &key, 0);
	else
		hist_add(PROBE_func, SERIES_func_returned, &key, number);
	return 0;
}

/* ---- text */

__noinline int func_put_names(__u32 entry, __u32 at, __u32 function)
{
	struct func_name *name = bpf_map_lookup_elem(&func_names, &function);
	struct event_scratch *e = event_scratch_of(entry);
	__u32 len[2] = {};
	long n;

	if (!name || !e || at > EVENT_END - FUNC_NAME_LEN - FUNC_BINARY_LEN)
		return 0;
	n = bpf_probe_read_kernel_str((char *)e + at, FUNC_NAME_LEN, name->function);
	len[0] = n > 0 ? (n - 1) & (FUNC_NAME_LEN - 1) : 0;
	n = bpf_probe_read_kernel_str((char *)e + at + len[0], FUNC_BINARY_LEN, name->binary);
	len[1] = n > 0 ? (n - 1) & (FUNC_BINARY_LEN - 1) : 0;
	return len[0] | len[1] << 16;
}

/* Room for the text of a value at this position of the record; NULL: there is none. */
static __always_inline char *func_room(__u32 entry, __u32 at)
{
	struct event_scratch *e = event_scratch_of(entry);

	asm volatile("" : "+r"(at));
	return e && at <= EVENT_END - FUNC_STR_MAX ? (char *)e + at : NULL;
}

enum { NUMBER_LEN = 24 };

static __always_inline int func_put_number(char *to, __u64 number, __u32 type)
{
	bool negative = func_is_negative(number, type), hex = type == FUNC_TYPE_PTR;
	__u32 base = hex ? 16 : 10, first = NUMBER_LEN - 1;
	char text[NUMBER_LEN] = {};
	long n;

	if (negative)
		number = -number;
		/* The last byte is NUL; two are left for a sign or prefix. */
#pragma unroll
	for (int i = NUMBER_LEN - 2; i >= 2; i--) {
		__u32 digit = number % base;

		if (number || i == NUMBER_LEN - 2) {
			text[i] = digit < 10 ? '0' + digit : 'a' + digit - 10;
			first = i;
		}
		number /= base;
	}
	to[0] = negative ? '-' : '0';
	to[1] = 'x';
	to += negative ? 1 : hex ? 2 : 0;
	first &= 31;
	if (first >= NUMBER_LEN)
		return 0;
	n = bpf_probe_read_kernel_str(to, NUMBER_LEN, text + first);
	return n > 0 ? n - 1 + (negative ? 1 : hex ? 2 : 0) : 0;
}

#define PUT_WORD(to, word) (__builtin_memcpy(to, word, sizeof(word)), sizeof(word) - 1)

__noinline int func_put_value(__u32 entry, __u32 at, __u64 value, __u32 type)
{
	char *to = func_room(entry, at);
	long n;

	if (!to)
		return 0;
	if (type == FUNC_TYPE_NONE)
		return PUT_WORD(to, "(unreadable)");
	if (type == FUNC_TYPE_BOOL)
		return value & 255 ? PUT_WORD(to, "true") : PUT_WORD(to, "false");
	if (type != FUNC_TYPE_STR)
		return func_put_number(to, func_number(value, type), type);
	if (!value)
		return PUT_WORD(to, "(null)");
	n = read_str(to, value);
	return n > 0 ? n - 1 : PUT_WORD(to, "(unreadable)");
}

__noinline int func_put_arg(__u32 entry_arg, __u32 at, __u64 thread, __u32 depth, __u32 type)
{
	struct func_args_key key = {thread, depth};
	struct func_args *a = bpf_map_lookup_elem(&func_args, &key);
	char *to = func_room(entry_arg & 0xff, at);
	__u32 i = entry_arg >> 8 & 7;
	long n;

	if (!to)
		return 0;
	if (!a)
		return PUT_WORD(to, "(lost)");
	if (type != FUNC_TYPE_STR || !a->len[i]) /* not read: perhaps its page was not in memory */
		return func_put_value(entry_arg & 0xff, at, a->value[i], type);
	n = bpf_probe_read_kernel_str(to, FUNC_STR_MAX, a->text[i]);
	return n > 0 ? n - 1 : 0;
}
