/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Protocol guesses (guess.def) as functions for BPF programs. */
#include "bpf/net/net_choice.bpf.h"

/* guess_bytes.h */
int net_look_alike(__u32 slot, __u32 have, __u32 from);
int net_look_empty(__u32 slot, __u32 have, __u32 from);
int net_look_number(__u32 slot, __u32 have, __u32 from);
int net_look_array(__u32 slot, __u32 have, __u32 from);
int net_look_segment(__u32 slot, __u32 have, __u32 from);
#define GUESS_LOOK(name) net_look_##name(slot, have, from)
#include "bpf/net/guess.h"

const volatile __u32 net_payload_many = 0;
const volatile __u64 net_l7_keep = 0;

#define LOOK(name)                                                                                 \
	__noinline int net_look_##name(__u32 slot, __u32 have, __u32 from)                         \
	{                                                                                          \
		struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &slot);                  \
                                                                                                   \
		return n && from < GUESS_BYTES ? look_##name(record_of(n)->data, have, from) : 0;  \
	}
LOOK(alike)
LOOK(empty)
LOOK(number)
LOOK(array)
LOOK(segment)
#undef LOOK

/* Each test is a global function and verified separately: in one function, the paths of the tests
 * multiply (140,000 instructions for ten tests). */
#define GUESS(name, test, sz)                                                                      \
	__noinline int net_guess_##name(__u32 slot, __u32 have, __u32 call, __u32 dgram)           \
	{                                                                                          \
		struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &slot);                  \
		__u32 size = 0;                                                                    \
                                                                                                   \
		/* else clang leaves an argument that a test does not use unset by the caller */   \
		__asm__ volatile("" : : "r"(have), "r"(call), "r"(dgram));                         \
		if (!n || !guess_##name(record_of(n)->data, slot, have, call, dgram, &size))       \
			return 0;                                                                  \
		return NET_PROTO_##name | (size < 0x7fffff ? size : 0x7fffff) << 8;                \
	}
#include "bpf/net/guess.def"
#undef GUESS

__noinline int net_guess(__u32 slot, __u32 have, __u32 call, __u32 dgram)
{
	int guess;

#define GUESS(name, test, sz)                                                                      \
	guess = net_guess_##name(slot, have, call, dgram);                                         \
	if (guess)                                                                                 \
		return guess;
#include "bpf/net/guess.def"
#undef GUESS
	return 0;
}
