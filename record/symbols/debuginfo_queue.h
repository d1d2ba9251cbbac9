/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue of binaries to extract and to commit. push is lock-free, for the main thread. All other
 * functions hold the lock only briefly and never allocate, so a request cannot be lost once pushed.
 */
#ifndef RECORD_DEBUGINFO_QUEUE_H
#define RECORD_DEBUGINFO_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "record/symbols/debuginfo_cache.h"

struct item_hits;
void item_hits_free(struct item_hits *h);

/* State of an item until it is in the archive. */
struct item_work {
	char *path;
	int fd, root_fd; /* -1: none, or closed */
	uint64_t file_sz;
	uint64_t tag; /* content tag if the file is only in the cache */
	struct slim_member m;
	struct item_hits *hits; /* NULL: all of its DWARF is extracted, or none */
	bool fresh;		/* m is filled and not yet committed */
};

/* The symbol table is extracted first: it is small, and a capture may be short. */
enum item_stage { ITEM_SYMBOLS, ITEM_DWARF, ITEM_STAGES };

/*
 * All binaries with one id, which stands for one content (binary_build.c). States: queued, taken by
 * a thread, ready, done (in the archive). A done item keeps only what is needed to answer for other
 * files with that id.
 */
struct item {
	char *id;
	struct item_work *work; /* NULL: settled */
	const char *symbols;	/* static text; valid, like the next two, once done */
	char *why;		/* NULL: no reason */
	unsigned members;	/* number of archive members */
	enum item_stage stage;	/* current stage of work */
	bool alternate;		/* a dwz file, requested by no binary */
	bool done;
	bool owes; /* has hits to extract; used by the committer */
	bool last; /* current extraction is the last; used by the committer */

	struct item *next, *ready_next, *hash_next; /* private to the queue */
	struct want *wants, *told; /* told: has a record, and gets another one on changes */
	bool on_ready;
};

#define QUEUE_BUCKETS 1024

struct debug_queue {
	pthread_mutex_t lock;
	_Atomic(struct want *) incoming;
	struct item **by_binary; /* indexed by 16-bit binary number; NULL: no hits wanted */
	struct item *queued[ITEM_STAGES], *ready, *buckets[QUEUE_BUCKETS];
};

void debug_queue__init(struct debug_queue *q);
/* Call before the first push: enables hits and by_binary. */
int debug_queue__with_hits(struct debug_queue *q);
void debug_queue__fini(struct debug_queue *q);

/* Copies the arguments and dups the descriptors. -EMFILE, -ENOMEM. */
int debug_queue__push(struct debug_queue *q, uint32_t binary, int fd, uint64_t file_sz, int root_fd,
		      const char *path, const char *id);

/* The same for an alternate file. Always takes ownership of fd (-1: it is in the cache with content
 * tag `tag`). Returns 1: added; 0: already known, or out of memory. */
int debug_queue__push_alternate(struct debug_queue *q, const struct item *of, const char *id,
				int fd, uint64_t file_sz, uint64_t tag);

/*
 * Accepts pushed requests; returns true if there is something new to extract. Called only by the
 * committer: it frees memory of the main thread's heap, and a thread under SCHED_IDLE could be
 * preempted for seconds while it holds that heap's lock.
 */
bool debug_queue__take_in(struct debug_queue *q);

/* Takes the smallest file first, so that a kill loses the fewest binaries. NULL: none. */
struct item *debug_queue__next(struct debug_queue *q, enum item_stage stage);
/* Returns an item to the list of its stage. */
void debug_queue__put_back(struct debug_queue *q, struct item *it);

/* Call when it->work->m is filled. */
void debug_queue__make_ready(struct debug_queue *q, struct item *it);
/* Takes a ready item. *fresh: its m must be committed; else only binaries wait for their
 * records. */
struct item *debug_queue__next_ready(struct debug_queue *q, bool *fresh);

/* Called by the committer: takes over the result of it->work->m. Returns true if its binaries need
 * another record. */
bool debug_queue__note(struct debug_queue *q, struct item *it);
/* The item is finished: frees all except what the records contain. */
void debug_queue__settle(struct debug_queue *q, struct item *it);

/* Marks the item done and removes one binary that waits for its record; *again: it already had one.
 * Returns false if there is none. */
bool debug_queue__report(struct debug_queue *q, struct item *it, uint32_t *binary, bool *again);

#endif
