/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_EXEC_H
#define BPF_EXEC_H

#include "bpf/metric.h"

enum {
	SERIES_exec_exit_events = SERIES_OWN, /* and, after it, those throttled */
	SERIES_exec_exit_throttled,
	SERIES_exec_failed,
	SERIES_exec_exits,
	SERIES_exec_lifetime,
};
/* Key parts after the process name: errno, and exit code as of wait(2). */
enum { EXEC_PART_ERROR = 2, EXEC_PART_CODE = 2 };

#endif
