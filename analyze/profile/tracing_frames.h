/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The innermost frames of a stack that obrec's program took of the thread that had called it: the
 * program and what the kernel calls between a tracepoint and a program. They say nothing of the
 * thread. Nor does the thread of an interrupt that ended a wait: it was interrupted anywhere.
 */
#ifndef ANALYZE_TRACING_FRAMES_H
#define ANALYZE_TRACING_FRAMES_H

#include "analyze/load/load.h"
#include "analyze/load/weights.h"

/* Notes what a sample says of its stack: STACK_OF_CLOCK, STACK_OF_WAKER. For samples that are not in load.weights.
 * 0 or -ENOMEM. */
int tracing_frames__note(struct load *l, const struct weight *sample);
/* Drops them from all stacks but those of STACK_OF_CLOCK, where they are what ran. Of stacks of
 * STACK_OF_WAKER drops what an interrupt interrupted. Call after frames__resolve. 0 or -ENOMEM. */
int tracing_frames__drop(struct load *l);

enum tracing_class { TRACING_NONE, TRACING_PROGRAM, TRACING_INTERRUPT /* its first function */ };
/* The class of each function. Malloc'ed; NULL: no memory. */
uint8_t *tracing_frames__classes(const struct load *l);
/* That of a location's function. */
enum tracing_class tracing_frames__class(const struct load *l, const uint8_t *classes,
					 const struct location *at);

#endif
