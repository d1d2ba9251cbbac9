/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Through the frames of a call, window after window of the caller's memory: what tells of streams
 * is sent as records of their own, each as long as what lies up to the next.
 */
#include "bpf/net/net_frames.bpf.h"

enum {
	FRAMES_AT_ONCE = 64, /* of those in view, before anything else is looked at */
	STEPS_AT_ONCE = 16,
	STEPS_MAX = 512, /* a call */
	WINDOW = 2048,
	PIECES_A_WINDOW = 64, /* of a vector; more are another step */
	DATA_MASK = NET_MAX_PAYLOAD - 1,
};

static __always_inline struct net_scratch *scratch_at(__u32 slot)
{
	return bpf_map_lookup_elem(&net_scratch, &slot);
}

_Static_assert(NET_FRAMES_MORE == FRAME_BLOCK + WINDOW, "read on to a block's end");

/* Past a frame whose head is in view. 1; 0: there is none, or a gap behind it; -1: out of step. */
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

/* Past those whose heads are in view. 0: all of them, or up to a gap; 1: more are; -1: out of step.
 */
__noinline int net_frames_heads(__u32 slot)
{
	int more = 1;

	for (__u32 i = 0; i < FRAMES_AT_ONCE && more > 0; i++)
		more = net_frames_head(slot);
	return more;
}

/* Bytes behind those in view, `want` at most: how many, 0 when the next piece of the vector is
 * another. */
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
	/* Here and not earlier: the verifier forgets the bounds of a number that was moved. */
	asm volatile("" : "+r"(len));
	if (len > WINDOW || have >= NET_MAX_PAYLOAD || have + len > net_kept_max)
		return -1;
	if (!read_user(record_of(n)->data + (have & DATA_MASK), len, w->base + off))
		return -1;
	w->frames.have = have + len;
	return len;
}

/* Up to `want` bytes more come into view. 1; -1: they cannot be had. */
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

/* What is in view goes out, up to the next head, which comes first in what follows. */
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

/* 1: another step; 0: at the call's end; -1: out of step. */
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

/* As net_frames_step(), several of them: the verifier sees a loop of loops, not one long one. */
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
