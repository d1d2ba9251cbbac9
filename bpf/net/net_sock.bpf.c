/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Identity of a socket: creates its entry, reads its addresses and role, announces it to obrec.
 *
 * The role is in the kernel's data, whenever the connection was opened, so no system call has to be
 * hooked for it. An accepted TCP socket is a copy of its listener, including the backlog
 * (sk_clone_lock(), from inet_csk_clone_lock()). The port of a connecting socket was chosen by
 * connect(), which marks the port's bucket (__inet_hash_connect(), fastreuse -1), or by bind().
 */
#include "bpf/net/net_call.bpf.h"

const volatile __u32 net_sample_per_64k = 65536;
const volatile __u32 net_cpus = 1;

struct net_socks_map net_socks SEC(".maps");
struct net_born_map net_born SEC(".maps");
struct net_others_map net_others SEC(".maps");

/*
 * Memory where a socket record is assembled: the stack is too small (before 6.13, e00931c02568,
 * "bpf: Enable private stack for eligible subprogs", these programs and the functions they call
 * share 512 bytes). Several slots per CPU, because on newer kernels a task may be preempted in a
 * tracepoint program. Each slot numbers its own sockets, because atomic additions do not return the
 * old value before 5.12.
 */
enum { SOCK_SLOTS = 4 };
struct sock_slot {
	__u64 busy; /* claim() */
	__u32 at, made;
	struct wire_sock w;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SOCK_SLOTS);
	__type(key, __u32);
	__type(value, struct sock_slot);
} net_sock_slots SEC(".maps");

static __always_inline struct sock_slot *slot_claim(void)
{
	for (__u32 i = 0; i < SOCK_SLOTS; i++) {
		__u32 at = i;
		struct sock_slot *slot = bpf_map_lookup_elem(&net_sock_slots, &at);

		if (!slot)
			return NULL;
		if (!claim(&slot->busy))
			continue;
		slot->at = i;
		return slot;
	}
	loss_count(LOSS_SCRATCH);
	return NULL;
}

static __always_inline void slot_release(struct sock_slot *slot)
{
	unclaim(&slot->busy);
}

static __always_inline __u32 next_id(struct sock_slot *slot)
{
	return (slot->made++ * SOCK_SLOTS + slot->at) * net_cpus + bpf_get_smp_processor_id() + 1;
}

/* Reads the bound name of a Unix socket or, when it has none, as clients, of its peer. */
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

/* Whether this is the first unconnected datagram socket. obrec is then woken to hook system call
 * exits, because until then senders are missing. */
static __always_inline bool wants_exits(const struct net_sock *s)
{
	if (!net_payload_on || net_by != NET_BY_SOCK || !unconnected_datagram(s) ||
	    net_exits_state != NET_DEMAND_OFF)
		return false;
	net_exits_state = NET_DEMAND_WANTED;
	return true;
}

/* Announces the socket in the slot to obrec: new, with updated addresses, or closed. Global with
 * scalar arguments, so that it is verified once and not for each caller. */
__noinline int net_sock_announce(__u64 key, __u32 at, __u32 closed)
{
	struct sock_slot *slot = bpf_map_lookup_elem(&net_sock_slots, &at);
	__u64 id = bpf_get_current_pid_tgid();
	struct wire_sock *w;

	if (!slot)
		return 0;
	w = &slot->w;
	w->hdr.kind = WIRE_SOCK;
	w->hdr.probe = 0;
	w->hdr.size = sizeof(*w);
	w->ts_ns = bpf_ktime_get_ns();
	w->closed = closed;
	w->path_sz = 0;
	__builtin_memset(w->comm, 0, sizeof(w->comm));
	if (id >> 32 == w->sock.tgid) /* segments arrive in the context of any process */
		bpf_get_current_comm(w->comm, sizeof(w->comm));
	if (w->sock.transport > 256 && !closed)
		read_unix((void *)key, w);
	ring_send(w, sizeof(*w), sizeof(*w), LOSS_RING_NET, ~0ULL, wants_exits(&w->sock));
	return 0;
}

/* As net_sock_announce(), for the entry `key` of the socket `sk`. */
__noinline int net_sock_announce_entry(__u64 sk, __u64 key, __u32 closed)
{
	const struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);
	struct sock_slot *slot = s ? slot_claim() : NULL;

	if (!slot)
		return 0;
	slot->w.sock = *s;
	net_sock_announce(sk, slot->at, closed);
	slot_release(slot);
	return 0;
}

static __always_inline bool is_sampled(__u32 id)
{
	return net_sample_per_64k >= 65536 || (id * 2654435761u >> 16) < net_sample_per_64k;
}

