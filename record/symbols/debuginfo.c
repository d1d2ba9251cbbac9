/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads. The extractor reads and compresses under SCHED_IDLE; the committer, at normal
 * priority, adds what is finished to the archive and writes the records. Were the extractor to do
 * that as well, it could be preempted for seconds on a busy host while it holds the writer's lock,
 * and the session's thread would wait for it. For the same reason the session hands its wishes over
 * through a lock-free list, to the committer. At the end the committer extracts too, and the
 * extractor is raised or, where that is not permitted, hands its job over.
 */
#include "record/symbols/debuginfo.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/symbols/debuginfo_exclude.h"
#include "record/symbols/debuginfo_extract.h"
#include "record/symbols/debuginfo_queue.h"
#include "record/symbols/read_debuginfo.h"
#include "record/base/worker.h"

#define MEMBER_NAME_SZ 128

struct debuginfo {
	struct debuginfo_opts opts;
	struct exclude_list *exclude;
	struct debuginfo_cache cache;
	struct debug_queue queue;
	sem_t extractor_work, committer_work;
	atomic_bool hurry, stop, cancel_extractor, cancel_all;
	pthread_t extractor, committer;
	struct extractor background, helping; /* of the two threads */
	bool started;

	atomic_uint pending;	   /* records owed, and alternate files */
	pthread_mutex_t idle_lock; /* of `idle` alone */
	pthread_cond_t idle;	   /* pending became 0 */
	_Atomic uint64_t dwarf_total;
	atomic_int write_err;
};

/* ---- records */

static void note_error(struct debuginfo *d, int err)
{
	int none = 0;

	if (err)
		atomic_compare_exchange_strong(&d->write_err, &none, err);
}

static void put_record(struct debuginfo *d, uint32_t binary, const char *member,
		       const char *symbols, const char *why)
{
	struct rec_debuginfo rec = {.binary = binary,
				    .member = span_of(member),
				    .symbols = span_of(symbols),
				    .why = span_of(why)};

	note_error(d, obz_writer__put(d->opts.writer, REC_debuginfo, &rec));
}

static void no_longer_pending(struct debuginfo *d)
{
	if (atomic_fetch_sub(&d->pending, 1) != 1)
		return;
	pthread_mutex_lock(&d->idle_lock);
	pthread_cond_broadcast(&d->idle);
	pthread_mutex_unlock(&d->idle_lock);
}

/* ---- extracting */

static uint64_t dwarf_left(struct debuginfo *d)
{
	uint64_t total = atomic_load(&d->dwarf_total);
	uint64_t left = total < DEBUGINFO_AUTO_CAPTURE_MAX ? DEBUGINFO_AUTO_CAPTURE_MAX - total : 0;

	return left < DEBUGINFO_AUTO_BINARY_MAX ? left : DEBUGINFO_AUTO_BINARY_MAX;
}

static void extract(struct debuginfo *d, struct extractor *by, struct item *it,
		    const atomic_bool *cancel)
{
	struct item_work *w = it->work;
	struct extract_job job = {.id = it->id,
				  .path = w->path,
				  .fd = w->fd,
				  .root_fd = w->root_fd,
				  .mode = d->opts.mode,
				  .dwarf_max = dwarf_left(d),
				  .mem_max = d->opts.mem_max,
				  .cache = &d->cache,
				  .tag = w->tag,
				  .cancel = cancel};
	struct extract_alt alt;

	if (extractor__run(by, &job, &w->m, &alt)) {
		debug_queue__put_back(&d->queue, it);
		sem_post(&d->committer_work);
		return;
	}
	if (!strcmp(w->m.symbols, "dwarf"))
		atomic_fetch_add(&d->dwarf_total, w->m.raw_sz);
	atomic_fetch_add(&d->pending, 1); /* before another thread can be done with it */
	if (alt.id[0] &&
	    debug_queue__push_alternate(&d->queue, it, alt.id, alt.fd, alt.file_sz, alt.tag))
		sem_post(&d->extractor_work);
	else
		no_longer_pending(d);
	debug_queue__make_ready(&d->queue, it);
	sem_post(&d->committer_work);
}

