/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Traffic: what sockets of the targets send and receive, complete counts (l4) and payload heads
 * (l7).
 *
 * Three ways lead to a call's bytes. From 6.3 on the tracepoints sock_send_length and
 * sock_recv_length (6e6eda44b939, "sock: add tracepoint for send recv length") fire once for each
 * message of any socket, in the caller's context, inside its system call: its registers still say
 * where the buffer is. They cost nothing to system calls that do not touch sockets, and count
 * io_uring and sendfile as well. Before, the exit of the system calls is watched (raw_tp/sys_exit),
 * where registers and the real return value are at hand; kretprobes are not used, as they miss
 * calls under load, and fexit is not, as before 5.12 a trampoline that tasks sleep in may be freed.
 *
 * Kernels without tracepoints on system calls have the entries of the protocols' functions, by
 * fentry or kprobe. What a call will move is not known there; TCP's sequence numbers make up for it
 * at the next call.
 *
 * A datagram's sender is in the caller's memory only when the call returns, so payload of
 * unconnected sockets is taken at the exit in both ways.
 */
#include "net.bpf.h"
#include "guess.h"

const volatile bool net_payload_on = false;
const volatile __u32 net_payload_max = 512;
const volatile __u32 net_payload_many = 0; /* of a call with several messages; 0: no more */
const volatile __u64 net_l7_keep = 0;	   /* --l7: bits by enum net_protocol; 0: no filter */
const volatile __u64 net_ring_limit =
	1ULL << 62; /* beyond it samples and stacks have the ring for themselves */
const volatile __u32 net_sample_per_64k = 65536;
const volatile __u32 net_direction = 3; /* bit 0: as client, bit 1: as server */
const volatile __u32 net_cpus = 1;
const volatile __u32 net_by = NET_BY_EXIT;
const volatile bool net_tls = false;  /* clear text is taken in TLS libraries */
const volatile bool net_exits = true; /* the exits of sendmmsg and recvmmsg are watched */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} net_ids SEC(".maps"); /* how many sockets each CPU has numbered */
struct net_socks_map net_socks SEC(".maps");

enum { PAYLOAD_DATAGRAM = 1, PAYLOAD_TLS = 2, IOVECS_MAX = 256, MESSAGES_MAX = 64 };

struct net_scratch {
	__u64 busy;
	struct wire_payload record;
	__u8 data[2 *
		  NET_MAX_PAYLOAD]; /* twice: an offset and a length below the bound always fit */
};
/*
 * One a CPU; an array, as per-CPU memory comes in 32 KiB at most. Behind them PLAIN_SLOTS a CPU for
 * uprobes: a task may be preempted in these (5.18 on, when they stopped to disable preemption).
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct net_scratch);
} net_scratch SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_sock);
} net_sock_scratch SEC(".maps");

/* ---- who a socket is ---- */

static __always_inline void read_addrs(struct sock *sk, struct net_sock *s)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	__u32 *local = (void *)s->local.addr, *remote = (void *)s->remote.addr;

	s->local.port = BPF_CORE_READ(sk, __sk_common.skc_num);
	s->remote.port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (family == AF_INET6) {
		BPF_CORE_READ_INTO(&s->local.addr, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		BPF_CORE_READ_INTO(&s->remote.addr, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
		s->local.family = s->remote.family = 6;
		/* ::ffff:a.b.c.d is IPv4 */
		if (!remote[0] && !remote[1] && remote[2] == bpf_htonl(0xffff))
			family = AF_INET;
	}
	if (family == AF_INET) {
		__builtin_memset(s->local.addr, 0, 16);
		__builtin_memset(s->remote.addr, 0, 16);
		local[0] = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		remote[0] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		s->local.family = s->remote.family = 4;
	}
	if (!s->remote.port)
		s->remote.family = 0;
}

/* The bound name of a Unix socket or, as clients have none, of its peer. */
static __always_inline void read_unix(struct sock *sk, struct wire_sock *w)
{
	struct unix_sock *u = (void *)sk;
	struct unix_address *addr = BPF_CORE_READ(u, addr);
	__u32 len;

	if (!addr) {
		u = (void *)BPF_CORE_READ(u, peer);
		addr = u ? BPF_CORE_READ(u, addr) : NULL;
	}
	w->sock.peer_pid = BPF_CORE_READ(sk, sk_peer_pid, numbers[0].nr);
	if (!addr)
		return;
	len = BPF_CORE_READ(addr, len) - 2; /* sun_family comes first */
	if (len > NET_UNIX_PATH)
		return;
	w->path_sz = len;
	bpf_probe_read_kernel(w->path, NET_UNIX_PATH,
			      __builtin_preserve_access_index(&addr->name[0].sun_path));
}

/* TCP, UDP and Unix sockets are followed; 0 for others. */
static __always_inline __u32 transport_of(struct sock *sk)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family), type = BPF_CORE_READ(sk, sk_type);

	if (family == AF_UNIX)
		return type == SOCK_DGRAM ? TRANSPORT_UNIX_DGRAM : TRANSPORT_UNIX_STREAM;
	if (family != AF_INET && family != AF_INET6)
		return 0;
	if (type == SOCK_STREAM)
		return BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP ? IPPROTO_TCP : 0;
	return type == SOCK_DGRAM ? IPPROTO_UDP : 0;
}

/* Tells obrec of the socket as w->sock says: new, its end known better, or gone. */
static __always_inline void announce(struct sock *sk, struct wire_sock *w, bool closed)
{
	w->hdr.kind = WIRE_SOCK;
	w->hdr.probe = 0;
	w->hdr.size = sizeof(*w);
	w->ts_ns = bpf_ktime_get_ns();
	w->tid = bpf_get_current_pid_tgid();
	w->closed = closed;
	w->path_sz = 0;
	bpf_get_current_comm(w->comm, sizeof(w->comm));
	if (w->sock.transport > 256 && !closed)
		read_unix(sk, w);
	ring_output(w, sizeof(*w), sizeof(*w), LOSS_RING_NET);
}

