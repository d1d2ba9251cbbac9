/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payload of a protocol not recognized yet. The position of secrets is known only for recognized
 * ones, so payload is held until the protocol is detected from the bytes of both directions,
 * and then handed on in the order in which it came. What finds no room, or ends unnamed, is handed
 * on without its bytes, flagged PAYLOAD_UNNAMED: calls and positions stay complete. The guesses are
 * the kernel's (bpf/net/guess.def), which know every protocol of format/protocols.def.
 */
#ifndef RECORD_UNNAMED_H
#define RECORD_UNNAMED_H

#include "record/traffic/payloads.h"

enum {
	UNNAMED_FLOW_MAX = 16 << 10, /* bytes held of a connection */
	UNNAMED_MAX = 8 << 20,	     /* and of all, their records' heads included */
};

struct unnamed;
struct unnamed_flow;

int unnamed__new(struct unnamed **u, payloads_fn *fn, void *ctx); /* 0 or -ENOMEM */
void unnamed__free(struct unnamed *u);

/* A record in its turn; flow->unnamed and flow->named are this module's. */
void unnamed__put(struct unnamed *u, const struct wire_payload *p, struct payload_flow *flow);
/* The connection is gone, or the capture: what is held of it is handed on. */
void unnamed__end(struct unnamed *u, struct payload_flow *flow);
void unnamed_flow__free(struct unnamed_flow *f); /* drops what is held */

#endif
