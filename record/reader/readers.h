/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pool of reader processes (reader_process.h) for the main thread. A request is awaited for a
 * limited time, which is short while recording. If it takes longer, it continues and the answer is
 * delivered later. A reader that is blocked or uses too much CPU time is killed or abandoned. Its
 * request is answered with -ETIMEDOUT, and the process or device concerned is not asked again for a
 * while. Single-threaded.
 */
#ifndef RECORD_READERS_H
#define RECORD_READERS_H

#include "record/reader/reader_process.h"

struct readers;

struct reading_request {
	struct parcel m; /* the request, then its answer */
	/* Private to the pool. */
	enum { REQUEST_QUEUED, REQUEST_SENT, REQUEST_DONE } state;
	uint64_t about[2];
	void (*late)(void *ctx, struct reading_request *r);
	void *ctx;
	struct reading_request *next;
};

/* The nursery is borrowed. */
int readers__new(struct readers **p, struct nursery *nursery);
void readers__free(struct readers *p);

/* How long the caller may be blocked. */
enum readers_mood {
	READERS_STARTING,  /* recording has not started: seconds */
	READERS_RECORDING, /* rings must be read: tenths of a second, with a total limit */
	READERS_STOPPING,  /* half a second in total, then requests are abandoned */
	READERS_PATIENT,   /* permanent: unlimited, for callers without other work */
};
void readers__set_mood(struct readers *p, enum readers_mood mood);

/*
 * Sends or queues a request. Takes ownership of the message. `about`: a process (pid) and a device
 * (major << 32 | minor); 0: none. If one of them recently blocked a reader, the request is answered
 * with -ETIMEDOUT at once. NULL: out of memory.
 */
struct reading_request *readers__ask(struct readers *p, struct parcel *m, uint32_t pid,
				     uint64_t device);
/* Returns true if the request is answered: r->m is the answer; free it with readers__done(). */
bool readers__await(struct readers *p, struct reading_request *r);
void readers__done(struct reading_request *r);
/* Hands an unanswered request to the pool. readers__deliver() calls fn when it is answered and then
 * frees it. fn NULL: discard the answer. */
void readers__later(struct reading_request *r, void (*fn)(void *ctx, struct reading_request *r),
		    void *ctx);

/* Calls the functions that are due. Not reentrant. */
void readers__deliver(struct readers *p);
/* At the start: waits until all requests are answered, except those of blocked readers. Calls
 * `between` at least once, and every 10 ms: targets decide how long it takes. */
void readers__settle(struct readers *p, void (*between)(void *ctx), void *ctx);

/* At the end: kills all readers. Requests in flight are answered with -ETIMEDOUT, new ones with
 * -ECANCELED. */
void readers__stop(struct readers *p);

/* Returns the number of readers abandoned so far. */
unsigned readers__given_up(const struct readers *p);
/* Returns the CPU time of all readers that have served requests. */
uint64_t readers__cpu_ns(const struct readers *p);

#endif
