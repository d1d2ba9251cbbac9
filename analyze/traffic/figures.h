/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregates of messages, built in memory while they are loaded, by role, service, peer and so on.
 * They are sufficient for all traffic reports, so no row per message is needed. Coarser views are
 * merged from the finest one.
 */
#ifndef ANALYZE_FIGURES_H
#define ANALYZE_FIGURES_H

#include "analyze/traffic/latency.h"
#include "analyze/base/strings.h"

struct figures;

/* Numbers of strings (strings.h); 0: not distinguished. */
struct figure_key {
	uint32_t role, service, peer, protocol, method, target;
	uint32_t connection; /* connection number + 1 */
	uint32_t slot;	     /* interval number + 1 */
};

/* Dimensions of aggregates. */
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
	bool half;     /* second half of a counted call: adds only error and bytes */
	double weight; /* number of calls this one stands for (--sample) */
	uint64_t at_ns, latency_ns, request_bytes, response_bytes;
	int64_t connection_id; /* a connection on which it was seen */
};

struct figure {
	struct figure_key key;
	double calls, errors, unpaired, request_bytes, response_bytes;
	uint64_t seen; /* number of calls seen, not scaled */
	struct latency latency;
	uint64_t first_ns, last_ns;
	int64_t connection_id;
	bool repeated; /* all its calls are in the rows of their other end, too */
};

int figures__new(struct figures **f);
void figures__free(struct figures *f);

/* 0 or -ENOMEM. Beyond a limit on the number of aggregates, new targets are no longer
 * distinguished; beyond a second limit, neither are new methods. See __merged. */
int figures__add(struct figures *f, const struct figure_key *key, const struct figure_call *call);

/* Merges the same messages by these dimensions only (bits of enum figure_part). */
int figures__merge(struct figures **coarse, const struct figures *fine, unsigned parts);
/* Adds one aggregate to another set, under another key. */
int figures__put(struct figures *to, const struct figure_key *key, const struct figure *figure);

/* Marks the i-th; what is merged is repeated if all its parts are. */
void figures__set_repeated(struct figures *f, size_t i);

/* NULL: not found. */
const struct figure *figures__find(const struct figures *f, const struct figure_key *key);
size_t figures__cnt(const struct figures *f);
const struct figure *figures__get(const struct figures *f, size_t i);
unsigned figures__merged(const struct figures *f); /* bits of enum figure_part */

#endif
