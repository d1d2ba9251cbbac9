/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Copies I/O vectors to the scratch. */
#include "bpf/net/net_payload.bpf.h"

const volatile bool net_payload_on = false;
const volatile __u64 net_ring_mask = 0, net_wakeup_sz = 256 << 10;
const volatile __u32 net_kept_max = NET_MAX_PAYLOAD;
const volatile __u32 net_payload_max = 512;
const volatile __u64 net_ring_limit = 1ULL << 62;
const volatile __u32 net_direction = 3;
const volatile bool net_tls = false;

struct net_scratch_map net_scratch SEC(".maps");

enum { IOVECS_MAX = 256, IOVECS_AT_ONCE = 32 };

__noinline int net_copy(__u32 slot, __u64 user, __u32 want)
{
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &slot);

	if (!n)
		return 0;
	/* The check is here because the verifier loses the bounds of a number that was moved. */
	asm volatile("" : "+r"(want));
	if (want > NET_MAX_PAYLOAD - 1)
		want = NET_MAX_PAYLOAD - 1;
	return read_user(record_of(n)->data, want, user) ? want : 0;
}

/*
 * Reads all pieces with one call, because the call costs more than the bytes. Global with scalar
 * arguments, like the function below: the verifier checks each loop once and not for each caller,
 * and the result is only a number.
 */
__noinline int net_gather_some(__u64 iov, __u32 cnt, __u32 have, __u32 want)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &cpu);
	__u64 sz;

	if (!n)
		return GATHER_ENDS(have);
	sz = (__u64)(cnt < NET_PIECES ? cnt : NET_PIECES) * sizeof(n->pieces[0]);
	/* The check is here for the reason given in net_copy(). */
	asm volatile("" : "+r"(sz));
	if (sz > sizeof(n->pieces) || !read_user(n->pieces, sz, iov))
		return GATHER_ENDS(have);
	for (__u32 i = 0; i < NET_PIECES && i < cnt && have < want; i++) {
		const struct user_iovec *v = &n->pieces[i];
		__u8 *to = record_of(n)->data + (have & (NET_MAX_PAYLOAD - 1));
		__u64 len = want - have;

		if (v->len < len)
			len = v->len;
		asm volatile("" : "+r"(len));
		if (len > NET_MAX_PAYLOAD - 1)
			return GATHER_ENDS(have);
		if (len && !read_user(to, len, v->base))
			return GATHER_ENDS(have);
		have += len;
	}
	return have;
}

/* As net_gather_some(), up to IOVECS_AT_ONCE: the verifier needs less for two short loops than for
 * a long one. */
__noinline int net_gather_more(__u64 iov, __u32 cnt, __u32 have, __u32 want)
{
	for (__u32 i = 0; i < IOVECS_AT_ONCE && i < cnt && have < want; i += NET_PIECES) {
		int now = net_gather_some(iov + i * sizeof(struct user_iovec), cnt - i, have, want);

		if (now < 0)
			return now;
		have = now;
	}
	return have;
}

__noinline int net_gather(__u64 iov, __u64 cnt, __u32 want)
{
	__u32 have = 0;

	for (__u32 i = 0; i < IOVECS_MAX && i < cnt && have < want; i += IOVECS_AT_ONCE) {
		int now = net_gather_more(iov + i * sizeof(struct user_iovec), cnt - i, have, want);

		if (now < 0)
			return GATHER_ENDS(now);
		have = now;
	}
	if (have < want && cnt > IOVECS_MAX)
		loss_count(LOSS_NET_VECTOR);
	return have;
}

__noinline int net_gather_message(__u64 message, __u32 want)
{
	struct user_msghdr m;

	return read_user(&m, sizeof(m), message) ? gather(m.iov, m.iov_cnt, want) : 0;
}
