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
enum { EXEC_PART_CODE = 2 }; /* key part after the process name: exit code as of wait(2) */

#endif
