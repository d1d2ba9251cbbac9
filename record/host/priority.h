/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * obrec's one busy thread must be on a CPU within microseconds of an exec: until it has published
 * the new program's mappings, that program's stacks cannot be walked. It needs little time, but at
 * once.
 */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

/* Of the calling thread, where that is allowed; threads and processes it makes later inherit it. */
void priority_raise(void);
void priority_lower(void);

#endif
