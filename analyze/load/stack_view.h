/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of a stack that are shown: with inlined calls, and cut as the filter of samples
 * says. */
#ifndef ANALYZE_STACK_VIEW_H
#define ANALYZE_STACK_VIEW_H

#include "analyze/load/load.h"

struct stack_view {
	uint32_t *frames; /* frames.h; leaf first */
	size_t cnt, cap;
	bool root_cut; /* outer frames are not shown */
	uint32_t *locations;
	size_t location_cap;
};

/* Call after frames__resolve; the view can be reused. 0 or -ENOMEM. */
int stack_view__read(struct stack_view *v, const struct load *l, uint32_t stack);
void stack_view__fini(struct stack_view *v);

/* Sets load.cuts from load.opts.samples, for all stacks. Call after frames__resolve. */
int stack_view__cut(struct load *l);

#endif
