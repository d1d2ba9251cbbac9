/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_TCP_H
#define BPF_TCP_H

#include "bpf/metric.h"

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
};
/* Key parts of series by peer: the address as IPv6 (0 and 1), the port, an errno. */
enum { TCP_PART_PORT = 2, TCP_PART_ERROR = 3 };
/* Of retransmits behind the address: state of the connection, of its congestion control. */
enum { TCP_PART_STATE = 2, TCP_PART_CA_STATE = 3 };

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

#endif