/* The stack has no room for a socket: before 6.13 (e00931c02568, "bpf: Enable private stack for
 * eligible subprogs") the programs here and what they call share 512 bytes. */
static __always_inline struct wire_sock *sock_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&net_sock_scratch, &zero);
}

static __always_inline void announce_entry(struct sock *sk, const struct net_sock *s, bool closed)
{
	struct wire_sock *w = sock_scratch();

	if (!w)
		return;
	w->sock = *s;
	announce(sk, w, closed);
}

/* Each CPU counts for itself: an atomic addition gives no old value before 5.12. */
static __always_inline __u32 next_id(void)
{
	__u32 zero = 0, *cnt = bpf_map_lookup_elem(&net_ids, &zero);

	return cnt ? (*cnt)++ * net_cpus + bpf_get_smp_processor_id() + 1 : 0;
}

static __always_inline bool is_sampled(__u32 id)
{
	return net_sample_per_64k >= 65536 || (id * 2654435761u >> 16) < net_sample_per_64k;
}

/* --cpu-budget: one in 2^n of those that --sample chose; connections, so that what is kept is
 * whole, the same ones at every higher n. */
__u32 net_thin;
static __always_inline bool thinned_out(__u32 id)
{
	__u32 thin = net_thin & 15;

	return thin && (id * 2654435761u >> 16) >= net_sample_per_64k >> thin;
}

bool net_stateless; /* some socket is known that only its close ends */

static __always_inline struct net_sock *sock_new(struct sock *sk, __u64 key, __u64 inode,
						 __u32 tgid, __u32 flags)
{
	__u32 transport = transport_of(sk);
	struct wire_sock *w = sock_scratch();
	struct net_sock *s, *in_map;

	if (!transport || !w)
		return NULL;
	s = &w->sock;
	__builtin_memset(s, 0, sizeof(*s));
	s->inode = inode;
	s->key = key;
	s->tgid = tgid;
	s->flags = flags;
	s->transport = transport;
	s->seen_ns = bpf_ktime_get_ns();
	s->id = next_id();
	if (transport != IPPROTO_TCP)
		net_stateless = true;
	if (!is_sampled(s->id))
		s->flags |= NET_SAMPLED_OUT;
	if (flags & NET_OPENED)
		s->opened_ns = s->seen_ns;
	s->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	if (transport < 256)
		read_addrs(sk, s);
	if (bpf_map_update_elem(&net_socks, &key, s, BPF_ANY)) {
		loss_count(LOSS_NET_SOCKS);
		return NULL;
	}
	in_map = bpf_map_lookup_elem(&net_socks, &key);
	if (in_map)
		announce(sk, w, false);
	return in_map;
}

/* Accepted by one process and served by another, forked since or handed the descriptor: it is whose
 * bytes move first. */
static __always_inline void adopt(struct sock *sk, struct net_sock *s, __u32 tgid)
{
	if (s->calls[NET_SENT] || s->calls[NET_RECEIVED])
		return;
	s->tgid = tgid;
	announce_entry(sk, s, false);
}

/*
 * Another socket needs its place: what was counted waits under its number, which is no address,
 * for obrec's next look. In a full table the ring has to take it.
 */
static __always_inline void retire(struct sock *sk, struct net_sock *s)
{
	__u64 key = s->id;

	if (!s->closed_ns)
		s->closed_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&net_socks, &key, s, BPF_ANY))
		announce_entry(sk, s, true);
}

/* The entry of a socket. A struct sock that became another socket since gets another one. */
static __always_inline struct net_sock *sock_get_as(struct sock *sk, __u64 inode, __u32 tgid,
						    __u32 flags)
{
	__u64 key = (__u64)sk;
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (s && s->inode == inode) {
		if (s->tgid != tgid)
			adopt(sk, s, tgid);
		return s;
	}
	if (s)
		retire(sk, s);
	return sock_new(sk, key, inode, tgid, flags);
}

static __always_inline struct net_sock *sock_get(struct sock *sk, __u32 tgid, __u32 flags)
{
	return sock_get_as(sk, sock_inode(sk, false), tgid, flags);
}

/* ---- counting ---- */

static __always_inline void tcp_health(struct sock *sk, struct net_sock *s)
{
	struct tcp_sock *tp = (void *)sk;

	s->retransmits = BPF_CORE_READ(tp, total_retrans);
	s->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
}

/*
 * Counts a call's bytes; their position is what *pos gets. `fetch`, a constant: atomic additions
 * give the old value (5.12, 5ca419f2864a, "bpf: Add BPF_FETCH field / create atomic_fetch_add
 * instruction"; older kernels refuse the instruction even where it is never reached). Without,
 * threads that use one socket at once may be given the same position; the sums are right.
 */
static __always_inline void count_bytes(struct net_sock *s, __u32 dir, __u32 len, __u64 *pos,
					bool fetch)
{
	if (fetch) {
		*pos = __sync_fetch_and_add(&s->bytes[dir & 1], len);
	} else {
		*pos = *(volatile __u64 *)&s->bytes[dir & 1];
		__sync_fetch_and_add(&s->bytes[dir & 1], len);
	}
	__sync_fetch_and_add(&s->calls[dir & 1], 1);
}

static __always_inline void count(struct sock *sk, struct net_sock *s, __u32 dir, __u32 len,
				  __u64 *pos, bool fetch)
{
	count_bytes(s, dir, len, pos, fetch);
	if (s->transport != IPPROTO_TCP)
		return;
	tcp_health(sk, s);
}

static __always_inline __u32 first_seq(struct sock *sk, struct net_sock *s, __u32 dir, __u32 len)
{
	struct tcp_sock *tp = (void *)sk;

	if (s->transport != IPPROTO_TCP)
		return 0;
	return (dir == NET_SENT ? BPF_CORE_READ(tp, write_seq) : BPF_CORE_READ(tp, copied_seq)) -
	       len;
}

