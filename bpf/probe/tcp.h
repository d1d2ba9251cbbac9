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
};
/* Key parts of series by peer: the address as IPv6 (0 and 1), the port, an errno. */
enum { TCP_PART_PORT = 2, TCP_PART_ERROR = 3 };

#endif
