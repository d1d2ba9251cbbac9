/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections while they are loaded. load_traffic.c takes records in, through what stands here in
 * the order of their way: connections, their sides, messages, rows out.
 */
#ifndef ANALYZE_TRAFFIC_H
#define ANALYZE_TRAFFIC_H

#include "analyze/store/bulk.h"
#include "analyze/traffic/figures.h"
#include "analyze/base/index.h"
#include "analyze/base/intern.h"
#include "analyze/l7/engine/arena.h"
#include "analyze/l7/engine/l7.h"
#include "analyze/load/load.h"
#include "analyze/traffic/traffic_scale.h"

/* Where calls ended in a direction's stream and when: of all those the few with the smallest hashes
 * are kept, so that both ends keep the same ones. */
#define MARK_CNT 16
struct mark {
	uint32_t seq; /* after the call's last byte */
	uint64_t ns;  /* archive time */
};

struct marks {
	uint32_t cnt[2]; /* by enum l7_dir */
	struct mark v[2][MARK_CNT];
};

struct conn {
	struct traffic *traffic;
	uint32_t capture, number;  /* in traffic.conns */
	struct rec_connection rec; /* its strings are of traffic.addresses */
	uint64_t closed_ns, bytes[2], calls[2], retransmits;
	uint32_t srtt_us, pid; /* pid: of Unix sockets */
	bool tls, anchored[2];
	uint32_t anchor[2];		  /* TCP sequence number of position 0, by enum l7_dir */
	union {
		struct l7_conn *l7;	  /* NULL until payload comes */
		struct l7_rest *rest;	  /* resting: it has been silent for long */
	};
	uint32_t l7_held;		  /* its memory, as the archive's budget knows it */
	bool resting;
	bool spent;			  /* it was too much: its payload is left out from here on */
	uint64_t messages, whole;	  /* whole: of which no half was missed */
	uint64_t alone;			  /* requests that a response alone may answer */
	struct scale_sum sum;		  /* of those in the figures */
	const struct l7_protocol *speaks; /* the last message */
	uint64_t unkept_unpaired;	  /* because payload was not kept */
	uint64_t no_ends;		  /* responses whose end was not seen */
	uint64_t partials;		  /* requests and responses of more bytes than were seen */
	/* strings of traffic.strings */
	uint32_t service, peer, role, protocol;
	uint32_t other;	     /* number + 1 of the other end; 0: not here */
	uint32_t shares;     /* number + 1 of the one whose socket its process uses as well */
	struct marks *marks; /* when the other end is in another archive */
	uint32_t next_bound; /* of the same UDP port, + 1 */
};

struct payload_order;

/* What the payload that was not kept hid. */
struct unkept {
	uint32_t capture, protocol;
	uint64_t places, bytes, longest, missing, unpaired, no_ends, partials;
};

struct traffic {
	struct load *load;
	struct bulk message, stat;
	struct conn **conns;
	size_t conn_cnt, conn_cap;
	struct index by_id, by_port; /* the latter: first UDP sockets of a port */
	struct strings *strings;
	struct intern *addresses;
	struct figures *figures; /* of requests; NULL: not wanted */
	struct rates *rates;	 /* by time; NULL: not wanted */
	struct figures *edges;	 /* by connection instead of method and target; NULL: not wanted */
	sqlite3_stmt *process;	 /* a process by its row id */
	sqlite3_stmt *process_of_pid;
	bool sides_known;
	struct payload_order *order; /* payload not yet handed on */
	/* messages */
	struct arena arena; /* of all parsers */
	struct conn **live; /* those with a parser */
	size_t live_cnt, live_cap;
	uint32_t capture; /* the one payload comes from */
	bool filtered;
	int64_t message_id;
	struct unkept *unkept;
	size_t unkept_cnt, unkept_cap;
	bool rows;	      /* the table message is wanted */
	uint64_t start_ns;    /* of the first capture, CLOCK_REALTIME */
	uint64_t (*spans)[2]; /* of --from, --to, by capture, CLOCK_REALTIME */
	struct scale *scales; /* by capture */
	int err;
};

/* The connection of that id; one whose record was lost gets an empty one. NULL: out of memory, which
 * is in t->err, or the archive's budget is spent and the row was counted as left out. */
struct conn *traffic_conn(struct traffic *t, uint32_t capture, uint32_t id);
/* The same, or NULL when no record named it. */
struct conn *traffic_known_conn(struct traffic *t, uint32_t capture, uint32_t id);
int traffic_add_connection(struct conn *c, const struct rec_connection *r);
int traffic_add_stat(struct conn *c, const struct rec_connection_stat *r);

/* Once all connections are known: names and other ends. 0 or -ENOMEM. */
int traffic_find_sides(struct traffic *t);
/* What a payload record tells of the stream's place. */
void traffic_anchor(struct conn *c, const struct rec_payload *r);
/* After all payload: takes apart what sequence numbers contradict; one of two ends is counted. */
void traffic_check_sides(struct traffic *t);
/* Who is at the other end of a datagram that came from or went to ADDRESS:PORT, a string of
 * traffic.strings (0: the connection's own), at a time of c's archive; *addr: the address alone,
 * *other: its socket, NULL when it was not recorded. */
uint32_t traffic_datagram_peer(const struct conn *c, uint32_t peer, uint64_t at_ns,
			       struct span *addr, const struct conn **other);
bool traffic_counted(const struct conn *c);
const char *traffic_role(const struct conn *c);

/* What its first message tells of a connection. */
void traffic_learn(struct conn *c);
/* A message or pair of a connection, the sink of its parser. */
void traffic_message(void *conn, struct l7_conn *l7, const struct l7_exchange *x);

int traffic_write_connections(struct traffic *t);
int traffic_write_figures(struct traffic *t);
/* other: its other end, where that was recorded. */
int traffic_add_rate(const struct conn *c, const struct conn *other, uint32_t peer,
		     uint32_t protocol, uint64_t at_ns, double calls, double errors);
int traffic_write_rates(struct traffic *t);
int traffic_write_flows(struct traffic *t);
int traffic_write_offsets(struct traffic *t);
int traffic_write_unkept(struct traffic *t);
int traffic_write_scaling(struct traffic *t);
/* After the last of a connection's messages. */
int traffic_add_unkept(struct traffic *t, const struct conn *c);

#endif