/* ---- payload ---- */

/* How a system call names its buffers. */
enum buffers { BUF_NONE, BUF_PLAIN, BUF_IOVEC, BUF_MSGHDR };

struct call {
	__u64 nr, arg[6];
};

#if defined(__TARGET_ARCH_x86)
enum {
	NR_read = 0,
	NR_write = 1,
	NR_close = 3,
	NR_readv = 19,
	NR_writev = 20,
	NR_connect = 42,
	NR_accept = 43,
	NR_sendto = 44,
	NR_recvfrom = 45,
	NR_sendmsg = 46,
	NR_recvmsg = 47,
	NR_accept4 = 288,
	NR_recvmmsg = 299,
	NR_sendmmsg = 307,
	NR_sendfile = 40,
	NR_splice = 275
};
#elif defined(__TARGET_ARCH_arm64)
enum {
	NR_read = 63,
	NR_write = 64,
	NR_close = 57,
	NR_readv = 65,
	NR_writev = 66,
	NR_connect = 203,
	NR_accept = 202,
	NR_sendto = 206,
	NR_recvfrom = 207,
	NR_sendmsg = 211,
	NR_recvmsg = 212,
	NR_accept4 = 242,
	NR_recvmmsg = 243,
	NR_sendmmsg = 269,
	NR_sendfile = 71,
	NR_splice = 76
};
#endif

/* Of the registers only what is needed: they are large, and the stack is small. */
static __always_inline long current_call(struct call *c)
{
	const struct arch_regs *regs = current_regs_place();
#if defined(__TARGET_ARCH_x86)
	struct {
		__u64 r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	} r;

	_Static_assert(sizeof(r) == __builtin_offsetof(struct arch_regs, ip) -
					    __builtin_offsetof(struct arch_regs, r10),
		       "struct arch_regs from r10 on");
	if (bpf_probe_read_kernel(&r, sizeof(r), &regs->r10))
		return -1;
	c->nr = r.orig_ax;
	c->arg[0] = r.di, c->arg[1] = r.si, c->arg[2] = r.dx, c->arg[3] = r.r10;
	c->arg[4] = r.r8, c->arg[5] = r.r9;
#else
	struct {
		__u64 orig_x0;
		__s32 syscallno;
	} r;

	if (bpf_probe_read_kernel(&r, sizeof(r), &regs->orig_x0) ||
	    bpf_probe_read_kernel(c->arg, sizeof(c->arg), regs->regs))
		return -1;
	c->nr = r.syscallno;
	c->arg[0] = r.orig_x0;
#endif
	return 0;
}

/* The same where bpf_task_pt_regs() exists and its result may be read: far cheaper. */
static __always_inline void current_call_typed(struct call *c)
{
	const struct arch_regs *r = (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());

#if defined(__TARGET_ARCH_x86)
	c->nr = r->orig_ax;
	c->arg[0] = r->di, c->arg[1] = r->si, c->arg[2] = r->dx, c->arg[3] = r->r10,
	c->arg[4] = r->r8, c->arg[5] = r->r9;
#else
	c->nr = r->syscallno;
	c->arg[0] = r->orig_x0, c->arg[1] = r->regs[1], c->arg[2] = r->regs[2],
	c->arg[3] = r->regs[3], c->arg[4] = r->regs[4], c->arg[5] = r->regs[5];
#endif
}

static __always_inline enum buffers buffers_of(__u64 nr, __u32 *dir)
{
	*dir = nr == NR_write || nr == NR_writev || nr == NR_sendto || nr == NR_sendmsg
		       ? NET_SENT
		       : NET_RECEIVED;
	switch (nr) {
	case NR_read:
	case NR_write:
	case NR_sendto:
	case NR_recvfrom:
		return BUF_PLAIN;
	case NR_readv:
	case NR_writev:
		return BUF_IOVEC;
	case NR_sendmsg:
	case NR_recvmsg:
		return BUF_MSGHDR;
	}
	return BUF_NONE;
}

struct user_msghdr { /* ABI: <linux/socket.h> on 64-bit */
	__u64 name;
	__u32 name_sz, pad;
	__u64 iov, iov_cnt, control, control_sz;
	__u32 flags, pad2;
};
struct user_iovec {
	__u64 base, len;
};

/*
 * One piece of a vector into this CPU's scratch, behind the `have` bytes of `want` that are there;
 * how many, negative when it cannot be had. Global, with scalars only, as is net_gather(): the
 * verifier sees each loop once and not once a caller, and what a piece comes to is just a number.
 */
__noinline int net_gather_piece(__u64 iovec, __u32 have, __u32 want)
{
	__u32 cpu = bpf_get_smp_processor_id(), len = want - have;
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &cpu);
	struct user_iovec v;

	if (!n || bpf_probe_read_user(&v, sizeof(v), (void *)iovec))
		return -1;
	if (v.len < len)
		len = v.len;
	if (len > NET_MAX_PAYLOAD - 1)
		return -1;
	if (len &&
	    bpf_probe_read_user(n->data + (have & (NET_MAX_PAYLOAD - 1)), len, (void *)v.base))
		return -1;
	return len;
}

/* Up to `want` bytes of a vector into this CPU's scratch; returns how many. */
__noinline int net_gather(__u64 iov, __u64 cnt, __u32 want)
{
	__u32 have = 0;

	for (__u32 i = 0; i < IOVECS_MAX && i < cnt && have < want; i++) {
		int len = net_gather_piece(iov + i * sizeof(struct user_iovec), have, want);

		if (len < 0)
			return have;
		have += len;
	}
	if (have < want && cnt > IOVECS_MAX)
		loss_count(LOSS_NET_VECTOR);
	return have;
}

