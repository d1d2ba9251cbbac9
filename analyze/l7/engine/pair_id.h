/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairing by id: a response takes the request with its id. Ready to use when zeroed except for
 * `out`. */
#ifndef ANALYZE_L7_PAIR_ID_H
#define ANALYZE_L7_PAIR_ID_H

#include "analyze/l7/engine/pair_out.h"
#include "analyze/l7/engine/waiting.h"

struct pair_id {
	struct pair_out *out;
	struct waiting_list reqs;
	struct waiting **buckets; /* bucket_cnt entries, a power of two */
	size_t bucket_cnt;
	uint64_t holes[2];  /* number of holes in responses, in requests */
	enum l7_why why[2]; /* cause of the last hole of each */
};

void pair_id_request(struct pair_id *p, const struct l7_message *m);
void pair_id_response(struct pair_id *p, const struct l7_message *m);
const struct l7_message *pair_id_pending(const struct pair_id *p, uint64_t id);
/* Delivers the request unpaired. */
void pair_id_give_up(struct pair_id *p, uint64_t id);
void pair_id_hole(struct pair_id *p, bool requests, enum l7_why why);
void pair_id_fini(struct pair_id *p);

#endif
