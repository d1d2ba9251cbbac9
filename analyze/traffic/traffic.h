/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections while they are loaded. load_traffic.c reads the records and calls the functions below
 * in the order of processing: connections, their sides, messages, output rows.
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
#include "analyze/traffic/name_shapes.h"
#include "analyze/traffic/traffic_scale.h"

/* Where calls ended in a direction's stream, and when. Only the marks with the smallest hashes are
 * kept, so that both ends keep the same ones. */
#define MARK_CNT 16
struct mark {
	uint32_t seq; /* TCP sequence number after the last byte of the call */
	uint64_t ns;  /* archive time */
};

struct marks {
	uint32_t cnt[2]; /* by enum l7_dir */
	struct mark v[2][MARK_CNT];
};

struct conn {
	struct traffic *traffic;
	uint32_t capture, number;  /* number: index in traffic.conns */
	struct rec_connection rec; /* its strings belong to traffic.addresses */
	uint64_t closed_ns, bytes[2], calls[2], retransmits;
	uint64_t all_bytes[2]; /* before --from and after --to as well */
	uint32_t srtt_us, pid; /* pid: for Unix sockets, and with several archives of the host */
	bool tls, anchored[2];
	uint32_t anchor[2]; /* TCP sequence number of position 0, by enum l7_dir */
	union {
		struct l7_conn *l7;   /* NULL until payload comes */
		struct l7_rest *rest; /* when resting: compact form, long idle */
	};
	uint32_t l7_held; /* its memory as charged to the archive's budget */
	bool resting;
	enum close_how how;		  /* it was closed */
	bool ended;			  /* all its payload was passed on */
	bool spent;			  /* memory limit exceeded: further payload is dropped */
	uint64_t messages, whole;	  /* whole: messages of which no half was missed */
	uint64_t alone;			  /* requests that an unpaired response may answer */
	struct scale_sum sum;		  /* of messages in `figures` */
	const struct l7_protocol *speaks; /* protocol of the last message */
	uint64_t unkept_unpaired;	  /* unpaired because payload was not captured */
	uint64_t late_unpaired;		  /* because their order is unknown: L7_LATE */
	uint64_t no_ends;		  /* responses whose end was not seen */
	uint64_t partials;		  /* requests and responses of which bytes were missed */
	/* numbers of strings in traffic.strings */
	uint32_t service, peer, role, protocol;
	uint32_t other;	     /* number + 1 of the other end; 0: not recorded */
	uint32_t shares;     /* number + 1 of the connection whose socket its process also uses */
	struct marks *marks; /* set when the other end is in another archive */
	uint32_t better,
		worse; /* number + 1: the same socket in other archives, see traffic_twice.h */
	bool twice;    /* what is seen here counts in other archives */
	uint32_t next_bound; /* number + 1 of the next socket bound to the same UDP port */
};

struct payload_order;

/* A row of statistics, until it is known which archive counts. */
struct held_stat {
	uint32_t conn; /* number */
	struct rec_connection_stat rec;
};

/* Effects of payload that was not captured. */
struct unkept {
	uint32_t capture, protocol;
	uint64_t places, bytes, longest, missing, unpaired, no_ends, partials;
};