static __always_inline __u32 copy_payload(struct net_scratch *n, enum buffers how,
					  const struct call *c, __u32 want)
{
	struct user_msghdr m;

	switch (how) {
	case BUF_PLAIN:
		if (want > c->arg[2]) /* MSG_TRUNC: more came than fits */
			want = c->arg[2];
		/* Here and not earlier: the verifier forgets the bounds of a number that was moved.
		 */
		asm volatile("" : "+r"(want));
		if (want > NET_MAX_PAYLOAD - 1)
			want = NET_MAX_PAYLOAD - 1;
		return bpf_probe_read_user(n->data, want, (void *)c->arg[1]) ? 0 : want;
	case BUF_IOVEC:
		return net_gather(c->arg[1], c->arg[2], want);
	case BUF_MSGHDR:
		if (bpf_probe_read_user(&m, sizeof(m), (void *)c->arg[1]))
			return 0;
		return net_gather(m.iov, m.iov_cnt, want);
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

/* Where a datagram's other side is named: sendto/recvfrom's fifth argument or the message's name.
 */
static __always_inline void find_peer(struct net_addr *to, const struct call *c)
{
	__u64 user = 0;

	if (c->nr == NR_sendto || c->nr == NR_recvfrom)
		user = c->arg[4];
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

/* Of what the socket moved just now. */
static __always_inline bool wants_payload(const struct net_sock *s, __u32 dir)
{
	if (net_tls && (tls_moved(s->key, s->id, dir) || s->flags & NET_TLS))
		return false;
	return wants_any_payload(s);
}

static __always_inline void payload_fill(struct net_scratch *n, const struct net_sock *s, __u32 dir,
					 __u32 len, __u64 pos, __u32 tcp_seq)
{
	__u64 id = bpf_get_current_pid_tgid();

	n->record.hdr.kind = WIRE_PAYLOAD;
	n->record.hdr.probe = 0;
	n->record.ts_ns = bpf_ktime_get_ns();
	n->record.sock = s->id;
	n->record.tgid = id >> 32;
	n->record.tid = id;
	n->record.flags = s->transport == IPPROTO_UDP || s->transport == TRANSPORT_UNIX_DGRAM
				  ? PAYLOAD_DATAGRAM
				  : 0;
	n->record.pos = pos;
	n->record.len = len;
	n->record.tcp_seq = tcp_seq;
	n->record.dir = dir;
	bpf_get_current_comm(n->record.comm, sizeof(n->record.comm));
	__builtin_memset(&n->record.peer, 0, sizeof(n->record.peer));
}

static __always_inline struct net_scratch *payload_begin(struct net_sock *s, __u32 dir, __u32 len,
							 __u64 pos, __u32 tcp_seq)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &cpu);

	if (!n)
		return NULL;
	if (n->busy) {
		loss_count(LOSS_SCRATCH);
		return NULL;
	}
	n->busy = 1;
	payload_fill(n, s, dir, len, pos, tcp_seq);
	return n;
}

static __always_inline void payload_end(struct net_scratch *n, __u32 kept)
{
	__u32 sz;

	if (kept > NET_MAX_PAYLOAD)
		kept = NET_MAX_PAYLOAD;
	sz = (sizeof(n->record) + kept + 7) & ~7u;
	n->record.kept = kept;
	n->record.hdr.size = sz;
	ring_output_below(&n->record, sz, 2 * NET_MAX_PAYLOAD - 1, LOSS_RING_PAYLOAD,
			  net_ring_limit);
	n->busy = 0;
}

/* ---- what a call is kept for ---- */

enum {
	DOUBTS_MAX = 3,
	UNSURE_CALLS = 32,    /* a socket not known by then is looked at no more */
	PIPELINED_CALLS = 32, /* of more than PIPELINED_FREE bytes, without a new sign */
	PIPELINED_FREE = 4096,
	GUESS_WANT = 64, /* bytes looked at of what will be left out */
};
#define GUESS_PROTOCOL(guess) ((guess)&0xff)
#define GUESS_SIZE(guess) ((guess) >> 8)

/*
 * The guess for the call in that scratch: its protocol and, shifted, the size of its first message
 * (cut at 8 MiB; 0: not known). Each test is a global function, verified once and for itself: in
 * one piece, the ways through one multiply those through the next (140,000 instructions for ten).
 */
#define GUESS(name, test, sz)                                                                      \
	__noinline int net_guess_##name(__u32 slot, __u32 have, __u32 call, __u32 dgram)           \
	{                                                                                          \
		struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &slot);                  \
		__u32 size = 0;                                                                    \
                                                                                                   \
		/* else clang leaves an argument that a test does not use unset by the caller */   \
		__asm__ volatile("" : : "r"(have), "r"(call), "r"(dgram));                         \
		if (!n || !guess_##name(n->data, have, call, dgram, &size))                        \
			return 0;                                                                  \
		return NET_PROTO_##name | (size < 0x7fffff ? size : 0x7fffff) << 8;                \
	}
#include "guess.def"
#undef GUESS

__noinline int net_guess(__u32 slot, __u32 have, __u32 call, __u32 dgram)
{
	int guess;

#define GUESS(name, test, sz)                                                                      \
	guess = net_guess_##name(slot, have, call, dgram);                                         \
	if (guess)                                                                                 \
		return guess;
#include "guess.def"
#undef GUESS
	return 0;
}

static __always_inline void remember(struct net_sock *s, __u32 protocol)
{
	if (!protocol)
		return;
	if (protocol == s->protocol) {
		s->doubts = 0;
	} else if (!s->protocol || ++s->doubts >= DOUBTS_MAX) {
		s->protocol = protocol;
		s->doubts = 0;
	}
}

/* --l7: is this call one of those? Traffic that is not known keeps its first bytes each way. */
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
 * Does the call carry several messages, so that its head is not enough? A message larger than its
 * call is noted, as its rest is looked for no messages. What does not tell (a call that begins
 * within a message, an answer of HTTP/1) is taken for what was seen on the socket before.
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
		return false;
	} else if (size) {
		s->pipelined = PIPELINED_CALLS;
	}
	if (s->protocol == NET_PROTO_http2)
		return len > net_payload_max;
	if (!s->pipelined || len <= net_payload_max)
		return false;
	if (len > PIPELINED_FREE)
		s->pipelined--;
	return true;
}

