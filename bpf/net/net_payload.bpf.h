/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Captures payload: copies the bytes of a call to this CPU's scratch, adds their source, sends them
 * to obrec.
 *
 * With net_ring_mask, the scratch contains its own ring, and a record is assembled where obrec
 * reads it. Using a kernel ring buffer (lookup, lock, copy, commit) cost a server with 70,000
 * requests per second 2 % of its CPU time. Without net_ring_mask, the scratch has room for one
 * record, which is copied to the kernel ring buffer. This is used before 6.0, where array elements
 * are limited to 4 MiB ("bpf: remove obsolete KMALLOC_MAX_SIZE restriction on array map value
 * size"), and on arm64, where the update of `producer` requires a release store, which these
 * programs do not have.
 */
#ifndef BPF_NET_PAYLOAD_BPF_H
#define BPF_NET_PAYLOAD_BPF_H

#include "bpf/net/net_call.bpf.h"
#include "bpf/net/frame_heads.h"
#include "bpf/net/tls_thread.bpf.h"

/* State of parsing the caller's memory (net_frames.bpf.c). */
struct net_walk {
	struct frames frames;
	__u32 piece, piece_sz; /* current piece of the vector: its offset in the call */
	__u64 base;
	__u64 iov, iov_cnt; /* the pieces after it */
};
enum { NET_PIECES = 4 };

struct net_scratch {
	struct net_ring ring;
	__u64 busy;			      /* claim_scratch() */
	__u32 forgotten, pad2;		      /* forget() */
	struct user_iovec pieces[NET_PIECES]; /* pieces of a vector being copied */
	struct net_walk walk;
	__u64 at; /* offset in `data` of the record being assembled */
	__u32 tid, pad;
	char comm[WIRE_COMM_LEN]; /* name of thread `tid` */
	__u8 data[] __attribute__((aligned(NET_RING_DATA)));
};
_Static_assert(__builtin_offsetof(struct net_scratch, data) == NET_RING_DATA, "net.h says so");

/*
 * One element per CPU; an array, because per-CPU allocations are limited to 32 KiB. After those,
 * PLAIN_SLOTS elements per CPU for uprobes, in which a task may be preempted (since 5.18, where
 * they no longer disable preemption).
 */
struct net_scratch_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, NET_SCRATCH_SZ(0)); /* obrec adds the size of the rings */
};
extern struct net_scratch_map net_scratch SEC(".maps");

extern const volatile __u64 net_ring_mask; /* ring size - 1; 0: no ring */
extern const volatile __u64 net_wakeup_sz; /* queued bytes between wakeups of obrec */
extern const volatile __u32 net_kept_max;  /* bytes of a call per record */
extern const volatile __u32 net_payload_max;
extern const volatile __u64
	net_ring_limit; /* fill level from which the ring is reserved for samples and stacks */
extern const volatile __u32 net_direction; /* bit 0: as client, bit 1: as server */
extern const volatile bool net_tls;	   /* plaintext is captured in TLS libraries */

/* Sets the place of a new record: after the others in the ring; or outside the ring, to be lost,
 * when the largest record could overwrite data that obrec has not read. */
static __always_inline void place_record(struct net_scratch *n)
{
	__u64 queued = n->ring.producer - *(volatile __u64 *)&n->ring.consumer;

	if (!net_ring_mask)
		n->at = 0;
	else if (queued + NET_RECORD_SZ(net_kept_max) > net_ring_mask + 1)
		n->at = NET_RING_ASIDE(net_ring_mask + 1);
	else
		n->at = n->ring.producer & net_ring_mask;
}

static __always_inline struct wire_payload *record_of(const struct net_scratch *n)
{
	__u64 at = n->at;

	if (at > NET_RING_ASIDE(net_ring_mask + 1))
		at = 0;
	return (void *)(n->data + at + BPF_RINGBUF_HDR_SZ);
}

/* Returns `number` as a value unknown to the verifier, which can then prune states that differ only
 * in it. */
static __always_inline __u32 forget(struct net_scratch *n, __u32 number)
{
	volatile __u32 *place = &n->forgotten;

	*place = number;
	number = *place;
	verifier_join();
	return number;
}

/* Claims the scratch. `fetch`: as in count_bytes(). That variant is cheaper because the release is
 * a plain store, which need not wait for the record's stores to reach the cache. */
static __always_inline bool claim_scratch(struct net_scratch *n, bool fetch)
{
	if (fetch && net_ring_mask)
		return !__sync_lock_test_and_set(&n->busy, 1);
	return claim(&n->busy);
}

