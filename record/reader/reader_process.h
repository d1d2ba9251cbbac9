/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reader processes: whatever a target controls (its mappings, arguments and environment, its files
 * and what they point to, perf maps) is read by them and never by obrec itself. A file system that
 * does not answer holds whoever reads from it in the kernel, where not even SIGKILL ends it; a
 * reader can be left behind, obrec cannot. They also parse: a file made to exploit a parser meets a
 * process without CAP_BPF, without the archive.
 *
 * A reader is forked from the nursery, a process of one thread forked before obrec has any, and
 * serves one request at a time. This is one such process; readers.h keeps a pool of them.
 */
#ifndef RECORD_READER_H
#define RECORD_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/base/parcel.h"

/* What can be asked for; the functions are called in the reader. */
enum reading {
#define READING(name, serve) READING_##name,
#include "record/reader/readings.def"
#undef READING
	READING_CNT
};

struct nursery;

/* Forks it; proc_root: NULL for /proc. To be called while there is one thread. */
int nursery__new(struct nursery **n, const char *proc_root);
/* Ends it and all its readers, but for those the kernel holds, which end when it lets them go. */
void nursery__free(struct nursery *n);
pid_t nursery__pid(const struct nursery *n);

struct reader {
	pid_t pid;
	int socket, pidfd; /* -1: none */
	/* The request it serves: since when, and what it had used by then. */
	uint64_t since_ns, cpu_ns, delay_ns;
};

/* From any thread. */
int reader_start(struct reader *r, struct nursery *n);
int reader_send(struct reader *r, const struct parcel *request);
/* SIGKILL, and closes what belongs to it; with *left, its pidfd is given to the caller. */
void reader_end(struct reader *r, int *left);

/* How long it has been running, and how long it has been waiting for something other than a CPU,
 * since the request was sent. */
struct reader_use {
	uint64_t cpu_ns, blocked_ns;
};
struct reader_use reader_use(const struct reader *r);

/* In the reader: opens what an O_PATH descriptor stands for; flags of open(2). Negative errno. */
int reader_reopen(int path_fd, int flags);
/* In the reader: answers requests until the socket's other end is closed. */
void reader_serve(int socket, int proc);

#endif
