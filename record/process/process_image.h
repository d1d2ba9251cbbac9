/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One program image of one process, its threads that were seen, and what the archive says of them.
 * The tracker owns images and keeps those that ended for some seconds, for samples still on their
 * way.
 */
#ifndef RECORD_PROCESS_IMAGE_H
#define RECORD_PROCESS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/archive.h"
#include "record/binary/binary.h"
#include "record/process/process_maps.h"

struct thread {
	uint32_t id, tid;	       /* id is 0 until its record is written */
	struct process *process;       /* NULL: freed; the thread waits to be */
	struct thread *prev, *sibling; /* in the process's list */
	struct thread *older;	       /* the one that had this tid before */
	struct thread *next_ended;
	uint64_t started_ns, ended_ns; /* 0: not known; lives */
	bool queued;		       /* among the ended ones */
	char comm[16];
};

/* What /proc tells about a process; strings are malloc'ed or NULL. */
struct identity {
	uint32_t ns_pid;
	char comm[16];
	char *exe, *cmdline, *cgroup;
	char container_id[80];
	uint64_t netns;
	char **labels; /* KEY=VALUE of the wanted environment variables */
	size_t label_cnt;
};

struct process {
	uint32_t id; /* 0 until its record is written */
	uint32_t tgid, ppid;
	uint64_t started_ns, ended_ns; /* 0: lives */
	uint64_t known_ns;	       /* every exec, name, thread and exit before this is known */
	uint64_t maps_as_of_ns;	       /* maps hold every change before this; not before known_ns */
	struct process *older; /* the image before exec, or of a former process of this pid */
	struct maps maps;
	size_t maps_read;      /* how many /proc showed at the last look */
	struct binary *jit;    /* of its generated code; NULL: none */
	bool jit_own;	       /* else it is that of the process it was forked from */
	bool target, by_match; /* recorded; for its own properties, not by inheritance */
	bool dirty;	       /* ranges are to be published */
	bool dying;	       /* its leader exited: to be seen whether others live on */
	uint32_t live;	       /* threads, when all of them started in view; 0: not known */
	uint64_t last_exit_ns; /* of one of its threads */
	bool unwritten;	       /* some mappings may have to be written */
	bool unreadable;       /* its mappings: no permission */
	bool described;	       /* its identity was read, or is being */
	struct process *next_dirty, *next_ended;
	struct thread *threads;
	struct identity identity;
};

void identity_set_comm(struct identity *id, struct span name);

void identity_free_labels(struct identity *id);

/* The child of a fork knows what its parent does. */
void process_inherit(struct process *child, const struct process *parent);
void process_free(struct process *p); /* not its threads */

/* Records into the archive; ids are set by the caller. */
int process_write(struct obz_writer *w, const struct process *p);
int process_write_exit(struct obz_writer *w, const struct process *p);
int thread_write(struct obz_writer *w, const struct thread *t);
/* Mappings whose binary has been hit and that were not written yet; with `again` the written ones
 * only. */
int process_write_mappings(struct obz_writer *w, struct process *p, bool again);

#endif
