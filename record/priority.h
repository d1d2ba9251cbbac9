/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * obrec's one busy thread must be on a CPU within microseconds of an exec where stacks are taken:
 * until it has published the new program's mappings, that program's stacks cannot be walked. It
 * needs little time, but at once. Where only traffic is recorded nothing is urgent but that rings do
 * not run full: who fills them shall go on with it, and its peer answer.
 */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

enum priority { PRIORITY_NORMAL, PRIORITY_URGENT, PRIORITY_BULK };

/* The calling thread becomes urgent, where that is allowed; threads and processes it makes later
 * inherit its priority. */
void priority_take(void);
/* Has no effect on a thread that did not become urgent, or is normal again. */
void priority_set(enum priority to);

#endif
