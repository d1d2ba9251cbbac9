/* SPDX-License-Identifier: BSD-2-Clause */
/* What a loss affects: traffic, samples, symbols, ..., all (loss_effects.def). */
#ifndef ANALYZE_LOSS_EFFECTS_H
#define ANALYZE_LOSS_EFFECTS_H

#include <stdint.h>

#include "format/text.h"

/* Value of loss.affects for a source and cause. */
const char *loss_affects(struct span source, struct span cause);

/* All values, in the order of reports; NULL-terminated. */
extern const char *const loss_effects[];
/* "traffic", "samples" or "all": the data without which such a loss means nothing. */
const char *loss_effect_on(const char *effect);
/* Appends "2 traffic events". */
void loss_name(struct strbuf *b, const char *effect, uint64_t count);
/* Appends what a number of losses means for the output: "2 traffic events lost: calls are lower
 * bounds". */
void loss_text(struct strbuf *b, const char *effect, uint64_t count);

#endif
