/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts socket and payload records of the rings into the records connection, connection_stat,
 * connection_close and payload. Counts are read from the socket map every second, so they are
 * complete even if ring records are lost.
 */
#ifndef RECORD_TRAFFIC_H
#define RECORD_TRAFFIC_H

#include "bpf/net/net.h"
#include "format/archive.h"

struct traffic;
struct loss;
struct tracker;

/* All borrowed. */
struct traffic_opts {
	struct obz_writer *writer;
	struct tracker *tracker;
	struct loss *loss;
	int socks_fd;		 /* map net_socks */
	int others_fd;		 /* map net_others */
	int gone_fd;		 /* program net_gone */
};

int traffic__new(struct traffic **t, const struct traffic_opts *opts);
void traffic__free(struct traffic *t);

/* Call before the first record. Masks secrets in payload, with `sql` also literals in SQL. Omits
 * payload of unknown protocols unless keep_unnamed is set. */
int traffic__redact(struct traffic *t, bool sql, bool keep_unnamed);
/* TLS plaintext will be captured. */
void traffic__expect_tls(struct traffic *t);

/* Ring records, already checked for size. */
void traffic__sock(struct traffic *t, const struct wire_sock *s);
void traffic__payload(struct traffic *t, const struct wire_payload *p);
/* All rings have been read once more. */
void traffic__drained(struct traffic *t);

/* Writes the traffic since the last call. `last`: end of the capture. Returns the first write
 * error. */
int traffic__poll(struct traffic *t, uint64_t now_ns, bool last);

/* Writes all connections again (every minute or so), so that later chunks can be read alone. Frees
 * state of connections that never became known. */
void traffic__reanchor(struct traffic *t);

struct traffic_counts {
	uint64_t connections, payloads, bytes;
	uint64_t unnamed, unnamed_bytes; /* calls written without payload: protocol unknown */
};
struct traffic_counts traffic__counts(const struct traffic *t);

#endif
