/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the weight views of schema.sql in memory: the same content without rows of sample and
 * stack_frame. */
#ifndef ANALYZE_PROFILE_WEIGHTS_H
#define ANALYZE_PROFILE_WEIGHTS_H

#include "analyze/load/load.h"

/* Marks stacks that the views name, so that their frames are written. 0 or -ENOMEM. */
int profile_weights_mark(struct load *l);
int profile_weights_write(struct load *l, const struct weights *threads);

#endif
