/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Parses the frames of a call, reading the caller's memory window by window. Frame headers and
 * header blocks are sent as separate records; the length of each record extends to the next one.
 */
#include "bpf/net/net_frames.bpf.h"

enum {
	FRAMES_AT_ONCE = 64, /* parsed in the window before the next step */
	STEPS_AT_ONCE = 16,
	STEPS_MAX = 512, /* a call */
	WINDOW = 2048,
	PIECES_A_WINDOW = 64, /* pieces of a vector; more take another step */
	DATA_MASK = NET_MAX_PAYLOAD - 1,
};

static __always_inline struct net_scratch *scratch_at(__u32 slot)
{
	return bpf_map_lookup_elem(&net_scratch, &slot);
}

_Static_assert(NET_FRAMES_MORE == FRAME_BLOCK + WINDOW, "read on to a block's end");

/* Advances over a frame whose header is in the window. Returns 1; 0: there is none, or a gap
 * follows; -1: not a valid frame. */
__noinline int net_frames_head(__u32 slot)
{
	struct net_scratch *n = scratch_at(slot);
	struct frames *f;
	__u32 at;

	if (!n)
		return -1;
	f = &n->walk.frames;
	at = f->next - f->from;
	if (at >= NET_MAX_PAYLOAD || at + FRAME_HEAD > f->have)
		return 0;
	if (!frame_read(f, record_of(n)->data + (at & DATA_MASK)))
		return -1;
	return !frame_gap(f);
}

/* Advances over the frames whose headers are in the window. Returns 0: all, or up to a gap; 1:
 * there are more; -1: not a valid frame. */
__noinline int net_frames_heads(__u32 slot)
{
	int more = 1;

	for (__u32 i = 0; i < FRAMES_AT_ONCE && more > 0; i++)
		more = net_frames_head(slot);
	return more;
}

/* Appends at most `want` bytes to the window. Returns their number; 0 when the next bytes are in
 * another piece of the vector. */
__noinline int net_frames_piece(__u32 slot, __u32 want)
{
	struct net_scratch *n = scratch_at(slot);
	struct net_walk *w;
	__u32 off, len, have;

	if (!n)
		return -1;
	w = &n->walk;
	have = w->frames.have;
	off = w->frames.from + have - w->piece;
	if (off >= w->piece_sz) {
		struct user_iovec v;

		if (!w->iov_cnt || !read_user(&v, sizeof(v), w->iov))
			return -1;
		w->piece += w->piece_sz;
		w->piece_sz = v.len > 0x7fffffff ? 0x7fffffff : v.len;
		w->base = v.base;
		w->iov += sizeof(v);
		w->iov_cnt--;
		return 0;
	}
	len = w->piece_sz - off;
	if (len > want)
		len = want;
	/* The check is here because the verifier loses the bounds of a number that was moved. */
	asm volatile("" : "+r"(len));
	if (len > WINDOW || have >= NET_MAX_PAYLOAD || have + len > net_kept_max)
		return -1;
	if (!read_user(record_of(n)->data + (have & DATA_MASK), len, w->base + off))
		return -1;
	w->frames.have = have + len;
	return len;
}

/* Appends up to `want` bytes to the window. Returns 1; -1: they cannot be read. */
__noinline int net_frames_read(__u32 slot, __u32 want)
{
	__u32 got = 0;

	if (want > WINDOW)
		want = WINDOW;
	for (__u32 i = 0; i < PIECES_A_WINDOW && got < want; i++) {
		int len = net_frames_piece(slot, want - got);

		if (len < 0)
			return -1;
		got += len;
	}
	return 1;
}

/* Sends the window up to the next header, which starts the next window. */
__noinline int net_frames_send(__u32 slot)
{
	struct net_scratch *n = scratch_at(slot);
	struct wire_payload *r, *next;
	struct frames *f;
	__u32 len, rest, kept;

	if (!n)
		return -1;
	r = record_of(n);
	f = &n->walk.frames;
	len = f->next - f->from;
	rest = r->len - len;
	kept = frame_gap(f) ? f->until - f->from : f->have;
	r->len = len;
	payload_send(n, kept < len ? kept : len);
	place_record(n);
	next = record_of(n);
	*next = *r;
	next->pos += len;
	next->len = rest;
	if (next->tcp_seq)
		next->tcp_seq += len;
	f->from = f->until = f->next;
	f->have = 0;
	return 0;
}

/* Returns 1: another step is needed; 0: the end of the call; -1: not a valid frame. */
__noinline int net_frames_step(__u32 slot)
{
	struct net_scratch *n = scratch_at(slot);
	struct frames *f;
	__u32 end, len;
	int more = net_frames_heads(slot);

	if (!n || more)
		return more;
	f = &n->walk.frames;
	end = f->from + f->have;
	len = f->from + record_of(n)->len;
	if (f->until <= end || end >= len) {
		if (f->next >= len)
			return 0;
		if (f->next > end || frame_gap(f) || f->have >= NET_FRAMES_MAX)
			net_frames_send(slot);
		else if (end >= len)
			return 0;
	}
	return net_frames_read(slot, len - f->from - f->have);
}

/* Several steps of net_frames_step(): the verifier needs less for two nested loops than for one
 * long one. */
__noinline int net_frames_steps(__u32 slot)
{
	int more = 1;

	for (__u32 i = 0; i < STEPS_AT_ONCE && more > 0; i++)
		more = net_frames_step(slot);
	return more;
}

__noinline int net_frames_begin(__u32 slot, __u32 how, __u64 arg1, __u64 arg2, __u32 have)
{
	struct net_scratch *n = scratch_at(slot);
	struct net_walk *w;
	struct frames *f;

	if (!n)
		return 0;
	w = &n->walk;
	f = &w->frames;
	w->base = w->iov = arg1;
	w->iov_cnt = how == BUF_PLAIN ? 0 : arg2;
	w->piece = 0;
	w->piece_sz = how == BUF_PLAIN ? record_of(n)->len : 0;
	if (how == BUF_MSGHDR && !read_user(&w->iov, 2 * sizeof(__u64),
					    arg1 + __builtin_offsetof(struct user_msghdr, iov)))
		w->iov_cnt = 0;
	f->from = f->lost = 0;
	f->have = have;
	f->until = f->block ? f->next : 0;
	if (f->until > FRAME_BLOCK)
		f->until = FRAME_BLOCK;
	if (f->head_sz)
		frame_join(f, record_of(n)->data, have, record_of(n)->len);
	f->lost |= net_frames_heads(slot) < 0;
	return f->next < record_of(n)->len;
}

__noinline int net_frames_end(__u32 slot, __u32 have)
{
	struct net_scratch *n = scratch_at(slot);
	struct frames *f;
	__u32 at, sz;
	int more = 1;

	if (!n)
		return 0;
	f = &n->walk.frames;
	f->have = have;
	for (__u32 i = 0; i < STEPS_MAX / STEPS_AT_ONCE && more > 0 && !f->lost; i++)
		more = net_frames_steps(slot);
	if (more > 0 && !f->lost)
		loss_count(LOSS_NET_FRAMES);
	f->lost |= more != 0;
	at = f->next - f->from;
	sz = record_of(n)->len - at;
	if (f->lost || at >= record_of(n)->len)
		return f->have > NET_FRAMES_MAX || !frame_gap(f) ? f->have : f->until - f->from;
	if (!f->head_sz && sz < FRAME_HEAD)
		frame_cut(f, record_of(n)->data + (at & DATA_MASK), sz);
	return f->have;
}
