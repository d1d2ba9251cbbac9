/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_PROBE_FILE_H
#define BPF_PROBE_FILE_H

#include "bpf/metric.h"

enum {
	SERIES_file_latency = SERIES_OWN,
	SERIES_file_bytes,
	SERIES_file_failed,
	SERIES_file_cache,
	SERIES_file_paused, /* by process and file */
};
/* Key parts after the process name; in `failed` the error is where all series have it. */
enum { FILE_PART_FILE = 2, FILE_PART_OP = 3 };

/* Key of a file in file_paths: a hash of what identifies it and its name. */
enum { FILE_NONE, FILE_OTHER /* without a path: the table is full */, FILE_FIRST };
#define FILE_PATH_LEN 256
#define FILE_PATHS 8192
#define FILE_SLOTS 8192 /* threads; a power of two */

#define FILE_OPS(X) X(FILE_READ, "read") X(FILE_WRITE, "write") X(FILE_SYNC, "sync")
enum file_op {
#define X(number, text) number,
	FILE_OPS(X)
#undef X
		FILE_OP_CNT
};

/* Events of the series `cache`, in place of the operation. The last two are by device, the number
 * of which is in place of the file. */
#define FILE_CACHE_EVENTS(X)                                                                       \
	X(FILE_ACCESSED, "accessed")                                                               \
	X(FILE_MISSED, "missed")                                                                   \
	X(FILE_DIRTIED, "dirtied")                                                                 \
	X(FILE_ADDED_OTHER, "added") X(FILE_DIRTIED_OTHER, "dirtied")
enum file_cache_event {
#define X(number, text) number,
	FILE_CACHE_EVENTS(X)
#undef X
		FILE_CACHE_EVENT_CNT
};

/* X(name, operation, argument with the offset; FILE_POS: the file's own position). The calls with
 * two files are FILE_PAIRS. Those that not every kernel or architecture has are optional. */
#define FILE_POS 6
#define FILE_CALLS(X)                                                                              \
	X(read, FILE_READ, FILE_POS)                                                               \
	X(write, FILE_WRITE, FILE_POS)                                                             \
	X(pread64, FILE_READ, 3)                                                                   \
	X(pwrite64, FILE_WRITE, 3)                                                                 \
	X(readv, FILE_READ, FILE_POS)                                                              \
	X(writev, FILE_WRITE, FILE_POS)                                                            \
	X(preadv, FILE_READ, 3)                                                                    \
	X(pwritev, FILE_WRITE, 3)                                                                  \
	X(preadv2, FILE_READ, 3)                                                                   \
	X(pwritev2, FILE_WRITE, 3)                                                                 \
	X(fsync, FILE_SYNC, FILE_POS)                                                              \
	X(fdatasync, FILE_SYNC, FILE_POS)                                                          \
	X(sync_file_range, FILE_SYNC, 1)
/* X(name, arguments: descriptor read, where its offset is; descriptor written, where its offset is)
 */
#define FILE_PAIRS(X) X(sendfile64, 1, 2, 0, FILE_POS) X(copy_file_range, 0, 1, 2, 3)
#define FILE_CALL_LEN 16
enum file_call_number {
#define X(name, ...) FILE_CALL_##name,
	FILE_CALLS(X) FILE_PAIRS(X)
#undef X
};

#endif
