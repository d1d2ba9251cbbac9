/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes are recorded and what they have mapped: scans /proc once, then follows perf side-band
 * records (mmap2, comm, fork, exit). Publishes unwind ranges, writes the identity records (process, thread,
 * label, binary, mapping), asks for debuginfo. Runs on the session's one thread.
 */
#ifndef RECORD_PROCESS_H
#define RECORD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "format/archive.h"
#include "record/unwind/unwind_store.h"

struct tracker;
struct debuginfo;
struct file_facts;
struct nursery;
struct readers;

/* Who to record. Exactly one of the choices; borrowed for the tracker's life. */
struct target_spec {
	bool all;
	bool inherit;	   /* children of targets are targets */
	const uint32_t *pids;
	size_t pid_cnt;
	const char *comm;  /* process name, fnmatch(3) pattern */
	const char *cgroup; /* v1 or v2 path below the root, or absolute under /sys/fs/cgroup; its descendants too */
	const char *const *label_env;
	size_t label_env_cnt;
};

struct tracker_opts {
	struct target_spec target;
	struct obz_writer *writer;
	struct nursery *nursery;    /* with its readers never recorded */
	struct readers *readers;
	unsigned facts;		    /* struct binaries_opts */
	struct unwind_store *store; /* NULL: no unwinding wanted */
	struct debuginfo *debuginfo; /* NULL: none wanted */
	bool urgent; /* its news are waited for: they wake more often */
	int epoll_fd;		    /* perf ring fds are added here with data.ptr = the tracker */
	void (*loss)(void *ctx, const char *source, const char *cause, uint64_t count);
	void *loss_ctx;
	/* struct binaries_opts */
	bool (*file)(void *ctx, const struct file_facts *facts, int fd, const struct stat *st,
		     const char *path);
	void (*file_gone)(void *ctx, const struct stat *st);
	void *file_ctx;
	uint64_t (*room)(void *ctx, uint64_t file_sz); /* struct binaries_opts */
	void *room_ctx;
	const char *proc_root; /* NULL: /proc; tests lend a tree of their own */
};

int tracker__new(struct tracker **t, const struct tracker_opts *opts);
void tracker__free(struct tracker *t);

/* Start following (side-band first), then scan: every target's tables are loaded when this returns. */
int tracker__start(struct tracker *t);

/* Handle pending side-band records; call when epoll says so and on the timer. */
int tracker__drain(struct tracker *t);

/* News of processes wake the caller half as often with each level, 0 as at first. What they say is
 * not lost, but stacks taken before it is read break where they meet a new mapping. */
void tracker__wake_less(struct tracker *t, unsigned level);

/* Ids for a sample; identity records are written at first use. 0 when the process cannot be known. */
uint32_t tracker__thread(struct tracker *t, uint32_t tgid, uint32_t tid, const char *comm, uint64_t ts_ns);

/* The process id of a tgid at that time, likewise. */
uint32_t tracker__process(struct tracker *t, uint32_t tgid, const char *comm, uint64_t ts_ns);

/* The binary id and ELF address for an address in a process, for frames that BPF could not resolve.
 * Returns the packed frame, binary 0 when no mapping is known. */
uint64_t tracker__frame(struct tracker *t, uint32_t tgid, uint64_t address);

/* A recorded stack has a frame in this binary: write its record, want its debuginfo (once each). */
void tracker__hit(struct tracker *t, uint32_t binary, uint64_t elf_address);

/* How many targets live; 0 after the last exit. With --comm/--cgroup later ones may still come. */
size_t tracker__live_targets(const struct tracker *t);

/* Write all identity records again (long captures), so that later chunks stand alone. */
int tracker__reanchor(struct tracker *t);

/* JIT symbols (perf-PID.map) of hit addresses, read at exit of a process and at the end. */
int tracker__finish(struct tracker *t);

/* Threads of all live targets, for probes that need a snapshot. Calls fn(ctx, tgid, tid) for each. */
int tracker__each_thread(struct tracker *t, int (*fn)(void *ctx, uint32_t tgid, uint32_t tid), void *ctx);

#endif
