/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From sockets and payload in the rings to the records connection, connection_stat,
 * connection_close and payload. Counts come from the map of sockets, read every second, so that
 * they are complete whatever the rings lost.
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

/* Before records come. Secrets in payload are masked, with sql also literals in SQL; payload whose
 * protocol nobody can name is left out, but with keep_unnamed. */
int traffic__redact(struct traffic *t, bool sql, bool keep_unnamed);
/* Clear text of TLS is listened to. */
void traffic__expect_tls(struct traffic *t);

/* Records of the rings, checked for size. */
void traffic__sock(struct traffic *t, const struct wire_sock *s);
void traffic__payload(struct traffic *t, const struct wire_payload *p);
/* All rings were read once more. */
void traffic__drained(struct traffic *t);

/* What moved since the last call. `last`: the capture ends. The first error of any write. */
int traffic__poll(struct traffic *t, uint64_t now_ns, bool last);

/* All connections again, before chunks that shall stand alone (every minute or so); what came of
 * some that never became known is forgotten. */
void traffic__reanchor(struct traffic *t);

struct traffic_counts {
	uint64_t connections, payloads, bytes;
	uint64_t unnamed, unnamed_bytes; /* calls written without their bytes, for want of a protocol */
};
struct traffic_counts traffic__counts(const struct traffic *t);

#endif
