/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Block requests, from the scheduler's queue (insert) to the device (issue) and its response
 * (complete). The process is known at insert or issue, whichever comes first; complete runs in an
 * interrupt. A request that the device refuses for now is requeued: the kernel inserts and issues
 * it again, which its process has not begun. A device may complete a request in parts.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/block.h"

const volatile bool block_stack; /* stacks in events, and stack samples */
const volatile __u64 block_min_ns;

struct gendisk {
	int major, first_minor;
	char disk_name[32];
} __attribute__((preserve_access_index));
struct request_queue {
	struct gendisk *disk; /* 5.15, d152c682f03c ("block: add an explicit ->disk backpointer") */
} __attribute__((preserve_access_index));
struct block_device {
	unsigned int bd_dev;
} __attribute__((preserve_access_index));
struct request {
	struct request_queue *q;
	struct block_device *part; /* 5.11, 8446fe9255be ("block: switch partition lookup to use
				      struct block_device") */
	unsigned int cmd_flags, __data_len;
	__u64 __sector;
} __attribute__((preserve_access_index));
/* Before 5.11 a request's part is of a type that newer kernels do not have; to ask for that makes
 * libbpf search all modules, which needs CAP_SYS_ADMIN. */
struct block_device___5_10 {
	void *bd_part;
} __attribute__((preserve_access_index));
/* 6.10, 1116b9fa15c0 ("bdev: infrastructure for flags") */
struct block_device___6_10 {
	struct {
		int counter;
	} __bd_flags;
} __attribute__((preserve_access_index));
struct block_device___6_9 {
	__u8 bd_partno;
} __attribute__((preserve_access_index));
/* 5.17, f3fa33acca9f ("block: remove the ->rq_disk field in struct request") */
struct request___5_16 {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));

#define REQ_OP_MASK 255
/* enum req_flag_bits, the same from 5.10 on. */
#define REQ_SYNC (1u << 11)
#define REQ_META (1u << 12)
#define REQ_FUA (1u << 17)
#define REQ_PREFLUSH (1u << 18)
#define REQ_RAHEAD (1u << 19)

/*
 * Requests in progress, by their address. The kernel uses a device's requests again and again: an
 * entry stays when its request ends, which spares its removal and the next one's insertion.
 */
struct block_request {
	__u64 insert_ns, issue_ns; /* 0: did not happen */
	__u64 who, cgroup;
	__u64 user_stack, kernel_stack;
	__u32 dev, done; /* done: bytes completed so far */
	__u32 requeued, active;
	char comm[WIRE_COMM_LEN], process[WIRE_COMM_LEN];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct block_request);
} block_requests SEC(".maps");
__u64 block_kept; /* entries in it */

/* Of each disk, its recorded requests. */
struct block_disk {
	__u64 next_sector;	   /* after the last request */
	__u64 in_flight, event_ns; /* event_ns: when that last changed */
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct block_disk);
} block_disks SEC(".maps");

/* Of each CPU. */
struct block_cpu {
	__u64 busy; /* a program uses its cells */
	__u64 pad[7];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct block_cpu);
} block_cpus SEC(".maps");

struct metric_own_map block_cells SEC(".maps");

/* Claims the CPU's own cells. NULL: the program that this one interrupted uses them. */
static __always_inline struct block_cpu *block_begin(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct block_cpu *c = bpf_map_lookup_elem(&block_cpus, &cpu);

	if (!c || *(volatile __u64 *)&c->busy)
		return NULL;
	*(volatile __u64 *)&c->busy = 1;
	barrier();
	return c;
}

static __always_inline void block_end(struct block_cpu *c)
{
	barrier();
	if (c)
		*(volatile __u64 *)&c->busy = 0;
}

/* alone: the CPU's own cells are claimed. */
static __noinline void block_add(bool alone, __u32 series, struct metric_key *key, __u64 value)
{
	key->series = SERIES_NUMBER(PROBE_block, series);
	if (alone)
		metric_own_add(&block_cells, key, value);
	else
		metric_add(key, value);
}

static __always_inline void block_add_hist(bool alone, __u32 series, struct metric_key *key,
					   __u64 value)
{
	key->bucket = metric_bucket_of(value);
	block_add(alone, series, key, value);
	key->bucket = 0;
}

