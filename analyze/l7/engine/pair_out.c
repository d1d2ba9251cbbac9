/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/pair_out.h"

void pair_hand_out(struct pair_out *p, const struct l7_message *req, const struct l7_message *resp,
		   bool paired, enum l7_why why)
{
	struct l7_exchange x = {
		.request = req, .response = resp, .paired = paired, .why = paired ? 0 : why};
	struct l7_message silent;

	if (req && req->quiet && !resp) {
		silent = *req;
		silent.type = L7_ONEWAY;
		x.request = &silent;
		x.why = 0;
	} else if (paired) {
		p->paired++;
	} else {
		p->unpaired++;
	}
	p->sink(p->ctx, &x);
}
