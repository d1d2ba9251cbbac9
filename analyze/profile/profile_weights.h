/* SPDX-License-Identifier: BSD-2-Clause */
/* The weight views of schema.sql, computed in memory: the same content without the rows of sample
 * and stack_frame. */
#ifndef ANALYZE_PROFILE_WEIGHTS_H
#define ANALYZE_PROFILE_WEIGHTS_H

#include "analyze/load/load.h"

int profile_weights_write(struct load *l, const struct weights *threads);

#endif