static bool extract_next(struct debuginfo *d, struct extractor *by, const atomic_bool *cancel)
{
	struct item *it = atomic_load(cancel) ? NULL : debug_queue__next(&d->queue);

	if (it)
		extract(d, by, it, cancel);
	return it != NULL;
}

static void wait_sem(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void *extractor_main(void *arg)
{
	struct debuginfo *d = arg;

	while (!atomic_load(&d->stop)) {
		wait_sem(&d->extractor_work);
		while (extract_next(d, &d->background, &d->cancel_extractor))
			;
	}
	extractor__end(&d->background);
	return NULL;
}

/* ---- committing */

static void member_name(const struct item *it, char name[MEMBER_NAME_SZ])
{
	strcpy(name, ".build-id/");
	debuginfo_member_name(name + 10, MEMBER_NAME_SZ - 10, it->id);
}

/* True when it has one, which is in the archive now. */
static bool add_member(struct debuginfo *d, const struct item *it)
{
	struct slim_member *m = &it->work->m;
	char name[MEMBER_NAME_SZ];
	int err;

	if (m->fd < 0)
		return false;
	member_name(it, name);
	err = obz_writer__add_compressed(d->opts.writer, name, m->fd, m->sz);
	if (!err)
		return true;
	m->symbols = "none";
	snprintf(m->why, sizeof(m->why), "not written: %s", obz_strerror(err));
	note_error(d, err);
	return false;
}

static void commit(struct debuginfo *d, struct item *it)
{
	char name[MEMBER_NAME_SZ] = "";
	uint32_t binary;

	if (!it->done) {
		debug_queue__settle(it, add_member(d, it));
		if (it->alternate)
			no_longer_pending(d);
	}
	if (it->has_member)
		member_name(it, name);
	while (debug_queue__report(&d->queue, it, &binary)) {
		put_record(d, binary, name, it->symbols, it->why ? it->why : "");
		no_longer_pending(d);
	}
}

static bool commit_next(struct debuginfo *d)
{
	struct item *it = debug_queue__next_ready(&d->queue);

	if (it)
		commit(d, it);
	return it != NULL;
}

/* With a bound of memory one extracts at a time. */
static bool helps(const struct debuginfo *d)
{
	return atomic_load(&d->hurry) && (!d->opts.mem_max || atomic_load(&d->cancel_extractor));
}

static void *committer_main(void *arg)
{
	struct debuginfo *d = arg;

	while (!atomic_load(&d->stop)) {
		wait_sem(&d->committer_work);
		if (debug_queue__take_in(&d->queue))
			sem_post(&d->extractor_work);
		while (commit_next(d) || (helps(d) && extract_next(d, &d->helping, &d->cancel_all)))
			;
	}
	extractor__end(&d->helping);
	return NULL;
}

/* ---- a life */

static int start_threads(struct debuginfo *d)
{
	int err = worker_start(&d->extractor, extractor_main, d);

	if (!err) {
		err = worker_start(&d->committer, committer_main, d);
		if (err) {
			atomic_store(&d->stop, true);
			sem_post(&d->extractor_work);
			pthread_join(d->extractor, NULL);
		}
	}
	d->started = !err;
	return err;
}

int debuginfo__new(struct debuginfo **out, const struct debuginfo_opts *opts)
{
	struct debuginfo *d = calloc(1, sizeof(*d));
	pthread_condattr_t attr;
	const char *why;
	int err = 0;

	if (!d)
		return -ENOMEM;
	d->opts = *opts;
	d->cache.fd = -1;
	d->background = (struct extractor){.nursery = opts->nursery, .idle = true};
	d->helping = (struct extractor){.nursery = opts->nursery};
	sem_init(&d->extractor_work, 0, 0);
	sem_init(&d->committer_work, 0, 0);
	pthread_mutex_init(&d->idle_lock, NULL);
	debug_queue__init(&d->queue);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->idle, &attr);
	pthread_condattr_destroy(&attr);
	if (opts->exclude_file)
		err = exclude_list__load(&d->exclude, opts->exclude_file);
	if (!err && opts->cache_dir && opts->mode != DEBUGINFO_NONE) {
		err = debuginfo_cache_open(&d->cache, opts->cache_dir, &why);
		if (err)
			message_error("%s: cannot be the debuginfo cache: %s", opts->cache_dir,
				      why);
	}
	if (!err && opts->mode != DEBUGINFO_NONE)
		err = start_threads(d);
	if (err) {
		debuginfo__free(d);
		return err;
	}
	*out = d;
	return 0;
}

