/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts payload in byte order per connection and direction. Each CPU has its own ring, so calls of
 * threads that share a socket, or of a thread that migrated, are read out of order. But a record
 * sent before a record of another ring was read is itself read in the same pass over the rings or
 * in the next. A record that arrives early is copied and held until the preceding bytes have
 * arrived, two more passes are done (they were lost or never sent), or too much is held.
 */
#ifndef RECORD_PAYLOADS_H
#define RECORD_PAYLOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/net/net.h"

struct payloads;
struct redact_conn;

/* State of a connection kept between records. */
struct payload_flow {
	struct redact_conn *redact;
	struct unnamed_flow *unnamed; /* payload held until its protocol is known */
	bool named;
	bool lost[2]; /* by direction: bytes directly before this record were lost */
	bool seq_noted[2]; /* by direction: private to the receiver */
};

/* Called for each record in order. */
typedef void payloads_fn(void *ctx, const struct wire_payload *p, struct payload_flow *flow);

int payloads__new(struct payloads **ps, payloads_fn *fn, void *ctx); /* 0 or -ENOMEM */
void payloads__free(struct payloads *ps);			     /* drops held records */

/* fn is called before a connection is freed, and for every connection at the end. */
void payloads__on_end(struct payloads *ps, void (*fn)(void *ctx, struct payload_flow *flow));

void payloads__put(struct payloads *ps, const struct wire_payload *p);
/* All rings have been read once. `last`: no more records will come, everything is passed on. */
void payloads__pass(struct payloads *ps, bool last);
/* The connection is closed; its last records may still arrive. */
void payloads__close(struct payloads *ps, uint32_t connection);
/* Every minute or so: frees state that belonged to no known connection at the last two sweeps,
 * because the records of its start and end were lost. */
void payloads__sweep(struct payloads *ps, bool (*known)(void *ctx, uint32_t connection));

#endif
