/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Off-CPU stacks with the stack of who ended the wait on top, as in an offwaketime flame graph:
 *
 *	sleeper, from its root to its leaf | "woken by NAME" | waker, from its leaf to its root
 *
 * The waker's sample has the time of the wait's: obrec writes both at the switch back. What has no
 * waker, or more than one at that nanosecond, gets "woken by: not known".
 */
#ifndef ANALYZE_WAKER_STACKS_H
#define ANALYZE_WAKER_STACKS_H

#include "analyze/load/load.h"

struct waker_stacks;

int waker_stacks__new(struct waker_stacks **out); /* 0 or -ENOMEM */
void waker_stacks__free(struct waker_stacks *w);

/* Whether samples of a kind are waits, or wakers of waits. */
bool waker_stacks__is_wait(const struct load *l, uint32_t kind);
bool waker_stacks__is_waker(const struct load *l, uint32_t kind);
/* Takes a sample of either; ts_ns in any one clock of the capture. 0 or -ENOMEM. */
int waker_stacks__add(struct waker_stacks *w, const struct load *l, uint32_t capture,
		      uint64_t ts_ns, const struct weight *weight);
/* Adds the weights of the waits, with their new stacks. Call when all stacks are defined and before
 * they are ranked or resolved. 0 or -ENOMEM. */
int waker_stacks__write(struct waker_stacks *w, struct load *l);
/* After frames__resolve: drops from both parts of these stacks what tracing_frames__drop() does from
 * others. 0 or -ENOMEM. */
int waker_stacks__trim(struct waker_stacks *w, struct load *l);

#endif
