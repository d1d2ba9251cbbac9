/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_BLOCK_H
#define BPF_BLOCK_H

#include "bpf/metric.h"

#define BLOCK_REQUESTS 16384 /* in progress at a time */
/* With more entries, those of ended requests are removed. */
#define BLOCK_KEPT (BLOCK_REQUESTS / 2)
#define BLOCK_STACKS 63 /* in event_rates, where no probe has that number: requests with stacks */

enum {
	SERIES_block_device = SERIES_OWN,
	SERIES_block_queued,
	SERIES_block_size,
	SERIES_block_cgroup,  /* time on the device */
	SERIES_block_pattern, /* bytes of requests that follow the disk's last one, and of others */
	SERIES_block_in_flight, /* requests on the disk, with each that is given to it */
	SERIES_block_busy,	/* time in which the disk had requests */
};
/* Key parts: the first two are the process name in series by process. */
enum {
	BLOCK_PART_CGROUP = 0,
	BLOCK_PART_RANDOM = 0,
	BLOCK_PART_DEV = 2,
	BLOCK_PART_OP = 3,
};

/* Values of the kernel's enum req_op. */
#define BLOCK_OPS(X)                                                                               \
	X(0, "read")                                                                               \
	X(1, "write")                                                                              \
	X(2, "flush") X(3, "discard") X(5, "secure erase") X(7, "zone append")                     \
		X(9, "write zeroes")
#define BLOCK_OP_LEN 16
#define BLOCK_OP_CNT 10 /* all others are "other" */

#endif
