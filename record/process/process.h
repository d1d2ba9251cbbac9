/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracks which processes are recorded and what they have mapped. Scans /proc once, then follows
 * perf side-band records (mmap2, comm, fork, exit). Publishes unwind ranges, writes the identity
 * records (process, thread, label, binary, mapping), and requests debuginfo. Runs on the session's
 * main thread.
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

/* Selects the processes to record. Exactly one choice; borrowed for the tracker's lifetime. */
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
	struct nursery *nursery;    /* it and its readers are never recorded */
	uint32_t uprobes_pid;	    /* nor is this process of obrec's (uprobes.h); 0: none */
	struct readers *readers;
	unsigned facts;		    /* struct binaries_opts */
	struct unwind_store *store; /* NULL: no unwinding */
	struct debuginfo *debuginfo; /* NULL: no debuginfo */
	bool urgent; /* process events are urgent: allow more wake-ups */
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
	const char *proc_root; /* NULL: /proc; tests use their own tree */
};

int tracker__new(struct tracker **t, const struct tracker_opts *opts);
void tracker__free(struct tracker *t);

/* Starts following (side-band first), then scans. Loads the tables of all targets before it
 * returns. */
int tracker__start(struct tracker *t);
/* Before the recording: waits until readers have answered, except blocked ones, and handles the
 * answers; half a minute at most. */
void tracker__settle(struct tracker *t);

/* Empties the rings of the side-band, and handles nothing: call it during long operations. */
void tracker__breathe(void *tracker);
/* Handles pending side-band records. Call it when epoll reports them and on the timer. */
int tracker__drain(struct tracker *t);

/* Halves the wake-ups by process events with each level; 0: initial rate. Events are not lost, but
 * a stack sampled before a mapping event is read is truncated at the new mapping. */
void tracker__wake_less(struct tracker *t, unsigned level);

/* Returns the thread id for a sample; writes identity records at first use. 0: unknown process. */
uint32_t tracker__thread(struct tracker *t, uint32_t tgid, uint32_t tid, const char *comm, uint64_t ts_ns);

/* Returns the process id of a tgid at that time; otherwise as tracker__thread(). */
uint32_t tracker__process(struct tracker *t, uint32_t tgid, const char *comm, uint64_t ts_ns);

/* Resolves an address in a process to binary id and ELF address, for frames that BPF could not
 * resolve. Returns the packed frame; binary 0: no mapping known. */
uint64_t tracker__frame(struct tracker *t, uint32_t tgid, uint64_t address);

/*
 * tracker__file() returns the path of a binary as its process sees it; NULL: no file, or dropped.
 * tracker__hit() reports a stack frame in a binary: writes its record and requests debuginfo, once
 * each.
 */
const char *tracker__file(const struct tracker *t, uint32_t binary);
void tracker__hit(struct tracker *t, uint32_t binary, uint64_t elf_address);

/* Returns the number of live targets; 0 after the last exit. With --comm and --cgroup more may
 * appear. */
size_t tracker__live_targets(const struct tracker *t);

/* Writes all identity records again (long captures), so that later chunks can be read alone. */
int tracker__reanchor(struct tracker *t);

/* Reads JIT symbols (perf-PID.map) of hit addresses: when a process exits and at the end. */
int tracker__finish(struct tracker *t);

/* Calls fn(ctx, tgid, tid) for each thread of all live targets, for probes that need a snapshot. */
int tracker__each_thread(struct tracker *t, int (*fn)(void *ctx, uint32_t tgid, uint32_t tid), void *ctx);

/* The same for each live target. */
int tracker__each_target(struct tracker *t, int (*fn)(void *ctx, uint32_t tgid), void *ctx);

#endif
