/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traffic from inside: traffic_intake.c owns it and takes sockets, traffic_rows.c knows connections
 * and writes what is known of them, traffic_payload.c writes calls, traffic_poll.c looks at the
 * kernel side's map every second.
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

/* A connection as the archive knows it. */
struct known {
	struct net_sock sock; /* as last read; its counts are written */
	uint32_t process;
	uint64_t polled;       /* number of the poll that saw it last */
	uint64_t told_ns;      /* when the newest announcement was made */
	uint32_t begin_seq[2]; /* TCP, by enum net_dir: of position 0; 0: not known, or told */
	bool has_seq[2];
	bool closed; /* its end is written; kept for what comes late, as rings are read in turn */
	bool sealed; /* began with TLS, not clear text out of it */
	uint8_t path_sz;
	char *path; /* Unix sockets: not NUL-terminated */
};

struct traffic {
	struct traffic_opts opts;
	bool redact_sql, tls;
	struct idmap socks;	   /* id -> struct known */
	struct idmap early[2];	   /* seq_key() -> sequence number, of those not announced yet, now
				      and before the last sweep */
	struct payloads *payloads; /* NULL: nothing is masked */
	struct unnamed *unnamed;   /* NULL: what is not named is written as well */
	struct traffic_counts counts;
	uint64_t polls;
	int err; /* first of a write */
	uint64_t *keys;
	struct net_sock *values;
	uint8_t masked[NET_MAX_PAYLOAD]; /* a call's bytes while secrets are masked */
};

/* ---- traffic_rows.c ---- */

void traffic_put(struct traffic *t, enum rec_kind kind, const void *rec);
/* Text of an address into buf; empty when there is none. */
struct span traffic_addr_text(const struct net_addr *a, char *buf, size_t sz);
/* Takes what other processes moved on the socket out of its counts: they have rows of their own. */
void traffic_own_counts(struct traffic *t, struct net_sock *s);
/* A connection seen for the first time; NULL, counted: out of memory. */
struct known *traffic_know(struct traffic *t, const struct net_sock *s, const char *comm,
			   uint64_t ts_ns);
/* Each true when it changed: its process, its addresses, whether its clear text comes. */
bool traffic_adopted(struct traffic *t, struct known *k, const struct net_sock *s, const char *comm,
		     uint64_t ts_ns);
bool traffic_moved(struct known *k, const struct net_sock *s);
bool traffic_became_tls(struct known *k, uint32_t flags);
/* By these obana finds the two ends of a connection whatever their addresses were translated to on
 * the way. */
bool traffic_note_seq(struct traffic *t, const struct wire_payload *p);
void traffic_write_connection(struct traffic *t, const struct known *k);
/* What moved since the last row. */
void traffic_write_stat(struct traffic *t, struct known *k, const struct net_sock *now,
			uint64_t ts_ns);
void traffic_write_close(struct traffic *t, struct known *k, uint64_t closed_ns);
/* Of a program that carries its library within, nameless, or has one that is not known. */
void traffic_count_unread(struct traffic *t, struct known *k);
void traffic_forget(struct traffic *t, struct known *k);
/* Forgets what came of connections that never became known: the rings lost them. */
void traffic_sweep_early(struct traffic *t);

/* ---- traffic_payload.c ---- */

/* For payloads__new(). */
void traffic_write_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow);
/* The same through what holds it until it is named; its end. */
void traffic_take_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow);
void traffic_end_payload(void *ctx, struct payload_flow *flow);

#endif
