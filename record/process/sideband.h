/* SPDX-License-Identifier: BSD-2-Clause */
/* Perf side-band: mmap, fork, exec, comm and exit of all processes of the host, in time order over
 * all CPUs. Owns its perf events and rings. Single-threaded. */
#ifndef RECORD_SIDEBAND_H
#define RECORD_SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

struct sideband;

enum sideband_type { SIDEBAND_MMAP, SIDEBAND_COMM, SIDEBAND_FORK, SIDEBAND_EXIT };

struct sideband_record {
	enum sideband_type type;
	uint64_t ts_ns;	     /* CLOCK_MONOTONIC */
	uint32_t pid, tid;   /* fork: the child's; pid is the thread group */
	uint32_t ppid, ptid; /* fork: the forking thread; exit: the parent */
	bool exec;	     /* comm: set by execve(2) */
	/* mmap: the executable mapping at that time */
	uint64_t start, end, offset, inode, generation;
	uint32_t major, minor;
	struct span name; /* comm, or path as seen by the process; valid until the next __next */
};

/* Opens one event and ring per CPU and adds the descriptors to epoll_fd (-1: none) with data.ptr =
 * `ptr`. Reports errors on one line: -EPERM, -EACCES, -EOPNOTSUPP. */
int sideband__open(struct sideband **sb, int epoll_fd, void *ptr);
void sideband__close(struct sideband *sb);

/* Copies the records from the rings to the queue, which frees the rings. Cheap if they are empty;
 * call it during long operations. Afterwards the queue has every record older than the call. */
void sideband__read(struct sideband *sb);

/* Returns the oldest queued record that is not newer than the last read. False: none. */
bool sideband__next(struct sideband *sb, struct sideband_record *r);

/* CLOCK_MONOTONIC of the last read. When __next returns false, all earlier records have been
 * returned. */
uint64_t sideband__horizon(const struct sideband *sb);

/* Losses since the last call: records dropped by the kernel, malformed, or without room in the
 * queue. */
struct sideband_lost {
	uint64_t ring_full, malformed, queue_full;
};
struct sideband_lost sideband__lost(struct sideband *sb);

/* Enables or disables wake-up of the caller per record (initially on). If off, records are found
 * only by polling. */
void sideband__wake(struct sideband *sb, bool on);

/* Parses one perf record with its header (`len` bytes, untrusted). Returns 1: parsed, 0:
 * irrelevant, or -EBADMSG. Pure. */
int sideband_parse(const void *rec, size_t len, struct sideband_record *r, uint64_t *lost);

#endif
