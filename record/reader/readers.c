/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "format/clock.h"
#include "record/base/idmap.h"
#include "record/host/priority.h"
#include "record/reader/readers.h"

#define MSEC 1000000ULL
#define SEC 1000000000ULL

enum {
	WORKERS_MAX = 16, /* with this many, most are blocked */
	LEFT_MAX = 64,	  /* abandoned and still alive: no new readers are started */
	POLL_MS = 10,
	TOO_SLOW_MS = 2, /* a reader busy for longer is not awaited by the next request */
};

#define BLOCKED_NS SEC	     /* longer than a disk needs for one request */
#define CPU_NS (20 * SEC)    /* the largest tables need a tenth of it */
#define LOOK_NS (20 * MSEC)  /* interval of checks of a reader's usage */
#define AVOID_NS (30 * SEC)  /* after blocking a reader */
#define SETTLE_NS (30 * SEC) /* limit for the start, on any machine */
#define SLUGGISH_NS (200 * MSEC)

/* Limits for a single wait and for all waits, and how much of the latter is restored per second. */
static const struct patience {
	uint64_t once_ns, least_ns, all_ns, back_ns;
} patience[] = {
	[READERS_STARTING] = {300 * MSEC, 10 * MSEC, 2 * SEC, 500 * MSEC},
	[READERS_RECORDING] = {200 * MSEC, MSEC, 600 * MSEC, 100 * MSEC},
	[READERS_STOPPING] = {200 * MSEC, 0, 500 * MSEC, 0},
	[READERS_PATIENT] = {60 * SEC, 60 * SEC, 60 * SEC, 0},
};

struct worker {
	struct reader reader;
	struct reading_request *serves; /* NULL: idle */
	struct reader_use use;
	uint64_t looked_ns;
	bool raised; /* its priority, for as long as its requests are short */
};

struct readers {
	struct nursery *nursery;
	struct worker worker[WORKERS_MAX];
	unsigned worker_cnt;
	struct reading_request *queue, **queue_tail;
	struct reading_request *late, **late_tail; /* answered, not yet delivered */
	enum readers_mood mood;
	uint64_t left_ns, credited_ns; /* wait time left; when it was last restored */
	struct idmap avoid;	       /* about -> until when, ms */
	int left[LEFT_MAX];	       /* pidfds */
	unsigned left_cnt, given_up;
	bool stopped;
	uint64_t cpu_ns;
};

int readers__new(struct readers **out, struct nursery *nursery)
{
	struct readers *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->nursery = nursery;
	p->queue_tail = &p->queue;
	p->late_tail = &p->late;
	readers__set_mood(p, READERS_STARTING);
	*out = p;
	return 0;
}

void readers__done(struct reading_request *r)
{
	if (!r)
		return;
	parcel_fini(&r->m);
	free(r);
}

static void free_list(struct reading_request *r)
{
	struct reading_request *next;

	for (; r; r = next) {
		next = r->next;
		readers__done(r);
	}
}

void readers__free(struct readers *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->worker_cnt; i++) {
		readers__done(p->worker[i].serves);
		reader_end(&p->worker[i].reader, NULL);
	}
	for (unsigned i = 0; i < p->left_cnt; i++)
		close(p->left[i]);
	free_list(p->queue);
	free_list(p->late);
	idmap_fini(&p->avoid);
	free(p);
}

void readers__set_mood(struct readers *p, enum readers_mood mood)
{
	if (p->mood == READERS_PATIENT)
		return;
	p->mood = mood;
	p->left_ns = patience[mood].all_ns;
	p->credited_ns = clock_now_ns();
}

unsigned readers__given_up(const struct readers *p)
{
	return p->given_up;
}

/* ---- answers ---- */

static void answered(struct readers *p, struct reading_request *r)
{
	r->state = REQUEST_DONE;
	r->next = NULL;
	if (!r->late)
		return;
	*p->late_tail = r;
	p->late_tail = &r->next;
}

static void drop(void *ctx, struct reading_request *r)
{
}

void readers__later(struct reading_request *r, void (*fn)(void *ctx, struct reading_request *r),
		    void *ctx)
{
	r->late = fn ? fn : drop;
	r->ctx = ctx;
}

static void refuse(struct readers *p, struct reading_request *r, int err)
{
	parcel_fini(&r->m);
	r->m.rc = err;
	answered(p, r);
}

/* The value itself is the expiry in milliseconds, so there is nothing to free. */
static bool is_avoided(struct readers *p, uint64_t about)
{
	uint64_t until_ms = about ? (uintptr_t)idmap_get(&p->avoid, about) : 0;

	if (until_ms && until_ms * MSEC <= clock_now_ns()) {
		idmap_del(&p->avoid, about);
		return false;
	}
	return until_ms != 0;
}

