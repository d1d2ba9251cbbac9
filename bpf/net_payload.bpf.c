/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Vectors of buffers into the scratch. */
#include "net_payload.bpf.h"

const volatile bool net_payload_on = false;
const volatile __u32 net_payload_max = 512;
const volatile __u64 net_ring_limit = 1ULL << 62;
const volatile __u32 net_direction = 3;
const volatile bool net_tls = false;

struct net_scratch_map net_scratch SEC(".maps");

enum { IOVECS_MAX = 256 };

__noinline int net_copy(__u32 slot, __u64 user, __u32 want)
{
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &slot);

	if (!n)
		return 0;
	/* Here and not earlier: the verifier forgets the bounds of a number that was moved. */
	asm volatile("" : "+r"(want));
	if (want > NET_MAX_PAYLOAD - 1)
		want = NET_MAX_PAYLOAD - 1;
	return bpf_probe_read_user(n->data, want, (void *)user) ? 0 : want;
}

/* The next pieces of a vector, some at once: to read is dearer than the bytes. 0, or negative. */
__noinline int net_gather_pieces(__u64 iov, __u64 cnt)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &cpu);

	if (!n)
		return -1;
	if (cnt >= NET_PIECES)
		return bpf_probe_read_user(n->pieces, sizeof(n->pieces), (void *)iov);
	/* Here and not earlier: see net_copy(). */
	asm volatile("" : "+r"(cnt));
	if (cnt > NET_PIECES)
		return -1;
	return bpf_probe_read_user(n->pieces, cnt * sizeof(n->pieces[0]), (void *)iov);
}

/*
 * One of these into this CPU's scratch, behind the `have` bytes of `want` that are there; how many,
 * negative when it cannot be had. Global, with scalars only, as are those around it: the verifier
 * sees each loop once and not once a caller, and what a piece comes to is just a number.
 */
__noinline int net_gather_piece(__u32 at, __u32 have, __u32 want)
{
	__u32 cpu = bpf_get_smp_processor_id(), len = want - have;
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &cpu);
	struct user_iovec *v;

	if (!n)
		return -1;
	v = &n->pieces[at & (NET_PIECES - 1)];
	if (v->len < len)
		len = v->len;
	if (len > NET_MAX_PAYLOAD - 1)
		return -1;
	if (len &&
	    bpf_probe_read_user(n->data + (have & (NET_MAX_PAYLOAD - 1)), len, (void *)v->base))
		return -1;
	return len;
}

/* Up to `want` bytes of a vector into this CPU's scratch; returns how many. */
__noinline int net_gather(__u64 iov, __u64 cnt, __u32 want)
{
	__u32 have = 0;

	for (__u32 i = 0; i < IOVECS_MAX && i < cnt && have < want; i++) {
		__u32 at = i & (NET_PIECES - 1);
		int len = 0;

		if (!at)
			len = net_gather_pieces(iov + i * sizeof(struct user_iovec), cnt - i);
		if (!len)
			len = net_gather_piece(at, have, want);
		if (len < 0)
			return have;
		have += len;
	}
	if (have < want && cnt > IOVECS_MAX)
		loss_count(LOSS_NET_VECTOR);
	return have;
}
