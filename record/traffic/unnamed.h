/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds payload whose protocol is not yet detected. Secrets can be located only in a known
 * protocol, so payload is held until the protocol is detected from the bytes of both directions,
 * and is then passed on in order. Payload that exceeds the limits, or is undetected at the end, is
 * passed on without its bytes and flagged PAYLOAD_UNNAMED, so that calls and positions stay
 * complete. Detection uses the kernel's rules (bpf/net/guess.def), which cover every protocol of
 * format/protocols.def.
 */
#ifndef RECORD_UNNAMED_H
#define RECORD_UNNAMED_H

#include "record/traffic/payloads.h"

enum {
	UNNAMED_FLOW_MAX = 16 << 10, /* bytes held per connection */
	UNNAMED_MAX = 8 << 20,	     /* bytes held in total, including record headers */
};

struct unnamed;
struct unnamed_flow;

int unnamed__new(struct unnamed **u, payloads_fn *fn, void *ctx); /* 0 or -ENOMEM */
void unnamed__free(struct unnamed *u);

/* Takes a record in order. flow->unnamed and flow->named belong to this module. */
void unnamed__put(struct unnamed *u, const struct wire_payload *p, struct payload_flow *flow);
/* The connection or the capture has ended: passes on what is held. */
void unnamed__end(struct unnamed *u, struct payload_flow *flow);
void unnamed_flow__free(struct unnamed_flow *f); /* drops held records */

#endif
