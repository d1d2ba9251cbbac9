/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raises the scheduling priority of obrec's main thread. It must run within microseconds of an
 * exec, because stacks of the new program cannot be unwound until its mappings are published. It
 * needs little CPU time, but low latency.
 */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

/* Apply to the calling thread, if permitted. Threads and processes created later inherit the
 * priority. */
void priority_raise(void);
void priority_lower(void);

#endif
