/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the model in memory (load.h) to tables: binary, function, frame, stack, stack_frame, and
 * the weights of schema.sql. */
#ifndef ANALYZE_PROFILE_TABLES_H
#define ANALYZE_PROFILE_TABLES_H

#include "analyze/load/load.h"

/* Writes the wanted tables. `threads`: samples aggregated by kind and thread, with stack 0. If
 * load.weights is used without sample rows, the weight views become tables of the same content. 0
 * or negative errno. */
int profile_tables_write(struct load *l, const struct weights *threads);

#endif
