/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Plaintext of TLS libraries, captured as payload of the socket that carries it. */
#include "bpf/net/net_choice.bpf.h"

enum { PLAIN_TRIES = 4 };

/* Claims a free scratch for a uprobe. */
static __always_inline struct net_scratch *plain_scratch(__u32 *slot, bool fetch)
{
	__u32 cpu = bpf_get_smp_processor_id();

	for (__u32 i = 0; i < PLAIN_TRIES; i++) {
		struct net_scratch *n;

		*slot = net_cpus + (NET_PLAIN_SLOTS(cpu) + i) % NET_PLAIN_SLOTS(net_cpus);
		n = bpf_map_lookup_elem(&net_scratch, slot);
		if (!n)
			return NULL;
		if (claim_scratch(n, fetch))
			return n;
	}
	loss_count(LOSS_SCRATCH);
	return NULL;
}

/*
 * Starts to capture the socket's plaintext. The protocol guessed from its ciphertext is discarded.
 */
static __always_inline void begin_tls(struct net_sock *s)
{
	s->flags |= NET_TLS;
	s->protocol = s->doubts = s->pipelined = 0;
	s->left[0] = s->left[1] = 0;
	s->unsure[0] = s->unsure[1] = 0;
	s->frame_state[0] = s->frame_state[1] = 0;
}

/*
 * Plaintext has no sequence number. It gets the one it would have if everything since the socket
 * was first seen had been plaintext, so that both ends, and several captures, agree on the start of
 * the stream.
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
	struct call c = {.who = bpf_get_current_pid_tgid(), .arg = {0, user, len}};
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
		add_atomically(&s->plain[dir & 1], len);
	}
	if (!wants_any_payload(s))
		return 0;
	n = plain_scratch(&slot, fetch);
	if (!n)
		return 0;
	payload_fill(n, s, dir, len, pos, plain_seq(key, s, dir, pos), c.who);
	record_of(n)->flags = PAYLOAD_TLS;
	if (dir == NET_SENT && s->transport == IPPROTO_TCP && all_read((void *)key))
		record_of(n)->flags |= PAYLOAD_ALL_READ;
	record_of(n)->ts_ns = ts_ns;
	kept = copy_payload(slot, BUF_PLAIN, &c, want_of(s, len));
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
