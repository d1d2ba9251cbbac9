/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Totals at the end of an archive (obz.end.json). If they are lost, `tally` recomputes them from
 * the chunks, for `info` on a truncated archive and for `recover`.
 */
#ifndef ANALYZE_END_RECORD_H
#define ANALYZE_END_RECORD_H

#include <json-c/json.h>

#include "format/archive.h"

struct tally;

int tally__new(struct tally **t);
void tally__free(struct tally *t);

/* Decodes and counts one chunk. -EBADMSG: damaged, nothing is counted. Of other members only the
 * size is counted. */
int tally__add(struct tally *t, struct obz_reader *r, const struct obz_member *m);

/* JSON object with those keys of obz.end.json that can be recomputed: duration_ns, losses, records,
 * stacks, programs, sizes. */
struct json_object *tally__json(const struct tally *t, struct obz_reader *r);

#endif
