/* SPDX-License-Identifier: BSD-2-Clause */
/* What a loss affects: traffic, samples, symbols, events, counts, all (loss_effects.def). */
#ifndef ANALYZE_LOSS_EFFECTS_H
#define ANALYZE_LOSS_EFFECTS_H

#include <stdint.h>

#include "format/text.h"

/* loss.affects of a source and cause. */
const char *loss_affects(struct span source, struct span cause);

/* All of them, in the order in which reports name them; NULL ends. */
extern const char *const loss_effects[];
/* "2 traffic events lost: calls are lower bounds": what so many mean for what is shown. */
void loss_text(struct strbuf *b, const char *effect, uint64_t count);

#endif