static __always_inline void unclaim_scratch(struct net_scratch *n)
{
	if (!net_ring_mask) {
		unclaim(&n->busy);
		return;
	}
	barrier();
	*(volatile __u64 *)&n->busy = 0;
}

/* Copies `want` bytes from user address `user` to the scratch (net_payload.bpf.c); global for the
 * same reason as net_gather(). Returns the number of bytes: all or 0. */
int net_copy(__u32 slot, __u64 user, __u32 want);
/* Copies up to `want` bytes of an I/O vector to this CPU's scratch; returns the number of bytes. */
int net_gather(__u64 iov, __u64 cnt, __u32 want);
/* As net_gather(), for the vector of a struct msghdr. */
int net_gather_message(__u64 message, __u32 want);
/* As net_gather(), for the first NET_PIECES of `cnt` pieces, appended to the `have` bytes present.
 * Returns the new number of bytes, or GATHER_ENDS() of it when a piece cannot be read. */
int net_gather_some(__u64 iov, __u32 cnt, __u32 have, __u32 want);
#define GATHER_ENDS(have) (-1 - (int)(have))

/* Reads the memory of a call. It is normally present, because data was just transferred, but the
 * kernel may be migrating the page, or another thread may have unmapped it. */
static __always_inline bool read_user(void *to, __u64 sz, __u64 from)
{
	if (!bpf_probe_read_user(to, sz, (void *)from))
		return true;
	loss_count(LOSS_NET_MEMORY);
	return false;
}

static __always_inline __u32 gather(__u64 iov, __u64 cnt, __u32 want)
{
	int have;

	if (cnt > NET_PIECES)
		return net_gather(iov, cnt, want);
	have = net_gather_some(iov, cnt, 0, want);
	return have < 0 ? GATHER_ENDS(have) : have;
}

/* Copies to the given scratch; vectors only to the CPU's own scratch. */
static __always_inline __u32 copy_payload(__u32 slot, enum buffers how, const struct call *c,
					  __u32 want)
{
	switch (how) {
	case BUF_PLAIN:
		if (want > c->arg[2]) /* MSG_TRUNC: the length may exceed the buffer */
			want = c->arg[2];
		return net_copy(slot, c->arg[1], want);
	case BUF_IOVEC:
		return gather(c->arg[1], c->arg[2], want);
	case BUF_MSGHDR:
		return net_gather_message(c->arg[1], want);
	default:
		return 0;
	}
}

struct user_sockaddr { /* sockaddr_in and sockaddr_in6 */
	__u16 family, port;
	__u32 v4_or_flow;
	__u8 v6[16];
};

static __always_inline void read_peer(struct net_addr *to, __u64 user)
{
	struct user_sockaddr a = {0};

	if (!user || bpf_probe_read_user(&a, sizeof(a), (void *)user))
		if (!user || bpf_probe_read_user(&a, 16, (void *)user))
			return;
	to->port = bpf_ntohs(a.port);
	if (a.family == AF_INET) {
		to->family = 4;
		__builtin_memcpy(to->addr, &a.v4_or_flow, 4);
	} else if (a.family == AF_INET6) {
		to->family = 6;
		__builtin_memcpy(to->addr, a.v6, 16);
	}
}

/* Reads the peer of a datagram from the call's arguments or from its message. */
static __always_inline void find_peer(struct net_addr *to, const struct call *c)
{
	__u64 user = 0;

	if (c->nr == NR_sendto || c->nr == NR_recvfrom)
		user = current_peer();
	else if (bpf_probe_read_user(&user, sizeof(user), (void *)c->arg[1]))
		return;
	read_peer(to, user);
}

static __always_inline bool wants_any_payload(const struct net_sock *s)
{
	__u32 role = s->flags & (NET_CLIENT | NET_SERVER);

	if (!net_payload_on || s->flags & NET_SAMPLED_OUT || thinned_out(s->id))
		return false;
	return !role || role & net_direction;
}

/* Whether to capture what the socket just transferred. */
static __always_inline bool wants_payload(const struct net_sock *s, __u32 dir)
{
	if (net_tls && (tls_moved(s->key, s->id, dir) || s->flags & NET_TLS))
		return false;
	return wants_any_payload(s);
}

