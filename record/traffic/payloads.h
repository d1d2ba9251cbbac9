/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payload in the order of its bytes, per connection and direction. Each CPU has a ring of its own,
 * so calls of threads that share a socket, or of one that moved, come out of order; but whatever
 * was sent before a record of another ring was read is read in that pass over the rings or in the
 * next. A record that comes too early is copied and held until what is before it has come, two more
 * passes were made (it was lost, or never sent), or too much is held.
 */
#ifndef RECORD_PAYLOADS_H
#define RECORD_PAYLOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/net/net.h"

struct payloads;
struct redact_conn;

/* What is carried over from record to record of a connection. */
struct payload_flow {
	struct redact_conn *redact;
	struct unnamed_flow *unnamed; /* what is held until its protocol is named */
	bool named;
	bool lost[2]; /* by direction: bytes right before the record at hand never came */
	bool seq_noted[2]; /* by direction: the receiver's own */
};

/* A record in its turn. */
typedef void payloads_fn(void *ctx, const struct wire_payload *p, struct payload_flow *flow);

int payloads__new(struct payloads **ps, payloads_fn *fn, void *ctx); /* 0 or -ENOMEM */
void payloads__free(struct payloads *ps);			     /* what is held is dropped */

/* fn is told before a connection is forgotten, and of each when no more will come. */
void payloads__on_end(struct payloads *ps, void (*fn)(void *ctx, struct payload_flow *flow));

void payloads__put(struct payloads *ps, const struct wire_payload *p);
/* All rings were read once; `last`: no more will come, everything is handed out. */
void payloads__pass(struct payloads *ps, bool last);
/* The connection is gone; its last records may still come. */
void payloads__close(struct payloads *ps, uint32_t connection);
/* Every minute or so: what was of no known connection at the last two sweeps is gone; that it began
 * and ended was lost. */
void payloads__sweep(struct payloads *ps, bool (*known)(void *ctx, uint32_t connection));

#endif