/*
 * Not static: of several static variables, bpftool 7 stores a wrong offset in BTF for all but one.
 */
const char block_ops[BLOCK_OP_CNT + 1][BLOCK_OP_LEN] = {
#define X(number, name) [number] = name,
	BLOCK_OPS(X)
#undef X
		[BLOCK_OP_CNT] = "other",
};

/* typed: the verifier knows the type, and loads need no helper. */
#define BLOCK_READ(typed, p, field) ((typed) ? (p)->field : BPF_CORE_READ(p, field))

static __always_inline struct gendisk *block_disk_of(struct request *rq, bool typed)
{
	struct request___5_16 *old = (void *)rq;
	struct request_queue *q;

	if (bpf_core_field_exists(old->rq_disk))
		return BLOCK_READ(typed, old, rq_disk);
	q = BLOCK_READ(typed, rq, q);
	return BLOCK_READ(typed, q, disk);
}

static __always_inline __u32 block_dev_of(struct request *rq, bool typed)
{
	struct gendisk *disk = block_disk_of(rq, typed);

	return BLOCK_READ(typed, disk, major) << 20 | BLOCK_READ(typed, disk, first_minor);
}

/* The kernel has no part where the accounting of the disk is turned off. */
static __always_inline __u32 block_partition_of(struct request *rq)
{
	struct block_device___6_10 *new = (void *)BPF_CORE_READ(rq, part);
	struct block_device___6_9 *part = (void *)new;
	struct block_device___5_10 *old = (void *)new;

	if (!new || bpf_core_field_exists(old->bd_part))
		return 0;
	if (bpf_core_field_exists(new->__bd_flags))
		return BPF_CORE_READ(new, __bd_flags.counter) & 255;
	return BPF_CORE_READ(part, bd_partno);
}

/*
 * The stacks of a request, which are taken before it is known whether it will be sent, cost more
 * than all else. If every request may be sent (no `min`), only as many take stacks as the rate lets
 * through.
 */
static __always_inline void block_take_stacks(void *ctx, struct block_request *r)
{
	struct scratch *s;

	if (!block_min_ns && !event_within_rate(BLOCK_STACKS, r->who >> 32))
		return;
	s = scratch_claim(ENTRY_TRACEPOINT);
	if (!s)
		return;
	stacks_take(ctx, ENTRY_TRACEPOINT);
	r->user_stack = s->sample.user_stack;
	r->kernel_stack = s->sample.kernel_stack;
	scratch_release(s);
}

/*
 * Adds the time since the disk's last event if it had requests meanwhile; returns how many. Events
 * of several CPUs at the same time may count what is between them twice: there is no atomic
 * operation with a result before Linux 5.12.
 */
static __always_inline __u64 block_add_busy(bool alone, struct block_disk *disk,
					    struct metric_key *key, __u64 now)
{
	__u64 before = *(volatile __u64 *)&disk->in_flight, since = disk->event_ns;

	disk->event_ns = now;
	if (before && now > since)
		block_add(alone, SERIES_block_busy, key, now - since);
	return before;
}

/* The device has the request from now on. */
static __noinline void block_enter(bool alone, struct block_request *r, bool again)
{
	struct block_disk *disk = bpf_map_lookup_elem(&block_disks, &r->dev), new = {};
	struct metric_key key = {.part[BLOCK_PART_DEV] = r->dev};
	__u64 before, now = bpf_ktime_get_ns();

	if (!r->issue_ns)
		r->issue_ns = now;
	if (!disk) {
		bpf_map_update_elem(&block_disks, &r->dev, &new, BPF_NOEXIST);
		disk = bpf_map_lookup_elem(&block_disks, &r->dev);
	}
	if (!disk)
		return;
	before = block_add_busy(alone, disk, &key, now);
	add_atomically(&disk->in_flight, 1);
	if (!again)
		block_add_hist(alone, SERIES_block_in_flight, &key, before + 1);
}

static __noinline struct block_disk *block_leave(bool alone, __u32 dev, __u64 now)
{
	struct block_disk *disk = bpf_map_lookup_elem(&block_disks, &dev);
	struct metric_key key = {.part[BLOCK_PART_DEV] = dev};

	if (!disk)
		return NULL;
	block_add_busy(alone, disk, &key, now);
	add_atomically(&disk->in_flight, -1ULL);
	return disk;
}