/* Without a filter, short calls of known sockets are kept as they are. Requests of HTTP/1 are
 * looked at all the same: answers to a pipeline do not tell what they are. */
static __always_inline bool wants_guess(const struct net_sock *s, const struct net_scratch *n,
					__u32 dir, __u32 len)
{
	if (net_l7_keep || len > net_payload_max || s->left[dir & 1])
		return true;
	if (!s->protocol)
		return s->calls[0] + s->calls[1] < UNSURE_CALLS;
	return s->protocol == NET_PROTO_http1 && n->data[0] != 'H';
}

static __always_inline __u32 want_of(const struct net_sock *s, __u32 len)
{
	__u32 want = net_payload_max;

	if (net_l7_keep && s->protocol && !(net_l7_keep >> (s->protocol & 63) & 1) &&
	    want > GUESS_WANT)
		want = GUESS_WANT;
	return len < want ? len : want;
}

/* tcp(7): with MSG_TRUNC the bytes are thrown away, and the buffer is not written. */
static __always_inline bool discards(const struct call *c)
{
	return (c->nr == NR_recvfrom && c->arg[3] & MSG_TRUNC) ||
	       (c->nr == NR_recvmsg && c->arg[2] & MSG_TRUNC);
}

/* Of the `*kept` bytes of a call in that scratch: whether they are sent, and how many in the end.
 */
static __always_inline bool choose(struct net_scratch *n, __u32 slot, struct net_sock *s, __u32 dir,
				   __u32 len, enum buffers how, const struct call *c, __u32 *kept)
{
	__u32 datagram = n->record.flags & PAYLOAD_DATAGRAM, guess;

	if (!wants_guess(s, n, dir, len))
		return true;
	guess = net_guess(slot, *kept, len, datagram);
	remember(s, GUESS_PROTOCOL(guess));
	if (!is_chosen(s, dir, *kept)) {
		n->busy = 0;
		return false;
	}
	if (!datagram && carries_many(s, guess, dir, len) && net_payload_many)
		*kept = copy_payload(n, how, c, len < net_payload_many ? len : net_payload_many);
	return true;
}

/* One call of the current task on `s` has moved `len` bytes. */
static __always_inline void take_payload(struct net_sock *s, __u32 dir, __u32 len, __u64 pos,
					 __u32 tcp_seq, const struct call *c)
{
	__u32 call_dir, kept = 0;
	enum buffers how = buffers_of(c->nr, &call_dir);
	struct net_scratch *n = len ? payload_begin(s, dir, len, pos, tcp_seq) : NULL;

	if (!n)
		return;
	/* sendfile and splice move bytes that are in no buffer of the process: their length counts.
	 */
	if (how == BUF_NONE || call_dir != dir || (s->transport == IPPROTO_TCP && discards(c)))
		how = BUF_NONE;
	kept = copy_payload(n, how, c, want_of(s, len));
	if (!choose(n, bpf_get_smp_processor_id(), s, dir, len, how, c, &kept))
		return;
	if (!s->remote.family && n->record.flags & PAYLOAD_DATAGRAM && how != BUF_NONE)
		find_peer(&n->record.peer, c);
	payload_end(n, kept);
}

/* ---- clear text ---- */

enum { PLAIN_SLOTS = 2, PLAIN_TRIES = 4 };

/* A free one for a uprobe, claimed; `fetch` as in count(): without, nothing preempts. */
static __always_inline struct net_scratch *plain_scratch(__u32 *slot, bool fetch)
{
	__u32 cpu = bpf_get_smp_processor_id();

	for (__u32 i = 0; i < (fetch ? PLAIN_TRIES : 1); i++) {
		struct net_scratch *n;

		*slot = net_cpus + (cpu * PLAIN_SLOTS + i) % (net_cpus * PLAIN_SLOTS);
		n = bpf_map_lookup_elem(&net_scratch, slot);
		if (!n)
			return NULL;
		if (fetch && !__sync_lock_test_and_set(&n->busy, 1))
			return n;
		if (!fetch && !n->busy) {
			n->busy = 1;
			return n;
		}
	}
	loss_count(LOSS_SCRATCH);
	return NULL;
}

/* From now on its clear text is recorded. What the cipher text looked like does not count. */
static __always_inline void begin_tls(struct net_sock *s)
{
	s->flags |= NET_TLS;
	s->protocol = s->doubts = s->pipelined = 0;
	s->left[0] = s->left[1] = 0;
	s->unsure[0] = s->unsure[1] = 0;
}

/*
 * Clear text has no sequence number. It gets the one that it would have if all since the socket was
 * first seen had been clear, so that both ends, and captures, agree on where the stream began.
 */
static __always_inline __u32 plain_seq(__u64 key, struct net_sock *s, __u32 dir, __u64 pos)
{
	if (s->transport != IPPROTO_TCP)
		return 0;
	return first_seq((void *)key, s, dir, 0) - (__u32)s->bytes[dir & 1] + (__u32)pos;
}

static __always_inline int take_plain(__u64 key, __u64 id_dir, __u64 user, __u32 len, __u64 ts_ns,
				      bool fetch)
{
	__u32 id = id_dir, dir = id_dir >> 32 & 1;
	struct call c = {.arg = {0, user, len}};
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);
	struct net_scratch *n;
	__u32 slot, kept;
	__u64 pos;

	if (!s || s->id != id)
		return -1;
	if (!(s->flags & NET_TLS))
		begin_tls(s);
	if (fetch) {
		pos = __sync_fetch_and_add(&s->plain[dir & 1], len);
	} else {
		pos = *(volatile __u64 *)&s->plain[dir & 1];
		__sync_fetch_and_add(&s->plain[dir & 1], len);
	}
	if (!wants_any_payload(s))
		return 0;
	n = plain_scratch(&slot, fetch);
	if (!n)
		return 0;
	payload_fill(n, s, dir, len, pos, plain_seq(key, s, dir, pos));
	n->record.flags = PAYLOAD_TLS;
	n->record.ts_ns = ts_ns;
	kept = copy_payload(n, BUF_PLAIN, &c, want_of(s, len));
	if (choose(n, slot, s, dir, len, BUF_PLAIN, &c, &kept))
		payload_end(n, kept);
	return 0;
}

