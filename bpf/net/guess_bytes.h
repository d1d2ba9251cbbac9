/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Helpers for the tests in guess_text.h and guess_binary.h; guess.h undefines them at its end. */
#ifndef BPF_GUESS_BYTES_H
#define BPF_GUESS_BYTES_H

#ifndef __bpf__
#include <stdbool.h>
#endif

#include "bpf/net/net.h"

enum { GUESS_BYTES = 512 }; /* readable bytes at `d`, independent of `have` */

/*
 * A search is split into stretches: look_NAME(d, have, from) examines one, starting at at(from +
 * 4). In the kernel it is a separate function, which finds `d` by `slot`: the verifier then checks
 * one stretch, and not each step of the whole search with all earlier results. The search is
 * bounded by a constant as well as by `have`, because the 5.10 verifier loses an upper bound that
 * results from a minimum.
 */
enum { GUESS_STRETCH = 16 };
#ifndef GUESS_LOOK
#define GUESS_LOOK(name) look_##name(d, have, from)
#endif

#define at(i) ((__u32)d[i])
#define be16(i) (at(i) << 8 | at((i) + 1))
#define be24(i) (at(i) << 16 | at((i) + 1) << 8 | at((i) + 2))
#define be32(i) (be16(i) << 16 | be16((i) + 2))
#define le24(i) (at(i) | at((i) + 1) << 8 | at((i) + 2) << 16)
#define le32(i) (le24(i) | at((i) + 3) << 24)
#define word4(a, b, c, e) ((__u32)(a) << 24 | (b) << 16 | (c) << 8 | (e))
#define text4(i, a, b, c, e) (be32(i) == word4(a, b, c, e))

#define GUESS_FN static __always_inline

#endif