static const struct block_request block_none;

/* Handles the first event of a target's request. r: what is left of an earlier one; NULL. */
static __always_inline void block_new(bool alone, void *ctx, struct request *rq, bool typed,
				      struct block_request *r, bool issued)
{
	__u64 at = (__u64)rq, who = bpf_get_current_pid_tgid();

	if (!is_recorded(who >> 32))
		return;
	if (!r) {
		if (bpf_map_update_elem(&block_requests, &at, &block_none, BPF_ANY)) {
			loss_count(LOSS_PENDING);
			return;
		}
		add_atomically(&block_kept, 1);
		r = bpf_map_lookup_elem(&block_requests, &at);
		if (!r)
			return;
	}
	*r = (struct block_request){.who = who, .active = 1};
	r->dev = block_dev_of(rq, typed);
	r->cgroup = bpf_get_current_cgroup_id();
	if (issued)
		block_enter(alone, r, false);
	else
		r->insert_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	task_process_name(r->process, (void *)bpf_get_current_task(), false);
	if (block_stack)
		block_take_stacks(ctx, r);
}

/* Forgets a request that ended without an event. */
static __always_inline void block_forget(bool alone, struct block_request *r)
{
	if (r->active && r->issue_ns && !r->requeued)
		block_leave(alone, r->dev, bpf_ktime_get_ns());
	r->active = 0;
}

static __always_inline int on_insert(void *ctx, struct request *rq, bool typed)
{
	__u64 at = (__u64)rq;
	struct block_request *r;
	struct block_cpu *c;

	if (!enabled)
		return 0;
	r = bpf_map_lookup_elem(&block_requests, &at);
	if (r && r->active && r->requeued)
		return 0;
	c = block_begin();
	if (r)
		block_forget(c, r);
	block_new(c, ctx, rq, typed, r, false);
	block_end(c);
	return 0;
}

static __always_inline int on_issue(void *ctx, struct request *rq, bool typed)
{
	__u64 at = (__u64)rq;
	struct block_request *r;
	struct block_cpu *c;

	if (!enabled)
		return 0;
	r = bpf_map_lookup_elem(&block_requests, &at);
	c = block_begin();
	if (r && r->active && (!r->issue_ns || r->requeued)) {
		block_enter(c, r, r->requeued);
		r->requeued = 0;
	} else {
		if (r)
			block_forget(c, r);
		block_new(c, ctx, rq, typed, r, true);
	}
	block_end(c);
	return 0;
}

static __always_inline int on_requeue(__u64 at)
{
	struct block_request *r = bpf_map_lookup_elem(&block_requests, &at);
	struct block_cpu *c;

	if (!r || !r->active || !r->issue_ns || r->requeued)
		return 0;
	r->requeued = 1;
	c = block_begin();
	block_leave(c, r->dev, bpf_ktime_get_ns());
	block_end(c);
	return 0;
}

SEC("?tp_btf/block_rq_insert")
int block_insert(__u64 *ctx)
{
	return UNPREEMPTED(on_insert(ctx, (void *)ctx[0], true));
}

SEC("?tp_btf/block_rq_issue")
int block_issue(__u64 *ctx)
{
	return UNPREEMPTED(on_issue(ctx, (void *)ctx[0], true));
}

SEC("?tp_btf/block_rq_requeue")
int block_requeue(__u64 *ctx)
{
	return UNPREEMPTED(on_requeue(ctx[0]));
}

SEC("?raw_tp/block_rq_insert")
int block_insert_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_insert(ctx, (void *)ctx->args[0], false);
}

SEC("?raw_tp/block_rq_issue")
int block_issue_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_issue(ctx, (void *)ctx->args[0], false);
}

SEC("?raw_tp/block_rq_requeue")
int block_requeue_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_requeue(ctx->args[0]);
}

/*
 * Before 5.11, a54895fa057c ("block: remove the request_queue to argument request based
 * tracepoints"), which was backported to stable kernels, the queue was the first argument. On
 * kernels without a second argument, these programs cannot be attached.
 */
SEC("?raw_tp/block_rq_insert")
int block_insert_5_10(struct bpf_raw_tracepoint_args *ctx)
{
	return on_insert(ctx, (void *)ctx->args[1], false);
}

