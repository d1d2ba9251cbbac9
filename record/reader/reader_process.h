/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reader processes read everything that targets control: mappings, arguments, environment, files
 * and what these refer to, perf maps. obrec itself never does. A file system that does not respond
 * blocks the process that reads from it in the kernel, where even SIGKILL has no effect. A blocked
 * reader can be abandoned; obrec cannot. Readers also parse the data: an exploit in a file reaches
 * only a process without CAP_BPF and without the archive.
 *
 * Readers are forked from the nursery, a single-threaded process forked before obrec creates
 * threads. A reader serves one request at a time. This file is about one reader; readers.h manages
 * a pool of them.
 */
#ifndef RECORD_READER_H
#define RECORD_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/base/parcel.h"

/* Request kinds. Their functions run in the reader. */
enum reading {
#define READING(name, serve) READING_##name,
#include "record/reader/readings.def"
#undef READING
	READING_CNT
};

struct nursery;

/* Forks the nursery; proc_root: NULL for /proc. Call it while the process has a single thread. */
int nursery__new(struct nursery **n, const char *proc_root);
/* Ends the nursery and its readers. A reader blocked in the kernel ends when the kernel releases
 * it. */
void nursery__free(struct nursery *n);
pid_t nursery__pid(const struct nursery *n);

struct reader {
	pid_t pid;
	int socket, pidfd; /* -1: none */
	/* Current request: when it was sent, and CPU and run-queue time used until then. */
	uint64_t since_ns, cpu_ns, delay_ns;
};

/* Thread-safe. */
int reader_start(struct reader *r, struct nursery *n);
int reader_send(struct reader *r, const struct parcel *request);
/* Sends SIGKILL and closes the reader's descriptors. If `left` is not NULL, *left receives the
 * pidfd. */
void reader_end(struct reader *r, int *left);

/* CPU time, and time blocked on anything other than a CPU, since the request was sent. */
struct reader_use {
	uint64_t cpu_ns, blocked_ns;
};
struct reader_use reader_use(const struct reader *r);

/* In the reader: reopens an O_PATH descriptor; flags of open(2). Returns a descriptor or a negative
 * errno. */
int reader_reopen(int path_fd, int flags);
/* In the reader: serves requests until the peer closes the socket. */
void reader_serve(int socket, int proc);

#endif
