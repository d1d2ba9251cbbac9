/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts lost data by source and cause: totals, and the increase since the last `loss` record. */
#ifndef RECORD_LOSS_H
#define RECORD_LOSS_H

#include <stdint.h>

#include "format/archive.h"

struct loss;

int loss__new(struct loss **l);
void loss__free(struct loss *l);

/* Copies the strings. The signature is that of tracker_opts.loss. */
void loss__add(void *l, const char *source, const char *cause, uint64_t count);

/* Writes one `loss` record for each (source, cause) whose count has grown since the last call. */
int loss__write(struct loss *l, struct obz_writer *writer, uint64_t ts_ns);

uint64_t loss__total(const struct loss *l);
void loss__each(const struct loss *l,
		void (*fn)(void *ctx, const char *source, const char *cause, uint64_t count),
		void *ctx);

#endif
