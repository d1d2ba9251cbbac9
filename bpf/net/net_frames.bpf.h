/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * HTTP/2: parses the frames of a call of any length, so that frame headers and header blocks are
 * captured regardless of the data between them. A socket stores the position of the next frame for
 * each direction.
 */
#ifndef BPF_NET_FRAMES_BPF_H
#define BPF_NET_FRAMES_BPF_H

#include "bpf/net/net_payload.bpf.h"

/* Functions of net_frames.bpf.c, which use `walk` of the scratch; scalar arguments only, as for
 * net_gather(). */
/* Starts parsing a call. `have` bytes of it are in the scratch; the arguments describe its buffers.
 * Returns whether frames start after those bytes. */
int net_frames_begin(__u32 slot, __u32 how, __u64 arg1, __u64 arg2, __u32 have);
/* Parses to the end of the call. All but the last record are sent to obrec; the last one stays in
 * the scratch. Returns the bytes captured of it. */
int net_frames_end(__u32 slot, __u32 have);

/* Whether the position of the next frame is known, at or after the call's position `pos`. */
static __always_inline bool frames_known(const struct net_sock *s, __u32 dir, __u32 pos)
{
	__s32 ahead = s->frame[dir & 1] - pos;
	__u32 state = s->frame_state[dir & 1];

	return state && (state & FRAME_HEAD_SEEN ? !ahead : ahead >= 0);
}

/* Sets the position: the call starts with a frame, or with the preface and a frame. */
static __always_inline void frames_found(struct net_sock *s, __u32 dir, __u32 pos, bool preface)
{
	s->frame[dir & 1] = pos + (preface ? FRAME_PREFACE : 0);
	s->frame_state[dir & 1] = FRAME_KNOWN;
}

/* Starts parsing the call; returns whether frames start after the `have` bytes in the scratch. */
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

/* Parses to the end of the call, whose position and length are `pos` and `len`. */
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
