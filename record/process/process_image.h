/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One program image of a process (from exec to the next exec or exit), its known threads, and what
 * is in the archive about them. The tracker owns images. It keeps ended ones for some seconds for
 * samples that arrive late.
 */
#ifndef RECORD_PROCESS_IMAGE_H
#define RECORD_PROCESS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/archive.h"
#include "record/binary/binary.h"
#include "record/process/process_maps.h"

struct thread {
	uint32_t id, tid;	       /* id: 0 until its record is written */
	struct process *process;       /* NULL: freed; the thread will be freed later */
	struct thread *prev, *sibling; /* list of the process's threads */
	struct thread *older;	       /* the previous thread with this tid */
	struct thread *next_ended;
	uint64_t started_ns, ended_ns; /* 0: unknown / still alive */
	bool queued;		       /* in the list of ended threads */
	char comm[16];
};

/* Properties of a process from /proc. Strings are malloc'ed or NULL. */
struct identity {
	uint32_t ns_pid;
	char comm[16];
	char *exe, *cmdline, *cgroup;
	char container_id[80];
	uint64_t netns;
	char **labels; /* KEY=VALUE of the requested environment variables */
	size_t label_cnt;
};

struct process {
	uint32_t id; /* 0 until its record is written */
	uint32_t tgid, ppid;
	uint64_t started_ns, ended_ns; /* ended_ns 0: alive */
	uint64_t known_ns;	       /* all execs, names, threads and exits before this time are
					* known */
	uint64_t maps_as_of_ns;	       /* maps contain all changes before this time; not earlier
					* than known_ns */
	struct process *older; /* image before exec, or of an earlier process with this pid */
	struct maps maps;
	size_t maps_read;      /* number of mappings in /proc at the last look */
	struct binary *jit;    /* for its JIT code; NULL: none */
	bool jit_own;	       /* false: shared with the process it was forked from */
	bool target, by_match; /* recorded; by_match: for its own properties, not by inheritance */
	bool dirty;	       /* ranges must be published */
	bool dying;	       /* leader exited: check whether other threads are alive */
	uint32_t live;	       /* number of threads if all were seen starting; 0: unknown */
	uint64_t last_exit_ns; /* last exit of one of its threads */
	bool unwritten;	       /* some mappings may have to be written */
	bool unreadable;       /* no permission to read its mappings */
	bool described;	       /* identity has been read or requested */
	struct process *next_dirty, *next_ended;
	struct thread *threads;
	struct identity identity;
};

void identity_set_comm(struct identity *id, struct span name);

void identity_free_labels(struct identity *id);

/* Copies the parent's state to a forked child. */
void process_inherit(struct process *child, const struct process *parent);
void process_free(struct process *p); /* does not free its threads */

/* Write records to the archive; the caller sets the ids. */
int process_write(struct obz_writer *w, const struct process *p);
int process_write_exit(struct obz_writer *w, const struct process *p);
int thread_write(struct obz_writer *w, const struct thread *t);
/* Writes mappings whose binary was hit and that are not yet written; with `again` only those
 * already written. */
int process_write_mappings(struct obz_writer *w, struct process *p, bool again);

#endif
