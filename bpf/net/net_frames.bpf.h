/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * HTTP/2: the frames of a call of any length, so that what tells of streams is kept however much
 * lies between. A socket knows for each direction where the next frame begins.
 */
#ifndef BPF_NET_FRAMES_BPF_H
#define BPF_NET_FRAMES_BPF_H

#include "bpf/net/net_payload.bpf.h"

/* net_frames.bpf.c, on the scratch's `walk`; scalars only, as net_gather(). */
/* Sets out on a call of which `have` bytes are in the scratch, with the arguments that name its
 * buffers; whether frames begin behind those. */
int net_frames_begin(__u32 slot, __u32 how, __u64 arg1, __u64 arg2, __u32 have);
/* Goes on to the call's end. All but the last piece is sent to obrec; the scratch's record is that,
 * and what is returned are the bytes kept of it. */
int net_frames_end(__u32 slot, __u32 have);

/* Is it known where the next frame begins, in a call at `pos` or behind it? */
static __always_inline bool frames_known(const struct net_sock *s, __u32 dir, __u32 pos)
{
	__s32 ahead = s->frame[dir & 1] - pos;
	__u32 state = s->frame_state[dir & 1];

	return state && (state & FRAME_HEAD_SEEN ? !ahead : ahead >= 0);
}

/* A frame, or the preface and a frame, begins the call. */
static __always_inline void frames_found(struct net_sock *s, __u32 dir, __u32 pos, bool preface)
{
	s->frame[dir & 1] = pos + (preface ? FRAME_PREFACE : 0);
	s->frame_state[dir & 1] = FRAME_KNOWN;
}

/* Sets out on the call; whether frames begin behind the `have` bytes in the scratch. */
static __always_inline bool frames_begin(struct net_scratch *n, __u32 slot,
					 const struct net_sock *s, __u32 dir, enum buffers how,
					 const struct call *c, __u32 have)
{
	struct frames *f = &n->walk.frames;

	f->next = s->frame[dir & 1] - (__u32)record_of(n)->pos;
	f->head = s->frame_head[dir & 1];
	f->head_sz = s->frame_state[dir & 1] & FRAME_HEAD_SEEN;
	f->block = s->frame_state[dir & 1] & FRAME_IN_BLOCK;
	return net_frames_begin(slot, how, c->arg[1], c->arg[2], have) > 0;
}

/* To its end: `pos` and `len` are the call's. */
static __always_inline __u32 frames_end(struct net_scratch *n, __u32 slot, struct net_sock *s,
					__u32 dir, __u32 pos, __u32 len, __u32 have)
{
	const struct frames *f = &n->walk.frames;
	int kept = net_frames_end(slot, have);

	s->frame[dir & 1] = pos + (f->head_sz ? len : f->next);
	s->frame_head[dir & 1] = f->head;
	s->frame_state[dir & 1] =
		f->lost ? 0 : FRAME_KNOWN | f->head_sz | (f->block ? FRAME_IN_BLOCK : 0);
	return kept;
}

#endif
