/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The stack walk of unwind_walk.h for BPF: its maps and its memory access. */
#include "bpf/kernel.bpf.h"
#include "bpf/unwind.bpf.h"

struct unwind_slots_map unwind_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* values are page-aligned */
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct unwind_cache));
} unwind_caches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, RANGE_SEGS);
	__uint(key_size, sizeof(__u32));
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct range_seg));
		});
} range_segs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, ROW_SEGS);
	__uint(key_size, sizeof(__u32));
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct row_seg));
		});
} row_segs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PAGE_CNT);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct page));
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, RULE_CNT);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct rule));
} unwind_rules SEC(".maps");

#define UW_FUNC __noinline

static __always_inline struct unwind_walk *uw_walk(__u32 slot)
{
	return unwind_walk_of(slot);
}

static __always_inline struct unwind_cache *uw_cache(__u32 slot)
{
	return bpf_map_lookup_elem(&unwind_caches, &slot);
}

static __always_inline const struct range_seg *uw_ranges(__u32 seg)
{
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&range_segs, &seg);

	return inner ? bpf_map_lookup_elem(inner, &zero) : 0;
}

static __always_inline const struct row_seg *uw_rows(__u32 seg)
{
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&row_segs, &seg);

	return inner ? bpf_map_lookup_elem(inner, &zero) : 0;
}

static __always_inline const struct page *uw_page(__u32 index)
{
	return bpf_map_lookup_elem(&unwind_pages, &index);
}

static __always_inline const struct rule *uw_rule(__u32 index)
{
	return bpf_map_lookup_elem(&unwind_rules, &index);
}

static __always_inline int uw_read(void *to, __u32 size, __u64 at)
{
	return bpf_probe_read_user(to, size, (const void *)at);
}

static __always_inline __u32 uw_load32(const void *p)
{
	return *(const __u32 *)p;
}

static __always_inline __u64 uw_load64(const void *p)
{
	return *(const __u64 *)p;
}

#include "bpf/unwind_walk.h"

/* Global functions are verified once, on their own, and not again at every call. */
__noinline int unwind_run(__u32 slot)
{
	struct unwind_walk *w = uw_walk(slot);

	if (!w)
		return 1;
	if (!unwind_begin(w)) {
		for (int i = 0; i < UNWIND_CALLS; i++)
			if (unwind_frames(slot))
				break;
	}
	unwind_end(w);
	return 0;
}
