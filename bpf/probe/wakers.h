/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_WAKERS_H
#define BPF_WAKERS_H

#include "bpf/metric.h"

enum { SERIES_wakers_pairs = SERIES_OWN };
/* Key parts: tgid << 32 | tid. */
enum { WAKERS_PART_WAKER, WAKERS_PART_WOKEN };
#define WAKERS_NO_THREAD (~0ULL) /* an interrupt */

#define WAKERS_INTERRUPT "(interrupt)" /* in place of a thread's name */

#endif
