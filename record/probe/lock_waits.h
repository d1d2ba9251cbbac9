/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits on futexes that are in progress when the capture starts or ends: no hook sees a thread that
 * waits through all of it. */
#ifndef RECORD_LOCK_WAITS_H
#define RECORD_LOCK_WAITS_H

#include <stdint.h>

struct probe_env;

/* Tells the programs of the waits in progress, as if they began now. */
int lock_waits_start(struct probe_env *env);
/* Reports those that the capture ends before, with the stacks of who waits and who is waited for.
 */
void lock_waits_finish(struct probe_env *env);

/* Of enum lock_operation. */
const char *lock_operation_name(uint64_t operation);

#endif
