/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raises the scheduling priority of obrec's main thread and of the readers it waits for. They must
 * run within microseconds of an exec, because stacks of the new program cannot be unwound until its
 * mappings are published. They need little CPU time, but low latency.
 */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

#include <sys/types.h>

/* Apply to a thread (0: the calling one), if permitted. Threads and processes that it creates later
 * inherit the priority. */
void priority_raise(pid_t tid);
void priority_lower(pid_t tid);

#endif
