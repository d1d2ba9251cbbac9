/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Block requests, from the scheduler's queue (insert) to the device (issue) and its response
 * (complete). The process is known at insert or issue, whichever comes first; complete runs in an
 * interrupt.
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
struct request {
	struct request_queue *q;
	unsigned int cmd_flags, __data_len;
	__u64 __sector;
} __attribute__((preserve_access_index));
/* 5.17, f3fa33acca9f ("block: remove the ->rq_disk field in struct request") */
struct request___5_16 {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));

#define REQ_OP_MASK 255

/* Requests in progress, by their address. */
struct block_request {
	__u64 insert_ns, issue_ns; /* 0: did not happen */
	__u64 who;
	__u64 user_stack, kernel_stack;
	char comm[WIRE_COMM_LEN];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct block_request);
} block_requests SEC(".maps");

/*
 * Not static: of several static variables, bpftool 7 stores a wrong offset in BTF for all but one.
 */
const char block_ops[BLOCK_OP_CNT + 1][BLOCK_OP_LEN] = {
#define X(number, name) [number] = name,
	BLOCK_OPS(X)
#undef X
		[BLOCK_OP_CNT] = "other",
};

static __always_inline void block_take_stacks(void *ctx, struct block_request *r)
{
	struct scratch *s = scratch_claim(ENTRY_TRACEPOINT);

	if (!s)
		return;
	stacks_take(ctx, ENTRY_TRACEPOINT);
	r->user_stack = s->sample.user_stack;
	r->kernel_stack = s->sample.kernel_stack;
	scratch_release(s);
}

/* Handles the first event of a target's request. */
static __always_inline void block_new(void *ctx, __u64 at, bool issued)
{
	struct block_request r = {.who = bpf_get_current_pid_tgid()};

	if (!is_recorded(r.who >> 32))
		return;
	if (issued)
		r.issue_ns = bpf_ktime_get_ns();
	else
		r.insert_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(r.comm, sizeof(r.comm));
	if (block_stack)
		block_take_stacks(ctx, &r);
	if (bpf_map_update_elem(&block_requests, &at, &r, BPF_ANY))
		loss_count(LOSS_PENDING);
}

static __always_inline int on_insert(void *ctx, __u64 at)
{
	if (enabled)
		block_new(ctx, at, false);
	return 0;
}

static __always_inline int on_issue(void *ctx, __u64 at)
{
	struct block_request *r;

	if (!enabled)
		return 0;
	r = bpf_map_lookup_elem(&block_requests, &at);
	if (r && !r->issue_ns)
		r->issue_ns = bpf_ktime_get_ns();
	else if (!r)
		block_new(ctx, at, true);
	return 0;
}

SEC("?raw_tp/block_rq_insert")
int block_insert(struct bpf_raw_tracepoint_args *ctx)
{
	return on_insert(ctx, ctx->args[0]);
}

SEC("?raw_tp/block_rq_issue")
int block_issue(struct bpf_raw_tracepoint_args *ctx)
{
	return on_issue(ctx, ctx->args[0]);
}

/*
 * Before 5.11, a54895fa057c ("block: remove the request_queue to argument request based
 * tracepoints"), which was backported to stable kernels, the queue was the first argument. On
 * kernels without a second argument, these programs cannot be attached.
 */
SEC("?raw_tp/block_rq_insert")
int block_insert_5_10(struct bpf_raw_tracepoint_args *ctx)
{
	return on_insert(ctx, ctx->args[1]);
}

SEC("?raw_tp/block_rq_issue")
int block_issue_5_10(struct bpf_raw_tracepoint_args *ctx)
{
	return on_issue(ctx, ctx->args[1]);
}

static __always_inline struct gendisk *block_disk(struct request *rq)
{
	struct request___5_16 *old = (void *)rq;

	if (bpf_core_field_exists(old->rq_disk))
		return BPF_CORE_READ(old, rq_disk);
	return BPF_CORE_READ(rq, q, disk);
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

static __always_inline void block_count(const struct block_request *r, __u32 dev, __u32 op,
					__u64 queued_ns, __u64 device_ns, __u64 bytes)
{
	struct metric_key key = {.part[BLOCK_PART_DEV] = dev, .part[BLOCK_PART_OP] = op};

	hist_add(PROBE_block, SERIES_block_device, &key, device_ns);
	hist_add(PROBE_block, SERIES_block_queued, &key, queued_ns);
	metric_key_comm(&key, r->comm);
	hist_add(PROBE_block, SERIES_block_size, &key, bytes);
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

static __always_inline __u32 block_texts(struct event_block *e, struct gendisk *disk, __u32 op)
{
	long n = bpf_probe_read_kernel_str(e->text, 32, disk->disk_name);

	e->disk = n > 0 ? (n - 1) & 31 : 0;
	n = bpf_probe_read_kernel_str(e->text + e->disk, BLOCK_OP_LEN, block_ops[op]);
	e->op = n > 0 ? (n - 1) & 15 : 0;
	return e->disk + e->op;
}

SEC("?raw_tp/block_rq_complete")
int block_complete(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 at = ctx->args[0], now = bpf_ktime_get_ns(), bytes = (__u32)ctx->args[2];
	struct block_request *found = bpf_map_lookup_elem(&block_requests, &at), r;
	struct request *rq = (void *)at;
	__u64 queued_ns, device_ns;
	struct event_block *e;
	struct gendisk *disk;
	__u32 dev, op;

	if (!found)
		return 0;
	r = *found;
	bpf_map_delete_elem(&block_requests, &at);
	if (!enabled || !r.issue_ns)
		return 0;
	queued_ns = r.insert_ns ? r.issue_ns - r.insert_ns : 0;
	device_ns = now - r.issue_ns;
	disk = block_disk(rq);
	dev = BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor);
	op = BPF_CORE_READ(rq, cmd_flags) & REQ_OP_MASK;
	if (op >= BLOCK_OP_CNT || !block_ops[op][0])
		op = BLOCK_OP_CNT;
	block_count(&r, dev, op, queued_ns, device_ns, bytes);
	if (queued_ns + device_ns < block_min_ns)
		return 0;
	e = EVENT_BEGIN_AS(block, ENTRY_INTERRUPT, r.who, r.comm);
	if (!e)
		return 0;
	e->user_stack = r.user_stack;
	e->kernel_stack = r.kernel_stack;
	e->queued_ns = queued_ns;
	e->device_ns = device_ns;
	e->dev = dev;
	e->sector = BPF_CORE_READ(rq, __sector);
	e->bytes = bytes;
	e->error = block_error(ctx->args[1]);
	if (block_stack)
		block_sample(&r, now, queued_ns + device_ns);
	EVENT_SEND(block, e, ENTRY_INTERRUPT, block_texts(e, disk, op));
	return 0;
}
