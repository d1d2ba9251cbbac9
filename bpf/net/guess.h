/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Guesses the protocol of a call from its first bytes, at minimal cost for the kernel: bounded
 * loops, no memory accesses except the bytes. Compiled for BPF and, in the tests, for user space.
 */
#ifndef BPF_GUESS_H
#define BPF_GUESS_H

#include "bpf/net/guess_binary.h"
#include "bpf/net/guess_text.h"

/* One test per protocol. *size: size of the first message, 0 when not known. */
#define GUESS(name, test, sz)                                                                      \
	GUESS_FN bool guess_##name(const __u8 *d, __u32 slot, __u32 have, __u32 call, bool dgram,  \
				   __u32 *size)                                                    \
	{                                                                                          \
		if (!(test))                                                                       \
			return false;                                                              \
		*size = sz;                                                                        \
		return true;                                                                       \
	}
#include "bpf/net/guess.def"
#undef GUESS

/* Protocols that have a line in guess.def, as bits by enum net_protocol. */
GUESS_FN __u64 guess_known(void)
{
#define GUESS(name, test, size) | 1ull << NET_PROTO_##name
	return 0
#include "bpf/net/guess.def"
		;
#undef GUESS
}

#undef word4
#undef be16
#undef be24
#undef be32
#undef le24
#undef le32
#undef text4
#undef at
#endif