SEC("?raw_tp/block_rq_issue")
int block_issue_5_10(struct bpf_raw_tracepoint_args *ctx)
{
	return on_issue(ctx, (void *)ctx->args[1], false);
}

SEC("?raw_tp/block_rq_requeue")
int block_requeue_5_10(struct bpf_raw_tracepoint_args *ctx)
{
	return on_requeue(ctx->args[1]);
}

/* errno by blk_status_t: ENOTSUPP, ETIMEDOUT, ENOSPC, ENOLINK, ... */
const volatile unsigned char block_errnos[16] = {0,  95, 110, 28, 67, 121, 52,	61,
						 84, 12, 5,   0,  11, 16,  105, 62};

/* The status is a negative errno until 5.15; since then it is a blk_status_t, most often
 * BLK_STS_IOERR. */
static __always_inline __u32 block_error(int status)
{
	if (status <= 0)
		return -status;
	return block_errnos[status & 15] ?: 5;
}

static __always_inline void block_count(bool alone, const struct block_request *r, __u32 op,
					__u64 queued_ns, __u64 device_ns, __u64 bytes)
{
	struct metric_key key = {.part[BLOCK_PART_DEV] = r->dev, .part[BLOCK_PART_OP] = op};

	block_add_hist(alone, SERIES_block_device, &key, device_ns);
	block_add_hist(alone, SERIES_block_queued, &key, queued_ns);
	key.part[BLOCK_PART_CGROUP] = r->cgroup;
	block_add_hist(alone, SERIES_block_cgroup, &key, device_ns);
	metric_key_comm(&key, r->process);
	block_add_hist(alone, SERIES_block_size, &key, bytes);
}

static __always_inline void block_count_pattern(bool alone, struct block_disk *disk, __u32 dev,
						__u64 sector, __u64 bytes)
{
	struct metric_key key = {.part[BLOCK_PART_DEV] = dev};

	key.part[BLOCK_PART_RANDOM] = disk->next_sector != sector;
	disk->next_sector = sector + (bytes >> 9);
	block_add(alone, SERIES_block_pattern, &key, bytes);
}

static __always_inline void block_sample(const struct block_request *r, __u64 now, __u64 value)
{
	struct scratch *s = scratch_of(ENTRY_INTERRUPT);

	if (!s)
		return;
	s->sample = (struct wire_sample){
		.hdr.probe = SAMPLE_block,
		.ts_ns = now,
		.tgid = r->who >> 32,
		.tid = r->who,
		.user_stack = r->user_stack,
		.kernel_stack = r->kernel_stack,
		.value = value,
	};
	__builtin_memcpy(s->sample.comm, r->comm, WIRE_COMM_LEN);
	sample_send(ENTRY_INTERRUPT);
}

/* Writes what blk_fill_rwbs() of the kernel does; returns the length. */
static __always_inline __u32 block_rwbs(char *to, __u32 op, __u32 flags)
{
	__u32 n = 0;

	if (flags & REQ_PREFLUSH)
		to[n++ & 7] = 'F';
	to[n++ & 7] = op == 0		   ? 'R'
		      : op == 1		   ? 'W'
		      : op == 2		   ? 'F'
		      : op == 3 || op == 5 ? 'D'
					   : 'N';
	if (op == 5)
		to[n++ & 7] = 'E';
	if (flags & REQ_FUA)
		to[n++ & 7] = 'F';
	if (flags & REQ_RAHEAD)
		to[n++ & 7] = 'A';
	if (flags & REQ_SYNC)
		to[n++ & 7] = 'S';
	if (flags & REQ_META)
		to[n++ & 7] = 'M';
	return n;
}

static __always_inline __u32 block_texts(struct event_block *e, struct gendisk *disk, __u32 op,
					 __u32 flags)
{
	long n = bpf_probe_read_kernel_str(e->text, 32, disk->disk_name);
	__u32 name = n > 0 ? (n - 1) & 31 : 0, verb;

	n = bpf_probe_read_kernel_str(e->text + name, BLOCK_OP_LEN, block_ops[op]);
	verb = n > 0 ? (n - 1) & 15 : 0;
	e->disk = name;
	e->op = verb;
	e->rwbs = block_rwbs(e->text + name + verb, flags & REQ_OP_MASK, flags);
	return name + verb + e->rwbs;
}

