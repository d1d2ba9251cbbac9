/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Perf's side-band: what every process of the host maps, forks, executes, renames and when it
 * exits, in order of time over all CPUs. Owns its perf events and rings. Single-threaded.
 */
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
	uint32_t pid, tid;   /* fork: of the child; pid is the thread group */
	uint32_t ppid, ptid; /* fork: who forked; exit: the parent */
	bool exec;	     /* comm: the name came with an execve(2) */
	/* mmap: an executable mapping, as it was then */
	uint64_t start, end, offset, inode, generation;
	uint32_t major, minor;
	struct span name; /* comm, or the path as the process sees it; lives until the next __next
			     or __read */
};

/*
 * One event and ring a CPU; their descriptors are added to epoll_fd (-1: none) with data.ptr =
 * `ptr`. Reports errors on one line: -EPERM, -EACCES, -EOPNOTSUPP.
 */
int sideband__open(struct sideband **sb, int epoll_fd, void *ptr);
void sideband__close(struct sideband *sb);

/*
 * Copies what the rings hold to the queue, which frees the rings for more. Cheap when they are
 * empty; call it during long work. Every record older than the call is then in the queue.
 */
void sideband__read(struct sideband *sb);

/* The oldest queued record not younger than the last read. False when there is none. */
bool sideband__next(struct sideband *sb, struct sideband_record *r);

/* CLOCK_MONOTONIC of the last read: everything before it has been returned once __next says false.
 */
uint64_t sideband__horizon(const struct sideband *sb);

/* What was lost since the last call: records the kernel dropped, or that made no sense or room. */
struct sideband_lost {
	uint64_t ring_full, malformed, queue_full;
};
struct sideband_lost sideband__lost(struct sideband *sb);

/* Whether a record should wake the caller at once (at first yes); without it only polling finds
 * them. */
void sideband__wake(struct sideband *sb, bool on);

/* One perf record with its header (`len` bytes, foreign): 1 parsed, 0 of no interest, -EBADMSG.
 * Pure. */
int sideband_parse(const void *rec, size_t len, struct sideband_record *r, uint64_t *lost);

#endif
