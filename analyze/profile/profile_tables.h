/* SPDX-License-Identifier: BSD-2-Clause */
/* The model in memory (load.h) as tables: binary, function, frame, stack, stack_frame, and the
 * weights of schema.sql. */
#ifndef ANALYZE_PROFILE_TABLES_H
#define ANALYZE_PROFILE_TABLES_H

#include "analyze/load/load.h"

/* Writes those that are wanted. `threads` adds up samples by kind and thread, its stacks are 0.
 * Without sample rows but with load.weights the weight views become tables of the same content. 0
 * or negative errno. */
int profile_tables_write(struct load *l, const struct weights *threads);

#endif
