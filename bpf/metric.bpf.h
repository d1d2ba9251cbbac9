/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Aggregation in the kernel: hist_add() and count_add() add one occurrence to a cell. Cells never
 * decrease; obrec reads them every second and computes differences. Not for programs that may
 * run in an NMI, as those of the CPU timer: inserting a key takes a lock.
 *
 *	struct metric_key key = {};
 *
 *	metric_key_process(&key);
 *	hist_add(PROBE_runq, SERIES_latency, &key, wait_ns);
 */
#ifndef BPF_METRIC_BPF_H
#define BPF_METRIC_BPF_H

#include "bpf/core.bpf.h"
#include "bpf/metric.h"

/* Per CPU, to avoid contention. */
struct metrics_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH); /* preallocated: needed before 6.1 */
	__uint(max_entries, 1);			/* obrec sets it */
	__type(key, struct metric_key);
	__type(value, struct metric_cell);
};
/*
 * metric_other_at: index of the first bucket of each enabled series in metric_others, by
 * SERIES_NUMBER(). metric_others collects the occurrences, whatever their key, that do not fit into
 * metrics.
 */
struct metric_others_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct metric_cell);
};
extern struct metrics_map metrics SEC(".maps");
extern struct metric_others_map metric_others SEC(".maps");
extern __u32 metric_other_at[SERIES_NUMBERS];
/*
 * Whether a new key of the series may enter `metrics`. A series with many keys would fill it, and
 * leave no room for those with few: metric_reserved keys of each series enter in any case, and of
 * further ones metric_shared of all series together. obrec sets both. Counts the key.
 */
int metric_has_room(__u32 series);
/* metric_bucket() as a global function, verified once and not on every path that calls it. */
int metric_bucket_of(__u64 value);
extern __u64 metric_other_cnt; /* lets obrec skip metric_others while it is empty */

static __always_inline void metric_add_many(struct metric_key *key, __u64 cnt, __u64 value)
{
	struct metric_cell *cell = bpf_map_lookup_elem(&metrics, key), none = {};
	__u32 at;

	if (!cell && metric_has_room(key->series)) {
		bpf_map_update_elem(&metrics, key, &none, BPF_NOEXIST);
		cell = bpf_map_lookup_elem(&metrics, key);
	}
	if (!cell) {
		at = metric_other_at[key->series & (SERIES_NUMBERS - 1)] + key->bucket;
		cell = bpf_map_lookup_elem(&metric_others, &at);
		add_atomically(&metric_other_cnt, 1);
	}
	if (!cell)
		return;
	if (value) /* clang 14 cannot add a constant 0 atomically */
		add_atomically(&cell->sum, value);
	add_atomically(&cell->count, cnt);
}

static __always_inline void metric_add(struct metric_key *key, __u64 value)
{
	metric_add_many(key, 1, value);
}

static __always_inline void hist_add(__u32 probe, __u32 series, struct metric_key *key, __u64 value)
{
	key->series = SERIES_NUMBER(probe, series);
	key->bucket = metric_bucket_of(value);
	metric_add(key, value);
}

/* As above, for a series of kind SERIES_COARSE. */
static __always_inline void hist_add_coarse(__u32 probe, __u32 series, struct metric_key *key,
					    __u64 value)
{
	key->series = SERIES_NUMBER(probe, series);
	key->bucket = METRIC_COARSE(metric_bucket_of(value));
	metric_add(key, value);
}

/* Adds one occurrence of `amount`, for example bytes; the cell stores both count and sum. */
static __always_inline void count_add(__u32 probe, __u32 series, struct metric_key *key,
				      __u64 amount)
{
	key->series = SERIES_NUMBER(probe, series);
	key->bucket = 0;
	metric_add(key, amount);
}

/* Adds one sample that stands for `cnt` occurrences; the cell stores their number and, as its sum,
 * that of the samples. */
static __always_inline void sample_add(__u32 probe, __u32 series, struct metric_key *key, __u64 cnt)
{
	key->series = SERIES_NUMBER(probe, series);
	key->bucket = 0;
	metric_add_many(key, cnt, 1);
}

/* For metric_own_add(). */
struct metric_own_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct metric_own);
};

static __always_inline bool metric_own_try(struct metric_own *slot, const struct metric_key *key,
					   __u64 value)
{
	/* Not of comparisons, each of which would be a branch. */
	__u64 other = (slot->key.series ^ key->series) | (slot->key.bucket ^ key->bucket);

	for (int i = 0; i < METRIC_KEY_PARTS; i++)
		other |= slot->key.part[i] ^ key->part[i];
	if (!other && slot->cell.count) {
		slot->cell.sum += value;
		slot->cell.count++;
		return true;
	}
	if (slot->cell.count)
		return false;
	slot->key = *key;
	slot->cell.sum = value;
	barrier();
	slot->cell.count = 1;
	return true;
}

/*
 * As metric_add(), for a program that runs a million times a second: adds without a call, a lock or
 * an atomic operation. `own` is an array of struct metric_own that only this program uses, as
 * programs may interrupt each other but not themselves; obrec finds it by the `own` of struct
 * probe. A cell that does not fit is added to `metrics`.
 */
static __always_inline void metric_own_add(void *own, struct metric_key *key, __u64 value)
{
	__u32 at = bpf_get_smp_processor_id() * METRIC_OWN_SLOTS + metric_own_slot(key);
	struct metric_own *slot = bpf_map_lookup_elem(own, &at);

	if (slot && metric_own_try(slot, key, value))
		return;
	at ^= 1;
	slot = bpf_map_lookup_elem(own, &at);
	if (slot && metric_own_try(slot, key, value))
		return;
	metric_add(key, value);
}

/* Stores a process name in the first two parts, where all per-process series have it. */
static __always_inline void metric_key_comm(struct metric_key *key, const char *process)
{
	__builtin_memcpy(key->part, process, WIRE_COMM_LEN);
}

/* As above, that of the current task. */
static __always_inline void metric_key_process(struct metric_key *key)
{
	task_process_name(key->part, (void *)bpf_get_current_task(), false);
}

#endif
