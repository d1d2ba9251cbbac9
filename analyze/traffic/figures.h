/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages added up in memory as they are loaded, by what tells them apart: all that reports of
 * traffic need, without a row each. A coarser view is merged from the finest.
 */
#ifndef ANALYZE_FIGURES_H
#define ANALYZE_FIGURES_H

#include "analyze/traffic/latency.h"
#include "analyze/base/strings.h"

struct figures;

/* Numbers of strings (strings.h); 0: not told apart. */
struct figure_key {
	uint32_t role, service, peer, protocol, method, target;
	uint32_t connection; /* its number + 1 */
	uint32_t slot;	     /* number of the interval + 1 */
};

/* What a figure may be told apart by. */
enum figure_part {
	BY_ROLE = 1,
	BY_SERVICE = 2,
	BY_PEER = 4,
	BY_PROTOCOL = 8,
	BY_METHOD = 16,
	BY_TARGET = 32,
	BY_SLOT = 64,
	BY_ALL = 127,
};

struct figure_call {
	bool error, unpaired, timed;
	bool half;     /* of a call that was counted: only its error and its bytes are added */
	double weight; /* how many calls this one stands for (--sample) */
	uint64_t at_ns, latency_ns, request_bytes, response_bytes;
	int64_t connection_id; /* one where it was seen */
};

struct figure {
	struct figure_key key;
	double calls, errors, unpaired, request_bytes, response_bytes;
	uint64_t seen; /* calls that are behind it, not scaled */
	struct latency latency;
	uint64_t first_ns, last_ns;
	int64_t connection_id;
};

int figures__new(struct figures **f);
void figures__free(struct figures *f);

/* 0 or -ENOMEM. Past a limit of figures, new targets are not told apart any more, past another new
 * methods neither: __merged. */
int figures__add(struct figures *f, const struct figure_key *key, const struct figure_call *call);

/* The same messages, told apart by these parts (bits of enum figure_part) only. */
int figures__merge(struct figures **coarse, const struct figures *fine, unsigned parts);
/* One figure into another set, under another key. */
int figures__put(struct figures *to, const struct figure_key *key, const struct figure *figure);

/* NULL: none. */
const struct figure *figures__find(const struct figures *f, const struct figure_key *key);
size_t figures__cnt(const struct figures *f);
const struct figure *figures__get(const struct figures *f, size_t i);
unsigned figures__merged(const struct figures *f); /* bits of enum figure_part */

#endif
