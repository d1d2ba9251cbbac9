/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The innermost frames of a stack that obrec's program took of the thread that had called it: the
 * program and what the kernel calls between a tracepoint and a program. They say nothing of the
 * thread.
 */
#ifndef ANALYZE_TRACING_FRAMES_H
#define ANALYZE_TRACING_FRAMES_H

#include "analyze/load/load.h"
#include "analyze/load/weights.h"

/* Notes what a sample says of its stack: STACK_OF_CLOCK. For samples that are not in load.weights.
 * 0 or -ENOMEM. */
int tracing_frames__note(struct load *l, const struct weight *sample);
/* Drops them from all stacks but those of STACK_OF_CLOCK, where they are what ran. Call after
 * frames__resolve. 0 or -ENOMEM. */
int tracing_frames__drop(struct load *l);

#endif
