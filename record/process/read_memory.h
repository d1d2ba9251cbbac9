/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads memory of a target in a reader process: a page may be in a file system that does not
 * answer, and the target may hold the lock of its memory. */
#ifndef RECORD_READ_MEMORY_H
#define RECORD_READ_MEMORY_H

#include "record/base/parcel.h"

/* Bytes from one address on. */
enum { MEMORY_CHUNK_SZ = 8 << 10 };

/* Runs in the reader. */
int read_memory_serve(int proc, struct parcel *request, struct parcel *answer);
void read_memory_ask(struct parcel *m, uint32_t pid);
/* Adds an address to the request. */
void read_memory_at(struct parcel *m, uint64_t at);
/* Returns the bytes from the next address on, up to the first page that cannot be read. */
struct span read_memory_next(struct parcel *answer);

#endif
