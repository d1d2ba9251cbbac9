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

struct item_hits;
void item_hits_free(struct item_hits *h);

/* What an item is until it is in the archive. */
struct item_work {
	char *path;
	int fd, root_fd; /* -1: none, or closed again */
	uint64_t file_sz;
	uint64_t tag; /* of a file that is in the cache alone */
	struct slim_member m;
	struct item_hits *hits; /* NULL: its DWARF goes as a whole, or not at all */
	bool fresh;		/* m is filled in and not committed yet */
};

/* The symbol table goes first, alone: it is small, and a capture may be short. */
enum item_stage { ITEM_SYMBOLS, ITEM_DWARF, ITEM_STAGES };

/* Everything of one id, which stands for one content (binary_build.c). Queued, taken by one thread,
 * ready, done: in the archive. Of one that is done little is kept, to answer for other files of
 * that id. */
struct item {
	char *id;
	struct item_work *work; /* NULL: settled */
	const char *symbols;	/* static; this and the next two once it is done */
	char *why;		/* NULL: for no reason */
	unsigned members;	/* in the archive */
	enum item_stage stage;	/* of its work */
	bool alternate;		/* a dwz file: no binary asked for it */
	bool done;
	bool owes; /* it has hits to be extracted; the committer's */
	bool last; /* what is extracted now is the last; the committer's */

	struct item *next, *ready_next, *hash_next; /* the queue's own */
	struct want *wants, *told; /* told: have a record, and get another if it changes */
	bool on_ready;
};

#define QUEUE_BUCKETS 1024

struct debug_queue {
	pthread_mutex_t lock;
	_Atomic(struct want *) incoming;
	struct item **by_binary; /* by number, 16 bits; NULL: nobody asks for hits */
	struct item *queued[ITEM_STAGES], *ready, *buckets[QUEUE_BUCKETS];
};

void debug_queue__init(struct debug_queue *q);
/* Before anything is pushed: items get hits, and by_binary. */
int debug_queue__with_hits(struct debug_queue *q);
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
struct item *debug_queue__next(struct debug_queue *q, enum item_stage stage);
/* To the list of its stage. */
void debug_queue__put_back(struct debug_queue *q, struct item *it);

/* it->work->m is filled in. */
void debug_queue__make_ready(struct debug_queue *q, struct item *it);
/* *fresh: its m is to be committed; else there are but binaries that wait for a record. */
struct item *debug_queue__next_ready(struct debug_queue *q, bool *fresh);

/* By who commits it: takes over what became of it->work->m. True when its binaries have to be told
 * of that again. */
bool debug_queue__note(struct debug_queue *q, struct item *it);
/* Nothing more comes of it: only what the records say stays. */
void debug_queue__settle(struct debug_queue *q, struct item *it);

/* Marks the item done; takes one binary off it that waits for its record, *again: it had one
 * already. False: there is none. */
bool debug_queue__report(struct debug_queue *q, struct item *it, uint32_t *binary, bool *again);

#endif
