/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folds names of requests that differ in numbers only, after l7_fold has taken out what is variable
 * by itself. Here the data decide. The words with digits of a name are its places, its shape has
 * {n} for a word of letters and digits behind them (k12: k{n}) and for a number, {id} for any other
 * word with digits (a1b2). Of the names of one service and protocol with the same shape,
 * - up to SHAPE_NAMES_MAX stay as they are: v1 and v2, s3, shard1 to shard8;
 * - of more, the places with more than SHAPE_NAMES_MAX different words are folded, all places if
 *   there is none: 100 names /v2/item7 become /v2/item{n}.
 */
#ifndef ANALYZE_NAME_SHAPES_H
#define ANALYZE_NAME_SHAPES_H

#include "analyze/traffic/figures.h"

enum { SHAPE_NAMES_MAX = 16 };

struct name_shapes;

int name_shapes__new(struct name_shapes **s);
void name_shapes__free(struct name_shapes *s);

/* Learns which shapes of the aggregates' targets to fold, and replaces *figures by aggregates with
 * folded targets. `server`: number of the role. 0 or -ENOMEM. */
int name_shapes__learn(struct name_shapes *s, struct strings *names, uint32_t server,
		       struct figures **figures);
/* The target as far as its shape is folded by now. Valid until the next call. */
struct span name_shapes__fold(struct name_shapes *s, uint32_t service, uint32_t protocol,
			      struct span target);

#endif