/* ---- roles ---- */

enum { SOCK_BINDADDR_LOCK = 4, SOCK_BINDPORT_LOCK = 8 };

/* Role of a TCP socket. Not known for an accepted socket whose listener has a backlog of 0, and for
 * a client that bound itself to a random port. */
static __always_inline __u32 tcp_role(struct sock *sk)
{
	struct inet_connection_sock *icsk = (void *)sk;

	if (BPF_CORE_READ(sk, sk_max_ack_backlog))
		return NET_SERVER;
	if (BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks) & SOCK_BINDPORT_LOCK ||
	    BPF_CORE_READ(icsk, icsk_bind_hash, fastreuse) < 0)
		return NET_CLIENT;
	return 0;
}

/* A UDP socket that was bound explicitly and is not connected is a server; clients are assigned a
 * port. */
static __always_inline __u32 udp_role(struct sock *sk, const struct net_sock *s)
{
	__u32 bound = BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks) &
		      (SOCK_BINDADDR_LOCK | SOCK_BINDPORT_LOCK);

	if (!s->remote.family)
		return bound ? NET_SERVER : NET_CLIENT;
	return bound & SOCK_BINDPORT_LOCK ? 0 : NET_CLIENT;
}

/* An accepted socket shares the address object of its listener. */
static __always_inline __u32 unix_role(struct sock *sk)
{
	struct unix_sock *u = (void *)sk, *peer = (void *)BPF_CORE_READ(u, peer);
	struct unix_address *own = BPF_CORE_READ(u, addr), *other = NULL;
	int shared = 1;

	if (peer)
		other = BPF_CORE_READ(peer, addr);
	if (own && other)
		shared = BPF_CORE_READ(own, refcnt.refs.counter);
	if (own && (!other || shared > 1))
		return NET_SERVER;
	return other ? NET_CLIENT : 0;
}

static __always_inline __u32 role_of(struct sock *sk, const struct net_sock *s)
{
	switch (s->transport) {
	case IPPROTO_TCP:
		return tcp_role(sk);
	case IPPROTO_UDP:
		return udp_role(sk, s);
	case TRANSPORT_UNIX_STREAM:
		return unix_role(sk);
	}
	return 0;
}

/* ---- entries ---- */

static __always_inline __u64 born_ns(__u64 key)
{
	__u64 *ns = bpf_map_lookup_elem(&net_born, &key), born = ns ? *ns : 0;

	if (ns)
		bpf_map_delete_elem(&net_born, &key);
	return born;
}

static __always_inline void sock_fill(struct sock *sk, struct net_sock *s, __u64 inode, __u32 tgid,
				      __u32 flags)
{
	s->inode = inode;
	s->key = (__u64)sk;
	s->tgid = tgid;
	s->flags = flags;
	s->transport = transport_of(sk);
	s->seen_ns = bpf_ktime_get_ns();
	if (!is_sampled(s->id))
		s->flags |= NET_SAMPLED_OUT;
	s->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	if (s->transport < 256)
		read_addrs(sk, s);
	if (!(flags & (NET_CLIENT | NET_SERVER)))
		s->flags |= role_of(sk, s);
	if (flags & NET_OPENED)
		s->opened_ns = s->seen_ns;
	else if (s->flags & NET_SERVER && s->transport == IPPROTO_TCP)
		s->opened_ns = born_ns(s->key);
	if (s->opened_ns)
		s->flags |= NET_OPENED;
}

/* Inserts the slot's socket into the map and announces it to obrec. */
static __always_inline void enter(struct sock *sk, struct sock_slot *slot, __u64 key)
{
	if (bpf_map_update_elem(&net_socks, &key, &slot->w.sock, BPF_ANY))
		loss_count(LOSS_NET_SOCKS);
	else
		net_sock_announce((__u64)sk, slot->at, false);
}

static __always_inline void sock_new(struct sock *sk, __u64 inode, __u32 tgid, __u32 flags)
{
	struct sock_slot *slot = transport_of(sk) ? slot_claim() : NULL;
	__u64 key = (__u64)sk;

	if (!slot)
		return;
	bpf_map_delete_elem(&net_others, &key); /* of an earlier socket */
	__builtin_memset(&slot->w.sock, 0, sizeof(slot->w.sock));
	slot->w.sock.id = next_id(slot);
	sock_fill(sk, &slot->w.sock, inode, tgid, flags);
	enter(sk, slot, key);
	slot_release(slot);
}

static __always_inline void move_others(__u64 from, __u64 to)
{
	struct net_others *o = bpf_map_lookup_elem(&net_others, &from);

	if (!o)
		return;
	bpf_map_update_elem(&net_others, &to, o, BPF_ANY);
	bpf_map_delete_elem(&net_others, &from);
}