__noinline int net_take_plain(__u64 sk, __u64 id_dir, __u64 user, __u32 len, __u64 ts_ns)
{
	return take_plain(sk, id_dir, user, len, ts_ns, true);
}

__noinline int net_take_plain_5_10(__u64 sk, __u64 id_dir, __u64 user, __u32 len, __u64 ts_ns)
{
	return take_plain(sk, id_dir, user, len, ts_ns, false);
}

/* ---- the tracepoints on sockets ---- */

static __always_inline bool unconnected_datagram(const struct net_sock *s)
{
	return s->transport == IPPROTO_UDP && !s->remote.family;
}

/*
 * Is a call's payload left to its exit? Only there does the caller's memory say who sent a datagram
 * (whoever takes it with read() is not told); whom it sends to it says all the time, but the entry
 * of a function does not tell what will go.
 */
static __always_inline bool left_to_exit(const struct net_sock *s, __u32 dir, const struct call *c)
{
	if (!unconnected_datagram(s) || c->nr == NR_read || c->nr == NR_readv)
		return false;
	return dir == NET_RECEIVED || net_by != NET_BY_SOCK;
}

/* By process, folded: whether some payload was ever left to an exit. */
bool net_at_exit[256];
static __always_inline bool *at_exit_of(__u32 tgid)
{
	return &net_at_exit[tgid & (sizeof(net_at_exit) - 1)];
}

/* Datagrams may be empty; a stream's 0 is its end. */
static __always_inline bool is_datagram(struct sock *sk, bool typed)
{
	return (typed ? sk->sk_type : BPF_CORE_READ(sk, sk_type)) == SOCK_DGRAM;
}

/* As count(), with the sequence number of the call's first byte. */
static __always_inline __u32 count_typed(struct sock *sk, struct net_sock *s, __u32 dir, __u32 len,
					 __u64 *pos)
{
	struct tcp_sock *tp;

	count_bytes(s, dir, len, pos, true);
	if (s->transport != IPPROTO_TCP)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	s->retransmits = tp->total_retrans;
	s->srtt_us = tp->srtt_us >> 3;
	return (dir == NET_SENT ? tp->write_seq : tp->copied_seq) - len;
}

/* `typed`, a constant: sk may be dereferenced. A probe read costs 10 ns, and a call takes ten. */
static __always_inline int on_sock(struct sock *sk, int ret, __u32 flags, __u32 dir, bool typed)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, seq;
	struct net_sock *s;
	struct proc *p;
	struct call c;
	__u64 pos;

	if (ret < 0 || !enabled || flags & MSG_PEEK || !is_target(tgid, &p))
		return 0;
	if (typed)
		current_call_typed(&c);
	else if (current_call(&c))
		return 0;
	if (!ret && !is_datagram(sk, typed))
		return 0;
	if (c.nr == NR_sendmmsg || c.nr == NR_recvmmsg)
		return 0; /* at their exit, where each message's length stands */
	s = sock_get_as(sk, sock_inode(sk, typed), tgid, 0);
	if (!s)
		return 0;
	if (typed) {
		seq = count_typed(sk, s, dir, ret, &pos);
	} else {
		count(sk, s, dir, ret, &pos, true);
		seq = first_seq(sk, s, dir, ret);
	}
	if (!wants_payload(s, dir))
		return 0;
	if (left_to_exit(s, dir, &c))
		*at_exit_of(tgid) = true;
	else
		take_payload(s, dir, ret, pos, seq, &c);
	return 0;
}

SEC("?tp_btf/sock_send_length")
int net_sock_send(__u64 *ctx)
{
	return on_sock((void *)ctx[0], ctx[1], 0, NET_SENT, true);
}

SEC("?tp_btf/sock_recv_length")
int net_sock_recv(__u64 *ctx)
{
	return on_sock((void *)ctx[0], ctx[1], ctx[2], NET_RECEIVED, true);
}

/* Where the kernel does not carry its own BTF. */
SEC("?raw_tp/sock_send_length")
int net_sock_send_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_sock((void *)ctx->args[0], ctx->args[1], 0, NET_SENT, false);
}

SEC("?raw_tp/sock_recv_length")
int net_sock_recv_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_sock((void *)ctx->args[0], ctx->args[1], ctx->args[2], NET_RECEIVED, false);
}

/* ---- the entries of the protocols' functions ---- */

static __always_inline bool peeks(const struct call *c)
{
	return (c->nr == NR_recvfrom && c->arg[3] & MSG_PEEK) ||
	       (c->nr == NR_recvmsg && c->arg[2] & MSG_PEEK) ||
	       (c->nr == NR_recvmmsg && c->arg[3] & MSG_PEEK);
}

/*
 * What a TCP socket has moved by its sequence numbers, with the socket's lock held. A send counts
 * what it is asked to; when less went (write_seq tells at the next one) the retry counts nothing
 * new. tcp_cleanup_rbuf() is called at the end of a receive, and before it with what it has so far
 * when it goes on. Returns whether bytes moved; *pos is the call's first.
 */
