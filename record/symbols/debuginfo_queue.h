/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is still to be extracted and to be committed. push is lock-free, for the session's thread;
 * all else takes the lock for moments and never allocates, so that a wish once pushed cannot get
 * lost.
 */
#ifndef RECORD_DEBUGINFO_QUEUE_H
#define RECORD_DEBUGINFO_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "record/symbols/debuginfo_cache.h"

/* What an item is until it is in the archive. */
struct item_work {
	char *path;
	int fd, root_fd; /* -1: none, or closed again */
	uint64_t file_sz;
	uint64_t tag; /* of a file that is in the cache alone */
	struct slim_member m;
};

/* Everything of one id, which stands for one content (binary_build.c). Queued, taken by one thread,
 * ready, done: in the archive. Of one that is done little is kept, to answer for other files of
 * that id. */
struct item {
	char *id;
	struct item_work *work; /* NULL: settled */
	const char *symbols;	/* static; this and the next two once it is */
	char *why;		/* NULL: for no reason */
	bool has_member;
	bool alternate; /* a dwz file: no binary asked for it */
	bool done;

	struct item *next, *hash_next; /* the queue's own */
	struct want *wants;
	bool on_ready;
};

#define QUEUE_BUCKETS 1024

struct debug_queue {
	pthread_mutex_t lock;
	_Atomic(struct want *) incoming;
	struct item *queued, *ready, *buckets[QUEUE_BUCKETS];
};

void debug_queue__init(struct debug_queue *q);
void debug_queue__fini(struct debug_queue *q);

/* Copies what it is given, dups the descriptors. -EMFILE, -ENOMEM. */
int debug_queue__push(struct debug_queue *q, uint32_t binary, int fd, uint64_t file_sz, int root_fd,
		      const char *path, const char *id);

/* The same for an alternate file, whose fd (or -1: it is in the cache, as content `tag`) is taken
 * whatever comes. 1: added, 0: known already or no memory. */
int debug_queue__push_alternate(struct debug_queue *q, const struct item *of, const char *id,
				int fd, uint64_t file_sz, uint64_t tag);

/* Lets what was pushed in; true when there is something new to extract. By the committer alone: it
 * frees what the session's thread allocated, and under SCHED_IDLE could be preempted for seconds
 * while it holds the lock of that thread's heap. */
bool debug_queue__take_in(struct debug_queue *q);

/* The smallest file first: a kill then loses the fewest binaries. NULL: none. */
struct item *debug_queue__next(struct debug_queue *q);
void debug_queue__put_back(struct debug_queue *q, struct item *it);

/* it->work->m is filled in; the item's files are closed. */
void debug_queue__make_ready(struct debug_queue *q, struct item *it);
struct item *debug_queue__next_ready(struct debug_queue *q);

/* By who commits it: what became of it->work->m, with its member in the archive or not, is all that
 * stays. */
void debug_queue__settle(struct item *it, bool has_member);

/* Marks the item done; takes one binary off it that waits for its record. False: there is none. */
bool debug_queue__report(struct debug_queue *q, struct item *it, uint32_t *binary);

#endif