/* Makes room for another socket: the entry moves to a key that is its id, not an address, until
 * obrec reads it. When the table is full, it is sent to the ring instead. */
static __always_inline void retire(__u64 sk, struct net_sock *s, __u64 entry)
{
	__u64 key = s->id;

	if (!s->closed_ns)
		s->closed_ns = bpf_ktime_get_ns();
	if (s->flags & NET_SHARED)
		move_others(s->key, key);
	if (bpf_map_update_elem(&net_socks, &key, s, BPF_ANY))
		net_sock_announce_entry(sk, entry, true);
}

/* Assigns the socket to another process: one process may accept it, and another, forked since or
 * given the descriptor, may serve it. It belongs to the process of the first transfer. */
static __always_inline void adopt(__u64 key, struct net_sock *s, __u32 tgid)
{
	if (s->calls[NET_SENT] || s->calls[NET_RECEIVED])
		return;
	s->tgid = tgid;
	net_sock_announce_entry(key, key, false);
}

/* ---- what other processes move ---- */

static __always_inline void share_new(struct net_sock *s, __u64 key, __u32 tgid)
{
	struct sock_slot *slot = slot_claim();
	struct net_sock *u;

	if (!slot)
		return;
	u = &slot->w.sock;
	__builtin_memset(u, 0, sizeof(*u));
	u->id = next_id(slot);
	u->inode = s->inode;
	u->key = s->key;
	u->shared = s->id;
	u->tgid = tgid;
	u->transport = s->transport;
	u->flags = NET_SHARE | (s->flags & (NET_CLIENT | NET_SERVER));
	u->seen_ns = bpf_ktime_get_ns();
	u->local = s->local;
	u->remote = s->remote;
	u->netns = s->netns;
	enter((void *)s->key, slot, key);
	slot_release(slot);
}

static __always_inline void add_to_others(__u64 sk, struct net_sock *s, __u32 dir, __u32 len)
{
	struct net_others none = {0}, *o = bpf_map_lookup_elem(&net_others, &sk);

	if (!o) {
		bpf_map_update_elem(&net_others, &sk, &none, BPF_NOEXIST);
		o = bpf_map_lookup_elem(&net_others, &sk);
	}
	if (!o) {
		loss_count(LOSS_NET_OTHERS);
		return;
	}
	/* May be lost until the next call when another flag is set at the same time. */
	if (!(s->flags & NET_SHARED))
		s->flags |= NET_SHARED;
	add_atomically(&o->bytes[dir & 1], len);
	add_atomically(&o->calls[dir & 1], 1);
}

__noinline int net_sock_share(__u64 sk, __u32 tgid, __u32 dir, __u32 len)
{
	__u64 key = NET_SHARE_KEY(sk, tgid);
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &sk), *u;

	if (!s)
		return 0;
	u = bpf_map_lookup_elem(&net_socks, &key);
	if (!u || u->shared != s->id) {
		if (u)
			retire(sk, u, key);
		share_new(s, key, tgid);
		u = bpf_map_lookup_elem(&net_socks, &key);
	}
	if (!u)
		return 0;
	add_atomically(&u->bytes[dir & 1], len);
	add_atomically(&u->calls[dir & 1], 1);
	add_to_others(sk, s, dir, len);
	return 0;
}

__noinline int net_sock_settle(__u64 key, __u64 inode, __u32 tgid, __u32 flags)
{
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (s && s->inode == inode && !(flags && s->closed_ns)) {
		if (s->tgid != tgid)
			adopt(key, s, tgid);
		return 0;
	}
	if (s)
		retire(key, s, key);
	sock_new((void *)key, inode, tgid, flags);
	return 0;
}

__noinline int net_sock_moved(__u64 key)
{
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (!s)
		return 0;
	read_addrs((void *)key, s);
	net_sock_announce_entry(key, key, false);
	return 0;
}

__noinline int net_sock_has_fd(__u64 key, __u32 fd)
{
	return (__u64)sock_of_fd(fd) == key;
}

/* With a protocol on top of TCP (kernel TLS), the received bytes differ from those on the wire. */
__noinline int net_sock_unseen(__u64 key)
{
	struct inet_connection_sock *sk = (void *)key;

	if (BPF_CORE_READ(sk, icsk_ulp_ops))
		return 0;
	if (net_splice_state == NET_DEMAND_OFF)
		net_splice_state = NET_DEMAND_WANTED;
	loss_count(LOSS_NET_UNSEEN);
	return 0;
}