static __always_inline bool count_tcp(struct sock *sk, struct net_sock *s, __u32 dir, __u32 len,
				      __u64 *pos)
{
	struct tcp_sock *tp = (void *)sk;
	__u32 end = dir == NET_SENT ? BPF_CORE_READ(tp, write_seq) + len
				    : BPF_CORE_READ(tp, copied_seq);
	__s32 moved = s->flags & NET_SEQ << dir ? (__s32)(end - s->seq[dir]) : (__s32)len;

	if (moved <= 0)
		return false;
	s->flags |= NET_SEQ << dir;
	s->seq[dir] = end;
	s->bytes[dir] += moved;
	if (dir == NET_SENT || moved >= (__s32)len)
		s->calls[dir]++;
	*pos = s->bytes[dir] - len;
	s->retransmits = BPF_CORE_READ(tp, total_retrans);
	s->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	return true;
}

static __always_inline int on_entry(struct sock *sk, int len, __u32 transport, __u32 dir)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct net_sock *s;
	struct proc *p;
	struct call c;
	__u64 pos;

	if (len < 0 || !enabled || !is_target(tgid, &p) || current_call(&c) || peeks(&c))
		return 0;
	if (net_exits && (c.nr == NR_sendmmsg || c.nr == NR_recvmmsg))
		return 0;
	s = sock_get(sk, tgid, 0);
	if (!s || s->transport != transport)
		return 0;
	if (transport != IPPROTO_TCP)
		count(sk, s, dir, len, &pos, false);
	else if (!count_tcp(sk, s, dir, len, &pos))
		return 0;
	if (wants_payload(s, dir) && !left_to_exit(s, dir, &c))
		take_payload(s, dir, len, pos, first_seq(sk, s, dir, len), &c);
	return 0;
}

/* udpv6_sendmsg() calls udp_sendmsg() for IPv4 peers. */
static __always_inline int on_udp_send(struct sock *sk, int len)
{
	if (BPF_CORE_READ(sk, __sk_common.skc_family) != AF_INET)
		return 0;
	return on_entry(sk, len, IPPROTO_UDP, NET_SENT);
}

/* Each function once as fentry and once as kprobe; user space names the kernel's function. */
#define ENTRY(name, call, ...)                                                                     \
	SEC("?fentry")                                                                             \
	int net_fentry_##name(__u64 *ctx)                                                          \
	{                                                                                          \
		return call(__VA_ARGS__);                                                          \
	}                                                                                          \
	SEC("?kprobe")                                                                             \
	int net_kprobe_##name(struct arch_ctx_regs *regs)                                          \
	{                                                                                          \
		__u64 ctx[] = {CTX_ARG0(regs), CTX_ARG1(regs), CTX_ARG2(regs), CTX_ARG3(regs)};    \
		return call(__VA_ARGS__);                                                          \
	}

ENTRY(tcp_send, on_entry, (void *)ctx[0], ctx[2], IPPROTO_TCP, NET_SENT)
ENTRY(tcp_sendpage, on_entry, (void *)ctx[0], ctx[3], IPPROTO_TCP, NET_SENT)
ENTRY(tcp_receive, on_entry, (void *)ctx[0], ctx[1], IPPROTO_TCP, NET_RECEIVED)
ENTRY(udp_send, on_udp_send, (void *)ctx[0], ctx[2])
ENTRY(udp6_send, on_entry, (void *)ctx[0], ctx[2], IPPROTO_UDP, NET_SENT)
ENTRY(udp_receive, on_entry, (void *)ctx[0], ctx[2], IPPROTO_UDP, NET_RECEIVED)

/* ---- the ends of system calls ---- */

static __always_inline void on_opened(__u32 tgid, __s64 fd, __u32 role)
{
	struct sock *sk = sock_of_fd(fd);
	struct net_sock *s;

	if (!sk)
		return;
	s = sock_get(sk, tgid, role | NET_OPENED);
	/* Data came first: the handshake of a non-blocking connect, or a socket known as
	 * unconnected. */
	if (!s || s->flags & role)
		return;
	s->flags |= role;
	if (s->transport < 256)
		read_addrs(sk, s);
	announce_entry(sk, s, false);
}

struct user_mmsghdr {
	struct user_msghdr hdr;
	__u32 len, pad;
};

static __always_inline int take_message(__u64 sk_addr, __u32 dir, __u64 user, bool fetch)
{
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &sk_addr);
	struct user_mmsghdr m;
	struct net_scratch *n;
	__u32 kept;
	__u64 pos;

	if (!s || bpf_probe_read_user(&m, sizeof(m), (void *)user))
		return 0;
	count((void *)sk_addr, s, dir, m.len, &pos, fetch);
	n = wants_any_payload(s) ? payload_begin(s, dir, m.len, pos, 0) : NULL;
	if (!n)
		return 0;
	if (!s->remote.family)
		read_peer(&n->record.peer, m.hdr.name);
	kept = net_gather(m.hdr.iov, m.hdr.iov_cnt, want_of(s, m.len));
	if (wants_guess(s, n, dir, m.len)) {
		remember(s, GUESS_PROTOCOL(net_guess(bpf_get_smp_processor_id(), kept, m.len, 1)));
		if (!is_chosen(s, dir, kept)) {
			n->busy = 0;
			return 0;
		}
	}
	payload_end(n, kept);
	return 0;
}

/* One of them, global for the verifier's sake. */
__noinline int net_take_message(__u64 sk_addr, __u32 dir, __u64 user)
{
	return take_message(sk_addr, dir, user, true);
}

__noinline int net_take_message_5_10(__u64 sk_addr, __u32 dir, __u64 user)
{
	return take_message(sk_addr, dir, user, false);
}

/* sendmmsg and recvmmsg: `cnt` messages went, each with its length. */
static __always_inline void on_messages(struct sock *sk, const struct call *c, __u64 cnt,
					bool fetch)
{
	__u32 dir = c->nr == NR_sendmmsg ? NET_SENT : NET_RECEIVED;

	for (__u32 i = 0; i < MESSAGES_MAX && i < cnt; i++) {
		__u64 user = c->arg[1] + i * sizeof(struct user_mmsghdr);

		if (fetch)
			net_take_message((__u64)sk, dir, user);
		else
			net_take_message_5_10((__u64)sk, dir, user);
	}
	if (cnt > MESSAGES_MAX)
		loss_count(LOSS_NET_MESSAGES);
}

