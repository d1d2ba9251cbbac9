/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of a stack that are shown: with inlined calls, and cut as the filter of samples
 * says. */
#ifndef ANALYZE_STACK_VIEW_H
#define ANALYZE_STACK_VIEW_H

#include "analyze/load/load.h"
#include "analyze/load/stacks.h"

struct stack_view {
	const uint32_t *frames; /* frames.h; from the root */
	size_t cnt;
	size_t same;  /* so many outer ones are those of the reading before */
	size_t outer; /* so many outer frames are not shown */

	/* the whole stack */
	struct stack_path path;
	uint32_t *all;
	size_t *ends; /* by level of the path: number of frames up to it */
	size_t all_cnt, all_cap, end_cap;
};

/* Call after frames__resolve; the view can be reused. 0 or -ENOMEM. */
int stack_view__read(struct stack_view *v, const struct load *l, uint32_t stack);
/* Prefetches for readings of the stacks of all weights, in their order: call before that of the
 * i-th. */
void stack_view__ahead(const struct load *l, size_t i);
void stack_view__fini(struct stack_view *v);

/* Sets load.cuts from load.opts.samples, for all stacks. Call after frames__resolve. */
int stack_view__cut(struct load *l);

#endif
