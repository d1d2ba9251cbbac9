/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internals of traffic. traffic_intake.c: owner, socket records; traffic_rows.c: known connections
 * and their rows; traffic_payload.c: payload rows; traffic_poll.c: reads the kernel's socket map
 * every second.
 */
#ifndef RECORD_TRAFFIC_IMPL_H
#define RECORD_TRAFFIC_IMPL_H

#include <netinet/in.h>

#include "record/base/idmap.h"
#include "record/base/loss.h"
#include "record/traffic/payloads.h"
#include "record/process/process.h"
#include "record/traffic/traffic_intake.h"
#include "record/traffic/unnamed.h"

enum { TRAFFIC_BATCH = 512, ADDR_SZ = NET_UNIX_PATH + INET6_ADDRSTRLEN };

/* A connection in the archive. */
struct known {
	struct net_sock sock; /* as last read; its counts are written */
	uint32_t process;
	uint64_t polled;       /* number of the last poll that saw it */
	uint64_t told_ns;      /* time of the latest socket record */
	uint32_t begin_seq[2]; /* TCP, by enum net_dir: sequence number of position 0; 0: unknown,
				* or written */
	bool has_seq[2];
	bool closed; /* end written; kept for late records, as rings are read in turn */
	bool sealed; /* began with TLS, not with plaintext of it */
	uint8_t path_sz;
	char *path; /* Unix sockets; not NUL-terminated */
};

struct traffic {
	struct traffic_opts opts;
	bool redact_sql, tls;
	struct idmap socks;	   /* id -> struct known */
	struct idmap early[2];	   /* seq_key() -> sequence number of connections without socket
				    * record so far: current, and before the last sweep */
	struct payloads *payloads; /* NULL: nothing is masked */
	struct unnamed *unnamed;   /* NULL: payload of unknown protocols is written */
	struct traffic_counts counts;
	uint64_t polls;
	int err; /* first write error */
	uint64_t *keys;
	struct net_sock *values;
	uint8_t masked[NET_MAX_PAYLOAD]; /* bytes of a call while secrets are masked */
};

/* ---- traffic_rows.c ---- */

void traffic_put(struct traffic *t, enum rec_kind kind, const void *rec);
/* Formats an address into buf; empty if there is none. */
struct span traffic_addr_text(const struct net_addr *a, char *buf, size_t sz);
/* Subtracts from a socket's counts what other processes transferred; that has separate rows. */
void traffic_own_counts(struct traffic *t, struct net_sock *s);
/* Adds a new connection. NULL: out of memory (counted). */
struct known *traffic_know(struct traffic *t, const struct net_sock *s, const char *comm,
			   uint64_t ts_ns);
/* Update process, addresses, or presence of plaintext; return true if it changed. */
bool traffic_adopted(struct traffic *t, struct known *k, const struct net_sock *s, const char *comm,
		     uint64_t ts_ns);
bool traffic_moved(struct known *k, const struct net_sock *s);
bool traffic_became_tls(struct known *k, uint32_t flags);
/* Notes the sequence number. obana uses it to match both ends of a connection across address
 * translation. */
bool traffic_note_seq(struct traffic *t, const struct wire_payload *p);
void traffic_write_connection(struct traffic *t, const struct known *k);
/* Writes the traffic since the last row. */
void traffic_write_stat(struct traffic *t, struct known *k, const struct net_sock *now,
			uint64_t ts_ns);
void traffic_write_close(struct traffic *t, struct known *k, const struct net_sock *s,
			 uint64_t closed_ns);
/* Counts plaintext not captured: the program has a statically linked, stripped or unknown TLS
 * library. */
void traffic_count_unread(struct traffic *t, struct known *k);
void traffic_forget(struct traffic *t, struct known *k);
/* Frees sequence numbers of connections whose socket record was lost. */
void traffic_sweep_early(struct traffic *t);

/* ---- traffic_payload.c ---- */

/* Callback for payloads__new(). */
void traffic_write_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow);
/* The same, with payload of unknown protocols held back; and its end. */
void traffic_take_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow);
void traffic_end_payload(void *ctx, struct payload_flow *flow);

#endif