static __always_inline void on_data(const struct call *c, __u32 tgid, __s64 ret, bool fetch)
{
	bool many = c->nr == NR_sendmmsg || c->nr == NR_recvmmsg;
	__u32 dir;
	enum buffers how = buffers_of(c->nr, &dir);
	bool traced = net_by == NET_BY_SOCK; /* counted by a hook on the socket */
	struct net_sock *s;
	struct sock *sk;
	__u64 pos;

	if (c->nr == NR_sendfile || c->nr == NR_splice)
		dir = NET_SENT;
	else if (how == BUF_NONE && !many)
		return;
	if (peeks(c))
		return;
	sk = sock_of_fd(c->arg[0]);
	if (c->nr == NR_splice && sk) {
		/* Out of a stream, of which no tracepoint tells: tcp_splice_read(). */
		dir = NET_RECEIVED;
		traced = traced && is_datagram(sk, false);
	} else if (c->nr == NR_splice) {
		sk = sock_of_fd(c->arg[2]);
	}
	if (!sk || (!ret && !is_datagram(sk, false)))
		return;
	s = sock_get(sk, tgid, 0);
	if (!s)
		return;
	if (many) {
		on_messages(sk, c, ret, fetch);
		return;
	}
	if (net_by == NET_BY_ENTRY)
		traced = s->transport < 256;
	if (traced && !left_to_exit(s, dir, c))
		return;
	if (traced)
		pos = s->bytes[dir] - ret;
	else
		count(sk, s, dir, ret, &pos, fetch);
	if (wants_payload(s, dir))
		take_payload(s, dir, ret, pos, first_seq(sk, s, dir, ret), c);
}

static __always_inline int on_exit(__s64 ret, bool fetch)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct proc *p;
	struct call c;

	if (!enabled || !is_target(tgid, &p) || current_call(&c))
		return 0;
	if (c.nr == NR_connect && (!ret || ret == -115)) /* EINPROGRESS */
		on_opened(tgid, c.arg[0], NET_CLIENT);
	else if ((c.nr == NR_accept || c.nr == NR_accept4) && ret >= 0)
		on_opened(tgid, ret, NET_SERVER);
	else if (ret >= 0)
		on_data(&c, tgid, ret, fetch);
	return 0;
}

/* Before 6.3: every system call. */
SEC("?raw_tp/sys_exit")
int net_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return on_exit(ctx->args[1], true);
}

SEC("?raw_tp/sys_exit")
int net_sys_exit_5_10(struct bpf_raw_tracepoint_args *ctx)
{
	return on_exit(ctx->args[1], false);
}

struct syscall_exit_ctx {
	__u64 common;
	__s64 nr, ret;
};

/* Servers make these by the million, and nearly all on connected sockets. */
static __always_inline bool tells_nothing(__u64 nr)
{
	return net_by == NET_BY_SOCK && (nr == NR_recvfrom || nr == NR_recvmsg) &&
	       !*at_exit_of(bpf_get_current_pid_tgid() >> 32);
}

/* Where bytes are counted elsewhere: attached to the few calls whose end tells more. */
SEC("?tp")
int net_exit_of(struct syscall_exit_ctx *ctx)
{
	return tells_nothing(ctx->nr) ? 0 : on_exit(ctx->ret, true);
}

SEC("?tp")
int net_exit_of_5_10(struct syscall_exit_ctx *ctx)
{
	return on_exit(ctx->ret, false);
}

/* ---- the end of a socket ---- */

/*
 * Only noted: the last send of a TCP socket may be counted after this. (On loopback the peer's RST
 * arrives inside the very send that caused it, before the call's own tracepoint.)
 */
static __always_inline void note_closed(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (!s || s->closed_ns)
		return;
	s->closed_ns = bpf_ktime_get_ns();
	if (s->transport == IPPROTO_TCP)
		tcp_health(sk, s); /* segments may be sent again after the last call */
}

enum { TCP_CLOSE = 7 };

SEC("?raw_tp/inet_sock_set_state")
int net_tcp_state(struct bpf_raw_tracepoint_args *ctx)
{
	if (enabled && ctx->args[2] == TCP_CLOSE)
		note_closed((void *)ctx->args[0]);
	return 0;
}

/* 6.13, 90ee6ed776c0 ("fs: port files to file_ref"): f_count became f_ref, which counts from 0. */
struct file___f_count {
	struct {
		__s64 counter;
	} f_count;
} __attribute__((preserve_access_index));
struct file___f_ref {
	struct {
		struct {
			__s64 counter;
		} refcnt;
	} f_ref;
} __attribute__((preserve_access_index));

static __always_inline bool last_reference(struct file *file)
{
	struct file___f_ref *now = (void *)file;
	struct file___f_count *old = (void *)file;

	if (bpf_core_field_exists(now->f_ref))
		return !BPF_CORE_READ(now, f_ref.refcnt.counter);
	return BPF_CORE_READ(old, f_count.counter) == 1;
}

struct syscall_enter_ctx {
	__u64 common;
	__s64 nr;
	__u64 arg[6];
};

/* UDP and Unix sockets have no state to watch: the close of the last descriptor is their end. */
SEC("?tp/syscalls/sys_enter_close")
int net_close(struct syscall_enter_ctx *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct socket *socket;
	struct file *file;
	struct sock *sk;
	struct proc *p;

	if (!enabled || !net_stateless || !is_target(tgid, &p))
		return 0;
	sk = sock_of_fd(ctx->arg[0]);
	if (!sk || transport_of(sk) == IPPROTO_TCP)
		return 0;
	socket = BPF_CORE_READ(sk, sk_socket);
	file = BPF_CORE_READ(socket, file);
	if (file && last_reference(file))
		note_closed(sk);
	return 0;
}