int debuginfo__want(struct debuginfo *d, uint32_t binary, int fd, uint64_t file_sz, int root_fd,
		    const char *path, const char *id_hex)
{
	char name[MEMBER_NAME_SZ];
	const char *why = NULL;
	int err = 0;

	if (d->opts.mode == DEBUGINFO_NONE)
		why = "not asked for";
	else if (exclude_list__has(d->exclude, id_hex))
		why = "excluded";
	else if (!debuginfo_member_name(name, sizeof(name), id_hex))
		why = "no build-id to keep it by";
	if (!why) {
		atomic_fetch_add(&d->pending, 1);
		err = debug_queue__push(&d->queue, binary, fd, file_sz, root_fd, path, id_hex);
		if (!err) {
			sem_post(&d->committer_work);
			return 0;
		}
		no_longer_pending(d);
		why = strerror(-err);
	}
	put_record(d, binary, "", "none", why);
	return err;
}

unsigned debuginfo__pending(const struct debuginfo *d)
{
	return atomic_load(&d->pending);
}

static void begin_hurry(struct debuginfo *d)
{
	if (!d->started || atomic_exchange(&d->hurry, true))
		return;
	/* Leaving SCHED_IDLE takes CAP_SYS_NICE or RLIMIT_NICE; without, the committer gets the
	 * job. */
	if (!extractor__set_idle(&d->background, false))
		atomic_store(&d->cancel_extractor, true);
	sem_post(&d->committer_work);
	sem_post(&d->extractor_work);
}

static unsigned wait_until(struct debuginfo *d, uint64_t deadline_ns)
{
	struct timespec ts = {deadline_ns / 1000000000, deadline_ns % 1000000000};
	int err = 0;

	begin_hurry(d);
	pthread_mutex_lock(&d->idle_lock);
	while (!err && atomic_load(&d->pending))
		err = deadline_ns ? pthread_cond_timedwait(&d->idle, &d->idle_lock, &ts)
				  : pthread_cond_wait(&d->idle, &d->idle_lock);
	pthread_mutex_unlock(&d->idle_lock);
	return atomic_load(&d->pending);
}

unsigned debuginfo__wait(struct debuginfo *d, unsigned timeout_ms)
{
	return wait_until(d, clock_now_ns() + timeout_ms * 1000000ULL);
}

static void stop_threads(struct debuginfo *d)
{
	if (!d->started)
		return;
	atomic_store(&d->stop, true);
	atomic_store(&d->cancel_extractor, true);
	atomic_store(&d->cancel_all, true);
	sem_post(&d->extractor_work);
	sem_post(&d->committer_work);
	pthread_join(d->extractor, NULL);
	pthread_join(d->committer, NULL);
	d->started = false;
}

int debuginfo__finish(struct debuginfo *d, uint64_t deadline_ns)
{
	struct item *it;

	if (d->started)
		wait_until(d, deadline_ns);
	stop_threads(d);
	debug_queue__take_in(&d->queue);
	while ((it = debug_queue__next(&d->queue))) {
		it->work->m = (struct slim_member){.fd = -1, .symbols = "none"};
		strcpy(it->work->m.why, "cut short by the end of the capture");
		debug_queue__make_ready(&d->queue, it);
	}
	while (commit_next(d))
		;
	return atomic_load(&d->write_err);
}

unsigned debuginfo__timed_out(const struct debuginfo *d)
{
	return d->background.timed_out + d->helping.timed_out;
}

void debuginfo__free(struct debuginfo *d)
{
	if (!d)
		return;
	stop_threads(d);
	debug_queue__fini(&d->queue);
	exclude_list__free(d->exclude);
	debuginfo_cache_close(&d->cache);
	sem_destroy(&d->extractor_work);
	sem_destroy(&d->committer_work);
	pthread_cond_destroy(&d->idle);
	pthread_mutex_destroy(&d->idle_lock);
	free(d);
}
