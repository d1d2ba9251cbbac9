/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool of reader processes (reader_process.h) as the session's thread uses it. A request is awaited for
 * as long as patience lasts, which is little while the rings fill; one that takes longer goes on
 * and its answer is delivered later. A reader that is blocked, or computes for too long, is ended
 * or left behind, its request answered with -ETIMEDOUT, and who it was about is not asked again for
 * a while. For one thread.
 */
#ifndef RECORD_READERS_H
#define RECORD_READERS_H

#include "record/reader/reader_process.h"

struct readers;

struct reading_request {
	struct parcel m; /* the request, then its answer */
	/* The rest is the pool's own. */
	enum { REQUEST_QUEUED, REQUEST_SENT, REQUEST_DONE } state;
	uint64_t about[2];
	void (*late)(void *ctx, struct reading_request *r);
	void *ctx;
	struct reading_request *next;
};

/* The nursery is borrowed. */
int readers__new(struct readers **p, struct nursery *nursery);
void readers__free(struct readers *p);

/* How long the caller may be kept. */
enum readers_mood {
	READERS_STARTING,  /* nothing is recorded yet: seconds */
	READERS_RECORDING, /* the rings must be read: tenths of a second, and few of those */
	READERS_STOPPING,  /* what does not answer within half a second in all is given up */
	READERS_PATIENT,   /* for good: as long as it takes, for who has nothing else to do */
};
void readers__set_mood(struct readers *p, enum readers_mood mood);

/*
 * Sends a request, or queues it. The message is taken. `about`: a process (pid) and a device
 * (major << 32 | minor), 0 for none: when one was the reason that a reader got stuck, the request
 * is answered with -ETIMEDOUT at once. NULL: no memory.
 */
struct reading_request *readers__ask(struct readers *p, struct parcel *m, uint32_t pid,
				     uint64_t device);
/* True: it is answered, r->m is the answer, to be freed with readers__done(). */
bool readers__await(struct readers *p, struct reading_request *r);
void readers__done(struct reading_request *r);
/* Gives an unanswered one up to the pool, which calls fn from readers__deliver() once it is
 * answered and frees it behind. NULL: nobody wants to know. */
void readers__later(struct reading_request *r, void (*fn)(void *ctx, struct reading_request *r),
		    void *ctx);

/* Calls what is due. Not from within such a call. */
void readers__deliver(struct readers *p);
/* While starting: waits until all are answered but those whose reader is blocked. */
void readers__settle(struct readers *p);

/* The end: ends all readers; what is under way is answered with -ETIMEDOUT, what is asked from now on
 * with -ECANCELED. */
void readers__stop(struct readers *p);

/* Readers that had to be given up so far; those among them that still have not ended. */
unsigned readers__given_up(const struct readers *p);
/* CPU time of all readers of the pool that were given something to do. */
uint64_t readers__cpu_ns(const struct readers *p);

#endif