static void avoid(struct readers *p, uint64_t about)
{
	if (about)
		idmap_put(&p->avoid, about,
			  (void *)(uintptr_t)((clock_now_ns() + AVOID_NS) / MSEC));
}

/* ---- readers ---- */

static uint64_t cpu_ns(const struct reader *r)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(r->pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static void set_raised(struct worker *w, bool raised)
{
	if (raised && !w->raised)
		priority_raise(w->reader.pid);
	else if (!raised && w->raised)
		priority_lower(w->reader.pid);
	w->raised = raised;
}

static void remove_worker(struct readers *p, struct worker *w, int *left)
{
	p->cpu_ns += cpu_ns(&w->reader);
	reader_end(&w->reader, left);
	*w = p->worker[--p->worker_cnt];
}

uint64_t readers__cpu_ns(const struct readers *p)
{
	uint64_t sum = p->cpu_ns;

	for (unsigned i = 0; i < p->worker_cnt; i++)
		sum += cpu_ns(&p->worker[i].reader);
	return sum;
}

/* Removes abandoned readers that have exited. */
static void reap(struct readers *p)
{
	for (unsigned i = 0; i < p->left_cnt;) {
		struct pollfd fd = {.fd = p->left[i], .events = POLLIN};

		if (poll(&fd, 1, 0) == 1) {
			close(p->left[i]);
			p->left[i] = p->left[--p->left_cnt];
		} else {
			i++;
		}
	}
}

static void give_up(struct readers *p, struct worker *w)
{
	struct reading_request *r = w->serves;
	int left = -1;

	for (size_t i = 0; i < 2; i++)
		avoid(p, r->about[i]);
	p->given_up++;
	remove_worker(p, w, &left);
	if (left >= 0)
		p->left[p->left_cnt++] = left;
	refuse(p, r, -ETIMEDOUT);
}

/* The reader exited by itself: its parser crashed on the data. */
static void died(struct readers *p, struct worker *w)
{
	struct reading_request *r = w->serves;

	for (size_t i = 0; r && i < 2; i++)
		avoid(p, r->about[i]);
	remove_worker(p, w, NULL);
	if (r)
		refuse(p, r, -EIO);
}

static bool too_slow(const struct worker *w, uint64_t now)
{
	return now - w->reader.since_ns > TOO_SLOW_MS * MSEC;
}

static struct worker *idle_worker(struct readers *p)
{
	uint64_t now = clock_now_ns();
	struct worker *w;

	for (unsigned i = 0; i < p->worker_cnt; i++)
		if (!p->worker[i].serves)
			return &p->worker[i];
	for (unsigned i = 0; i < p->worker_cnt; i++)
		if (!too_slow(&p->worker[i], now))
			return NULL; /* it will be free soon */
	reap(p);
	if (p->worker_cnt == WORKERS_MAX || p->left_cnt + p->worker_cnt >= LEFT_MAX)
		return NULL;
	w = &p->worker[p->worker_cnt];
	*w = (struct worker){0};
	if (reader_start(&w->reader, p->nursery))
		return NULL;
	p->worker_cnt++;
	return w;
}

static void refuse_all(struct readers *p, int err)
{
	struct reading_request *r;

	while ((r = p->queue)) {
		p->queue = r->next;
		refuse(p, r, err);
	}
	p->queue_tail = &p->queue;
}

/* Assigns queued requests to idle readers. */
static void dispatch(struct readers *p)
{
	if (p->stopped)
		refuse_all(p, -ECANCELED);
	while (p->queue) {
		struct reading_request *r = p->queue;
		struct worker *w = idle_worker(p);

		/* There is no reader, and none can be started. */
		if (!w && p->worker_cnt)
			return;
		p->queue = r->next;
		if (!p->queue)
			p->queue_tail = &p->queue;
		if (!w || is_avoided(p, r->about[0]) || is_avoided(p, r->about[1])) {
			refuse(p, r, w ? -ETIMEDOUT : -EAGAIN);
			continue;
		}
		w->serves = r;
		w->looked_ns = clock_now_ns();
		w->use = (struct reader_use){0};
		r->state = REQUEST_SENT;
		set_raised(w, p->mood == READERS_RECORDING);
		if (reader_send(&w->reader, &r->m))
			died(p, w);
	}
}

static void take_answer(struct readers *p, struct worker *w)
{
	struct reading_request *r = w->serves;
	struct parcel answer;
	int err = parcel_receive(&answer, w->reader.socket, MSG_DONTWAIT);

	if (err == -EAGAIN)
		return;
	if (err || !r || answer.kind != r->m.kind) {
		if (!err)
			parcel_fini(&answer);
		died(p, w);
		return;
	}
	parcel_fini(&r->m);
	r->m = answer;
	w->serves = NULL;
	answered(p, r);
}

/* Checks whether a reader is stuck. Returns true if it was abandoned. */
static bool look(struct readers *p, struct worker *w, uint64_t now)
{
	if (now - w->looked_ns < LOOK_NS)
		return false;
	w->looked_ns = now;
	set_raised(w, false);
	w->use = reader_use(&w->reader);
	if (w->use.blocked_ns < BLOCKED_NS && w->use.cpu_ns < CPU_NS)
		return false;
	give_up(p, w);
	return true;
}

/* One round of receiving answers and checking readers. */
static void pump(struct readers *p, int timeout_ms)
{
	struct pollfd fd[WORKERS_MAX];
	unsigned cnt = p->worker_cnt;
	uint64_t now;

	for (unsigned i = 0; i < cnt; i++)
		fd[i] = (struct pollfd){.fd = p->worker[i].reader.socket, .events = POLLIN};
	if (poll(fd, cnt, timeout_ms) < 0)
		return; /* a signal: the waiting caller handles it */
	now = clock_now_ns();
	/* Backwards, because a removed reader is replaced by the last. */
	while (cnt--) {
		struct worker *w = &p->worker[cnt];

		if (fd[cnt].revents)
			take_answer(p, w);
		else if (w->serves)
			look(p, w, now);
	}
	dispatch(p);
}

/* ---- requests ---- */

struct reading_request *readers__ask(struct readers *p, struct parcel *m, uint32_t pid,
				     uint64_t device)
{
	struct reading_request *r = m->bad ? NULL : calloc(1, sizeof(*r));

	if (!r) {
		parcel_fini(m);
		return NULL;
	}
	r->m = *m;
	/* The two never have equal values. */
	r->about[0] = pid;
	r->about[1] = device ? device | 1ULL << 63 : 0;
	*p->queue_tail = r;
	p->queue_tail = &r->next;
	dispatch(p);
	return r;
}

/* Returns the wait time currently allowed. */
static uint64_t credit(struct readers *p, uint64_t now)
{
	const struct patience *is = &patience[p->mood];
	uint64_t back = (now - p->credited_ns) / 1000 * is->back_ns / MSEC;

	p->left_ns = p->left_ns + back < is->all_ns ? p->left_ns + back : is->all_ns;
	p->credited_ns = now;
	if (p->left_ns < is->least_ns)
		return is->least_ns;
	return p->left_ns < is->once_ns ? p->left_ns : is->once_ns;
}

bool readers__await(struct readers *p, struct reading_request *r)
{
	uint64_t from = clock_now_ns(), now = from, end;

	if (r->state == REQUEST_DONE)
		return true;
	end = from + credit(p, from);
	do {
		pump(p, now < end ? POLL_MS : 0);
		now = clock_now_ns();
	} while (r->state != REQUEST_DONE && now < end);
	p->left_ns -= now - from < p->left_ns ? now - from : p->left_ns;
	return r->state == REQUEST_DONE;
}

void readers__deliver(struct readers *p)
{
	struct reading_request *r;

	if (p->worker_cnt || p->queue)
		pump(p, 0);
	while ((r = p->late)) {
		p->late = r->next;
		if (!p->late)
			p->late_tail = &p->late;
		r->late(r->ctx, r);
		readers__done(r);
	}
}

void readers__stop(struct readers *p)
{
	if (!p)
		return;
	p->stopped = true;
	while (p->worker_cnt) {
		struct worker *w = &p->worker[p->worker_cnt - 1];

		if (w->serves)
			give_up(p, w);
		else
			remove_worker(p, w, NULL);
	}
	refuse_all(p, -ETIMEDOUT);
	readers__deliver(p);
}

/* Returns true if nothing is in flight except in blocked readers. */
static bool is_settled(const struct readers *p)
{
	if (p->queue)
		return false;
	for (unsigned i = 0; i < p->worker_cnt; i++)
		if (p->worker[i].serves && p->worker[i].use.blocked_ns < SLUGGISH_NS)
			return false;
	return true;
}

void readers__settle(struct readers *p, void (*between)(void *ctx), void *ctx)
{
	uint64_t end = clock_now_ns() + SETTLE_NS;

	do {
		readers__deliver(p);
		between(ctx);
	} while (!is_settled(p) && clock_now_ns() < end && !poll(NULL, 0, POLL_MS));
}
