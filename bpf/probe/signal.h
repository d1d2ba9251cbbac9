/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_SIGNAL_H
#define BPF_SIGNAL_H

#include "bpf/metric.h"

enum { SERIES_signal_delivery = SERIES_OWN, SERIES_signal_sent };
enum { SIGNAL_PART_NUMBER = 2 }; /* key part after the process name */
/*
 * Key of `sent`: the names of sender and receiver. The last byte of a name, which is 0, is that of
 * SIGNAL_LAST: the signal of the sender's, what became of it and why of the receiver's.
 */
enum { SIGNAL_PART_RECEIVER = 2 };
#define SIGNAL_LAST 15
#define SIGNAL_WHAT(cause, result) ((cause) << 3 | (result))

/* What became of a signal when it was sent: X(number, "text"). The first five are the kernel's
 * TRACE_SIGNAL_*. */
#define SIGNAL_RESULTS(X)                                                                          \
	X(0, "queued")                                                                             \
	X(1, "ignored")                                                                            \
	X(2, "already pending")                                                                    \
	X(3, "queue full") X(4, "queued without details") X(5, "blocked") X(6, "other")
#define SIGNAL_CAUSES(X)                                                                           \
	X(0, "kernel")                                                                             \
	X(1, "kill")                                                                               \
	X(2, "tgkill") X(3, "sigqueue") X(4, "timer") X(5, "fault") X(6, "child") X(7, "other")
#define SIGNAL_TEXTS 8 /* of either; a power of two */
#define SIGNAL_TEXT_LEN 32

#endif
