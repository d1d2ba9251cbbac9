/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Selects the bytes to capture of a call: protocol state per socket, --l7, calls with several
 * messages. */
#ifndef BPF_NET_CHOICE_BPF_H
#define BPF_NET_CHOICE_BPF_H

#include "bpf/net/net_frames.bpf.h"

extern const volatile __u32 net_payload_many; /* captured of a call with several messages; 0: off */
extern const volatile __u64 net_l7_keep;      /* --l7: bits by enum net_protocol; 0: no filter */

enum {
	DOUBTS_MAX = 3,
	UNSURE_CALLS = 32,    /* no guess after so many calls without result */
	PIPELINED_CALLS = 32, /* of more than PIPELINED_FREE bytes, since the last evidence */
	PIPELINED_FREE = 4096,
	GUESS_WANT = 64, /* bytes examined of calls that --l7 excludes */
};
#define GUESS_PROTOCOL(guess) ((guess)&0xff)
#define GUESS_SIZE(guess) ((guess) >> 8)

/* Guesses the protocol of the call in this scratch (net_guess.bpf.c). Returns the protocol and,
 * shifted by 8, the size of its first message (at most 8 MiB; 0: not known). */
int net_guess(__u32 slot, __u32 have, __u32 call, __u32 dgram);

static __always_inline void remember(struct net_sock *s, __u32 protocol)
{
	if (!protocol)
		return;
	if (protocol == s->protocol) {
		s->doubts = 0;
	} else if (!s->protocol || ++s->doubts >= DOUBTS_MAX) {
		s->protocol = protocol;
		s->doubts = 0;
		s->frame_state[0] = s->frame_state[1] = 0;
		s->left[0] = s->left[1] = 0;
		s->single[0] = s->single[1] = 0;
	}
}

/* Whether --l7 selects this call. Of unknown traffic, the first bytes of each direction are
 * captured. */
static __always_inline bool is_chosen(struct net_sock *s, __u32 dir, __u32 kept)
{
	if (!net_l7_keep)
		return true;
	if (s->protocol)
		return net_l7_keep >> (s->protocol & 63) & 1;
	if (net_l7_keep & 1 << NET_PROTO_UNKNOWN)
		return true;
	if (s->unsure[dir & 1] >= NET_UNSURE_MAX)
		return false;
	s->unsure[dir & 1] += kept;
	return true;
}

/*
 * Whether the call carries several messages, so that its first bytes are not sufficient. The rest
 * of a message larger than its call is stored in `left` and not examined. A call without evidence
 * (one that starts within a message, an HTTP/1 response) is treated like earlier calls of the
 * socket.
 */
static __always_inline bool carries_many(struct net_sock *s, __u32 guess, __u32 dir, __u32 len)
{
	__u32 *left = &s->left[dir & 1], size = GUESS_SIZE(guess);

	if (*left >= len) {
		*left -= len;
		return false;
	}
	if (*left) {
		*left = 0;
	} else if (size > len) {
		*left = size - len;
		return false;
	} else if (size == len) {
		if (!net_l7_keep)
			s->single[dir & 1] = len;
		return false;
	} else if (size) {
		s->pipelined = PIPELINED_CALLS;
	}
	if (!s->pipelined || len <= net_payload_max)
		return false;
	if (len > PIPELINED_FREE)
		s->pipelined--;
	return true;
}

/*
 * Without a filter, short calls of sockets with a known protocol are captured without a guess.
 * HTTP/1 requests are still examined, because responses do not show pipelining, unless the call is
 * as long as the last single message.
 */
static __always_inline bool wants_guess(const struct net_sock *s, const struct net_scratch *n,
					__u32 dir, __u32 len)
{
	if (net_l7_keep || len > net_payload_max || s->left[dir & 1])
		return true;
	if (!s->protocol)
		return s->calls[0] + s->calls[1] < UNSURE_CALLS;
	return s->protocol == NET_PROTO_http1 && record_of(n)->data[0] != 'H' &&
	       s->single[dir & 1] != len;
}

static __always_inline bool is_http2_stream(const struct net_sock *s, bool datagram)
{
	return !datagram && s->protocol == NET_PROTO_http2;
}

static __always_inline __u32 want_of(const struct net_sock *s, __u32 len)
{
	__u32 want = net_payload_max;

	if (net_l7_keep && s->protocol && !(net_l7_keep >> (s->protocol & 63) & 1) &&
	    want > GUESS_WANT)
		want = GUESS_WANT;
	return len < want ? len : want;
}

/* Decides whether the call in the scratch is sent; sets *kept to the number of bytes to send. */
static __always_inline bool choose(struct net_scratch *n, __u32 slot, struct net_sock *s, __u32 dir,
				   __u32 len, enum buffers how, const struct call *c, __u32 *kept)
{
	const struct wire_payload *r = record_of(n);
	__u32 datagram = r->flags & PAYLOAD_DATAGRAM, pos = r->pos, guess = 0;
	bool http2 = is_http2_stream(s, datagram);
	bool frames = http2 && frames_known(s, dir, pos), many;

	if (!http2 && !wants_guess(s, n, dir, len))
		return true;
	if (!frames) {
		guess = net_guess(slot, *kept, len, datagram);
		remember(s, GUESS_PROTOCOL(guess));
		http2 = is_http2_stream(s, datagram);
	}
	if (!is_chosen(s, dir, *kept)) {
		unclaim_scratch(n);
		return false;
	}
	frames = forget(n, frames);
	http2 = forget(n, http2);
	if (http2 && !frames && GUESS_PROTOCOL(guess) == NET_PROTO_http2) {
		frames_found(s, dir, pos, record_of(n)->data[0] == 'P');
		frames = true;
	}
	frames &= how != BUF_NONE; /* the position of a later frame may still be known */
	if (frames)
		many = frames_begin(n, slot, s, dir, how, c, *kept);
	else if (http2)
		many = len > net_payload_max;
	else
		many = !datagram && carries_many(s, guess, dir, len);
	many = forget(n, many);
	if (many && net_payload_many)
		*kept = copy_payload(slot, how, c, len < net_payload_many ? len : net_payload_many);
	if (frames)
		*kept = frames_end(n, slot, s, dir, pos, len, *kept);
	return true;
}

/* Handles a call of the current task that transferred `len` bytes on `s`. `buffers`: result of
 * net_buffers_of(). `fetch`: as in count_bytes(). */
static __always_inline void take_payload(struct net_sock *s, __u32 dir, __u32 len, __u64 pos,
					 __u32 tcp_seq, const struct call *c, __u32 buffers,
					 bool fetch)
{
	__u32 slot, kept;
	enum buffers how = buffers & BUFFERS_HOW;
	struct net_scratch *n = len ? payload_begin(s, dir, len, pos, tcp_seq, c->who, fetch) : NULL;

	if (!n)
		return;
	/* sendfile and splice transfer data without a buffer in the process: only the length is
	 * counted. tcp(7): with MSG_TRUNC the data is discarded and the buffer is not written. */
	if (buffers >> BUFFERS_DIR != dir || (s->transport == IPPROTO_TCP && c->flags & MSG_TRUNC))
		how = BUF_NONE;
	slot = bpf_get_smp_processor_id();
	kept = copy_payload(slot, how, c, want_of(s, len));
	if (!__builtin_constant_p(buffers))
		how = forget(n, how);
	if (!choose(n, slot, s, dir, len, how, c, &kept))
		return;
	if (!s->remote.family && record_of(n)->flags & PAYLOAD_DATAGRAM && how != BUF_NONE)
		find_peer(&record_of(n)->peer, c);
	payload_end(n, kept);
}

#endif
