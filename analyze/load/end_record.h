/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums at the end of an archive (obz.end.json). Where they are lost they can be counted again
 * from the chunks: `tally` does that, for `info` of a cut archive and for `recover`.
 */
#ifndef ANALYZE_END_RECORD_H
#define ANALYZE_END_RECORD_H

#include <json-c/json.h>

#include "format/archive.h"

struct tally;

int tally__new(struct tally **t);
void tally__free(struct tally *t);

/* Decodes one chunk and counts it; -EBADMSG: damaged, nothing of it is counted. Other members count
 * as sizes. */
int tally__add(struct tally *t, struct obz_reader *r, const struct obz_member *m);

/* An object with the keys of obz.end.json that can be known: duration_ns, losses, records, stacks,
 * programs, sizes. */
struct json_object *tally__json(const struct tally *t, struct obz_reader *r);

#endif
