/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_WAKERS_H
#define BPF_WAKERS_H

#include "bpf/metric.h"

enum { SERIES_wakers_pairs = SERIES_OWN };
enum { WAKERS_PART_WOKEN = 2 }; /* key part after the waker's name */

#define WAKERS_INTERRUPT "(interrupt)" /* in place of a thread's name */

#endif
