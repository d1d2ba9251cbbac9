/* SPDX-License-Identifier: BSD-2-Clause */
/* What a loss affects: traffic, samples, symbols, events, counts, all (loss_effects.def). */
#ifndef ANALYZE_LOSS_EFFECTS_H
#define ANALYZE_LOSS_EFFECTS_H

#include "format/text.h"

/* loss.affects of a source and cause. */
const char *loss_affects(struct span source, struct span cause);

/* All of them, in the order in which reports name them, with what each means for what is shown. */
struct loss_effect {
	const char *name, *meaning;
};
extern const struct loss_effect loss_effects[]; /* the last has no name */
const char *loss_meaning(const char *effect);

#endif