/* A completion, of a request or a part of it. */
struct block_end {
	struct request *rq;
	int status;
	__u32 bytes;
	__u64 ns;
};

/* Counts a request that is to be a row. Returns whether it may be one now. */
static __always_inline bool block_admit(bool alone, const struct block_request *r)
{
	struct metric_key key = {};

	metric_key_comm(&key, r->process);
	block_add(alone, SERIES_EVENTS, &key, 0);
	if (event_within_rate(PROBE_block, r->who >> 32))
		return true;
	block_add(alone, SERIES_EVENTS + 1, &key, 0);
	return false;
}

static __always_inline void block_event(const struct block_request *r, const struct block_end *end,
					__u32 op, __u32 flags, __u64 bytes)
{
	struct event_block *e = EVENT_ADMITTED(block, ENTRY_INTERRUPT, r->who, r->comm);
	struct request *rq = end->rq;

	if (!e)
		return;
	e->user_stack = r->user_stack;
	e->kernel_stack = r->kernel_stack;
	e->queued_ns = r->insert_ns ? r->issue_ns - r->insert_ns : 0;
	e->device_ns = end->ns - r->issue_ns;
	e->dev = r->dev;
	e->partno = block_partition_of(rq);
	e->sector = BPF_CORE_READ(rq, __sector) - (r->done >> 9);
	e->bytes = bytes;
	e->error = block_error(end->status);
	if (r->kernel_stack)
		block_sample(r, end->ns, e->queued_ns + e->device_ns);
	EVENT_SEND(block, e, ENTRY_INTERRUPT, block_texts(e, block_disk_of(rq, false), op, flags));
}

static __always_inline void block_ended(const struct block_end *end, bool typed, bool alone,
					const struct block_request *r)
{
	__u64 bytes = end->bytes + (__u64)r->done, queued_ns, device_ns;
	struct block_disk *disk = block_leave(alone, r->dev, end->ns);
	struct request *rq = end->rq;
	__u32 op, flags;

	if (!enabled)
		return;
	queued_ns = r->insert_ns ? r->issue_ns - r->insert_ns : 0;
	device_ns = end->ns - r->issue_ns;
	op = flags = BLOCK_READ(typed, rq, cmd_flags);
	op &= REQ_OP_MASK;
	if (op >= BLOCK_OP_CNT || !block_ops[op][0])
		op = BLOCK_OP_CNT;
	block_count(alone, r, op, queued_ns, device_ns, bytes);
	if (disk && bytes)
		block_count_pattern(alone, disk, r->dev,
				    BLOCK_READ(typed, rq, __sector) - (r->done >> 9), bytes);
	if (queued_ns + device_ns >= block_min_ns && block_admit(alone, r))
		block_event(r, end, op, flags, bytes);
}

static __always_inline int on_complete(const struct block_end *end, bool typed)
{
	struct request *rq = end->rq;
	__u64 at = (__u64)rq;
	struct block_request *r = bpf_map_lookup_elem(&block_requests, &at);
	struct block_cpu *c;

	if (!r || !r->active)
		return 0;
	if (end->bytes < BLOCK_READ(typed, rq, __data_len)) {
		r->done += end->bytes;
		return 0;
	}
	if (r->issue_ns) {
		c = block_begin();
		block_ended(end, typed, c, r);
		block_end(c);
	}
	r->active = 0;
	if (block_kept <= BLOCK_KEPT)
		return 0;
	if (!bpf_map_delete_elem(&block_requests, &at))
		add_atomically(&block_kept, -1ULL);
	return 0;
}

SEC("?tp_btf/block_rq_complete")
int block_complete(__u64 *ctx)
{
	struct block_end end = {(void *)ctx[0], ctx[1], ctx[2], bpf_ktime_get_ns()};

	return on_complete(&end, true);
}

SEC("?raw_tp/block_rq_complete")
int block_complete_raw(struct bpf_raw_tracepoint_args *ctx)
{
	struct block_end end = {(void *)ctx->args[0], ctx->args[1], ctx->args[2],
				bpf_ktime_get_ns()};

	return on_complete(&end, false);
}
