/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_TCP_H
#define BPF_TCP_H

#include "bpf/metric.h"
#include "bpf/wire.h"

enum {
	SERIES_tcp_connect = SERIES_OWN,
	SERIES_tcp_failed,
	SERIES_tcp_close_events,
	SERIES_tcp_close_throttled,
	SERIES_tcp_unseen,
	SERIES_tcp_rtt,
	SERIES_tcp_retransmits,
	SERIES_tcp_retransmit_events,
	SERIES_tcp_retransmit_throttled,
	SERIES_tcp_state,
	SERIES_tcp_accept_queue,
	SERIES_tcp_accept_waiting,
	SERIES_tcp_overflows,
	SERIES_tcp_listen_drops,
	SERIES_tcp_drops,
	SERIES_tcp_drop_events,
	SERIES_tcp_drop_throttled,
};
/* Key parts of series by peer: the address as IPv6 (0 and 1), the port, an errno. */
enum { TCP_PART_PORT = 2, TCP_PART_ERROR = 3 };
/* Of retransmits behind the address: state of the connection, of its congestion control. */
enum { TCP_PART_STATE = 2, TCP_PART_CA_STATE = 3 };
/* Of time in states, behind the process: the state, and the next one; 0: the capture ended first.
 */
enum { TCP_PART_NEXT = 3 };
/* Of listening sockets: the address, limit << 32 | port; of overflows, what was dropped. */
enum { TCP_PART_SEGMENT = 3 };
enum { TCP_SEGMENT_SYN, TCP_SEGMENT_ACK };
/* Of packets dropped, behind the process: number of the reason, address in the kernel. */
enum { TCP_PART_REASON = 2, TCP_PART_LOCATION = 3 };

/* map `tcp_reasons`: the kernel's names of reasons by number; of those of subsystems etc. the first
 * entry is used */
#define TCP_REASONS 512
#define TCP_REASON_LEN 64
enum { TCP_REASON_NONE = TCP_REASONS - 1 }; /* the kernel gives none */

/* <net/tcp_states.h>, as ss(8) calls them */
#define TCP_STATES(X)                                                                              \
	X(1, "ESTAB")                                                                              \
	X(2, "SYN-SENT")                                                                           \
	X(3, "SYN-RECV")                                                                           \
	X(4, "FIN-WAIT-1")                                                                         \
	X(5, "FIN-WAIT-2")                                                                         \
	X(6, "TIME-WAIT")                                                                          \
	X(7, "UNCONN")                                                                             \
	X(8, "CLOSE-WAIT")                                                                         \
	X(9, "LAST-ACK")                                                                           \
	X(10, "LISTEN")                                                                            \
	X(11, "CLOSING")                                                                           \
	X(12, "SYN-RECV")
#define TCP_STATE_CNT 13
#define TCP_STATE_LEN 16
/* enum tcp_ca_state */
#define TCP_CA_STATES(X)                                                                           \
	X(0, "open")                                                                               \
	X(1, "disorder")                                                                           \
	X(2, "CWR")                                                                                \
	X(3, "recovery")                                                                           \
	X(4, "loss")
#define TCP_CA_STATE_CNT 5

/* map `tcp_conns` by struct sock */
struct tcp_conn {
	__u64 begin_ns; /* of the handshake; 0: before the capture */
	__u64 end_ns;	/* 0: it is open */
	__u64 since_ns; /* in its state; 0: not known */
	__u64 who;	/* 0: nobody yet */
	__u32 listener; /* nobody's yet: tgid that listens, 0: not known */
	__u16 role, state;
	__u16 connected, failed;
	__u16 error; /* that ended it */
	char comm[WIRE_COMM_LEN], process[WIRE_COMM_LEN];
};
/* Where a socket listens. */
struct tcp_place {
	__u32 netns, port;
	__u64 addr[2]; /* as IPv6 */
};
/* Who listens. */
struct tcp_port {
	__u32 tgid;
	char process[WIRE_COMM_LEN];
};
/* map `tcp_flows`: the struct sock by addresses, as IPv6 */
struct tcp_flow {
	__u64 local[2], remote[2];
	__u16 local_port, remote_port;
	__u32 pad;
};
/* map `tcp_listeners` by struct sock */
struct tcp_listen {
	__u64 since_ns;
	struct tcp_place at;
	__u32 drops; /* counted so far */
	struct tcp_port who;
};

#endif
