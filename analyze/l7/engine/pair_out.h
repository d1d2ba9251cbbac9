/* SPDX-License-Identifier: BSD-2-Clause */
/* Delivers requests and responses once it is known whether they belong together. */
#ifndef ANALYZE_L7_PAIR_OUT_H
#define ANALYZE_L7_PAIR_OUT_H

#include "analyze/l7/engine/l7.h"

struct pair_out {
	void (*sink)(void *ctx, const struct l7_exchange *x);
	void *ctx;
	uint64_t paired, unpaired;
	uint64_t missing; /* other halves that were not captured */
};

/* Either message may be NULL. */
void pair_hand_out(struct pair_out *p, const struct l7_message *req, const struct l7_message *resp,
		   bool paired, enum l7_why why);

#endif