struct traffic {
	struct load *load;
	struct bulk message, stat;
	struct conn **conns;
	size_t conn_cnt, conn_cap;
	struct index by_id, by_port; /* by_port: first UDP socket of each port */
	struct strings *strings;
	struct intern *addresses;
	struct figures *figures; /* of requests; NULL: not wanted */
	struct name_shapes *shapes;
	size_t learn_at; /* number of aggregates at which shapes are learned early */
	struct rates *rates;	 /* over time; NULL: not wanted */
	struct figures *edges;	 /* by connection instead of method and target; NULL: not wanted */
	sqlite3_stmt *process;	 /* selects a process by row id */
	sqlite3_stmt *process_of_pid;
	bool sides_known;
	struct payload_order *order; /* payload not yet passed on */
	/* messages */
	struct arena arena; /* shared by all parsers */
	struct conn **live; /* connections with a parser */
	size_t live_cnt, live_cap;
	uint32_t capture; /* capture that payload currently comes from */
	bool filtered;
	uint64_t arg_names; /* distinct callers by values of arguments */
	int64_t message_id;
	struct unkept *unkept;
	size_t unkept_cnt, unkept_cap;
	bool rows;	      /* the table message is wanted */
	uint64_t start_ns;    /* of the first capture, CLOCK_REALTIME */
	uint64_t (*spans)[2]; /* of --from, --to, by capture, CLOCK_REALTIME */
	struct scale *scales; /* by capture */
	uint32_t *boot;	      /* by capture: the first one of the same host since its boot */
	bool *several;	      /* by capture: there are others of the same */
	struct held_stat *held;
	size_t held_cnt, held_cap;
	int err;
};

/*
 * Returns the connection with that id. If its record was lost, an empty one is added. NULL: out of
 * memory (set in t->err), or the archive's budget is exhausted and the row was counted as dropped.
 */
struct conn *traffic_conn(struct traffic *t, uint32_t capture, uint32_t id);
/* The same, but NULL if no record named the connection. */
struct conn *traffic_known_conn(struct traffic *t, uint32_t capture, uint32_t id);
int traffic_add_connection(struct conn *c, const struct rec_connection *r);
/* Counts statistics in the connection, undoes that, writes their row. */
int traffic_add_stat(struct conn *c, const struct rec_connection_stat *r);
void traffic_close(struct conn *c, const struct rec_connection_close *r);
void traffic_take_stat(struct conn *c, const struct rec_connection_stat *r);
int traffic_write_stat(struct conn *c, const struct rec_connection_stat *r);

/* Sets names and other ends, once all connections are known. 0 or -ENOMEM. */
int traffic_find_sides(struct traffic *t);
/* Takes the stream position from a payload record. */
void traffic_anchor(struct conn *c, const struct rec_payload *r);
/* After all payload: separates ends that sequence numbers show not to match. One of two matching
 * ends is counted. */
void traffic_check_sides(struct traffic *t);
/*
 * Returns the name of the peer of a datagram. `peer`: its ADDRESS:PORT, a string of traffic.strings
 * (0: the connection's peer). at_ns: a time of c's archive. *addr: the address alone. *other: the
 * peer's socket, or NULL if it was not recorded.
 */
uint32_t traffic_datagram_peer(const struct conn *c, uint32_t peer, uint64_t at_ns,
			       struct span *addr, const struct conn **other);
bool traffic_counted(const struct conn *c);
const char *traffic_role(const struct conn *c);

/* Takes the protocol and role from the first message of a connection. */
void traffic_learn(struct conn *c);
/* Sink of the parser: a message or pair of a connection. */
void traffic_message(void *conn, struct l7_conn *l7, const struct l7_exchange *x);

int traffic_write_connections(struct traffic *t);
/* Marks aggregates of which all calls were recorded at their other end, too. 0 or -ENOMEM. */
int traffic_mark_repeats(const struct traffic *t);
/* Folds the targets of aggregates by their shapes. 0 or -ENOMEM. */
int traffic_fold_targets(struct traffic *t);
int traffic_write_figures(struct traffic *t);
/* other: its other end, if recorded. */
int traffic_add_rate(const struct conn *c, const struct conn *other, uint32_t peer,
		     uint32_t protocol, uint64_t at_ns, double calls, double errors);
int traffic_write_rates(struct traffic *t);
int traffic_write_flows(struct traffic *t);
int traffic_write_offsets(struct traffic *t);
int traffic_write_unkept(struct traffic *t);
int traffic_write_late(struct traffic *t);
int traffic_write_twice(struct traffic *t);
int traffic_write_scaling(struct traffic *t);
/* To be called after the last message of a connection. */
int traffic_add_unkept(struct traffic *t, const struct conn *c);

#endif