static __always_inline void payload_fill(struct net_scratch *n, const struct net_sock *s, __u32 dir,
					 __u32 len, __u64 pos, __u32 tcp_seq, __u64 who)
{
	struct wire_payload *r;

	place_record(n);
	r = record_of(n);

	if (n->tid != (__u32)who) { /* otherwise unchanged */
		bpf_get_current_comm(n->comm, sizeof(n->comm));
		n->tid = who;
	}
	r->hdr.kind = WIRE_PAYLOAD;
	r->hdr.probe = 0;
	r->ts_ns = bpf_ktime_get_ns();
	r->sock = s->id;
	r->tgid = who >> 32;
	r->tid = who;
	r->flags = s->transport == IPPROTO_UDP || s->transport == TRANSPORT_UNIX_DGRAM
			   ? PAYLOAD_DATAGRAM
			   : 0;
	r->pos = pos;
	r->len = len;
	r->tcp_seq = tcp_seq;
	r->dir = dir;
	__builtin_memcpy(r->comm, n->comm, sizeof(r->comm));
	__builtin_memset(&r->peer, 0, sizeof(r->peer));
}

static __always_inline bool all_read(struct tcp_sock *tp)
{
	return BPF_CORE_READ(tp, rcv_nxt) == BPF_CORE_READ(tp, copied_seq);
}

/*
 * Did received bytes wait to be read when these were sent? If they wait now, they may have come
 * since. A transmitted segment acknowledges all that has come (rcv_wup). What comes in response to
 * it acknowledges its bytes (snd_una), but tcp_rcv_established() queues before it acknowledges, so
 * this is only asked where rcv_wup does not tell.
 */
static __always_inline __u32 unread_of(const struct net_sock *s, __u32 dir, __u32 len, __u32 seq)
{
	struct tcp_sock *tp = (void *)s->key;
	struct sock *sk = (void *)s->key;

	if (dir == NET_SENT && s->transport == TRANSPORT_UNIX_STREAM)
		return BPF_CORE_READ(sk, sk_receive_queue.qlen) ? 0 : PAYLOAD_ALL_READ;
	if (dir != NET_SENT || s->transport != IPPROTO_TCP)
		return 0;
	if (all_read(tp))
		return PAYLOAD_ALL_READ;
	if (net_by == NET_BY_ENTRY)
		return PAYLOAD_UNREAD;
	if (BPF_CORE_READ(tp, rcv_wup) == BPF_CORE_READ(tp, copied_seq) &&
	    (__s32)(BPF_CORE_READ(tp, snd_nxt) - (seq + len)) >= 0)
		return PAYLOAD_ALL_READ;
	return (__s32)(BPF_CORE_READ(tp, snd_una) - seq) <= 0 ? PAYLOAD_UNREAD : 0;
}

static __always_inline struct net_scratch *payload_begin(struct net_sock *s, __u32 dir, __u32 len,
							 __u64 pos, __u32 tcp_seq, __u64 who,
							 bool fetch)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &cpu);

	if (!n)
		return NULL;
	if (!claim_scratch(n, fetch)) {
		loss_count(LOSS_SCRATCH);
		return NULL;
	}
	payload_fill(n, s, dir, len, pos, tcp_seq, who);
	record_of(n)->flags |= unread_of(s, dir, len, tcp_seq);
	return n;
}

/* Passes the record to obrec; the next record is placed after it. */
static __always_inline void publish(struct net_scratch *n, struct wire_payload *r, __u32 sz)
{
	__u64 queued = n->ring.producer - *(volatile __u64 *)&n->ring.consumer;
	__u32 taken = BPF_RINGBUF_HDR_SZ + sz;

	if (n->at > net_ring_mask) {
		loss_count(LOSS_RING_PAYLOAD);
		return;
	}
	((__u64 *)r)[-1] = sz;
	barrier();
	*(volatile __u64 *)&n->ring.producer += taken;
	if (is_wakeup_due(queued, taken, net_wakeup_sz))
		wake_up();
}

static __always_inline void payload_send(struct net_scratch *n, __u32 kept)
{
	struct wire_payload *r = record_of(n);
	__u32 sz;

	if (kept > NET_MAX_PAYLOAD)
		kept = NET_MAX_PAYLOAD;
	sz = (sizeof(*r) + kept + 7) & ~7u;
	r->kept = kept;
	r->hdr.size = sz;
	if (net_ring_mask)
		publish(n, r, sz);
	else
		ring_output_below(r, sz, 2 * NET_MAX_PAYLOAD - 1, LOSS_RING_PAYLOAD,
				  net_ring_limit);
}

static __always_inline void payload_end(struct net_scratch *n, __u32 kept)
{
	payload_send(n, kept);
	unclaim_scratch(n);
}

#endif
