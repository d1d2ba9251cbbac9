/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads. The extractor reads and compresses under SCHED_IDLE; the committer, at normal
 * priority, adds what is finished to the archive and writes the records. Were the extractor to do
 * that as well, it could be preempted for seconds on a busy host while it holds the writer's lock,
 * and the session's thread would wait for it. For the same reason the session hands its wishes over
 * through a lock-free list. At the end the committer extracts too, and the extractor is raised or,
 * where that is not permitted, hands its job over.
 */
#include "debuginfo.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../format/text.h"
#include "debuginfo_exclude.h"
#include "debuginfo_extract.h"

/* What the session asked for; on its way to the threads. */
struct want {
	struct want *next;
	uint32_t binary;
	int fd, root_fd;
	char *path, *id;
};

/* Everything of one id: QUEUED -> BUSY -> READY (extracted) -> DONE (in the archive). */
struct item {
	struct item *next; /* in `queued` or `ready` */
	char *id, *path;
	int fd, root_fd;
	uint64_t file_sz;
	bool done, on_ready, alternate;
	uint32_t *binaries; /* those of this id */
	size_t cnt, reported;
	struct slim_member m;
	char member[128]; /* name in the archive; empty: none */
};

struct debuginfo {
	struct debuginfo_opts opts;
	struct exclude_list *exclude;
	int cache_fd;
	_Atomic(struct want *) incoming;
	atomic_uint pending;
	sem_t extractor_work, committer_work;
	atomic_bool hurry, stop, cancel_extractor, cancel_all;
	pthread_t extractor, committer;
	bool started;
	pid_t extractor_tid;

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t idle;  /* pending became 0 */
	void *items;	      /* tsearch by id */
	struct item *queued, *ready;
	uint64_t dwarf_total;
	int write_err;
};

/* ---- records */

static void put_record(struct debuginfo *d, uint32_t binary, const char *member,
		       const char *symbols, const char *why)
{
	struct rec_debuginfo rec = {.binary = binary,
				    .member = span_of(member),
				    .symbols = span_of(symbols),
				    .why = span_of(why)};
	int err = obz_writer__put(d->opts.writer, REC_debuginfo, &rec);

	if (err) {
		pthread_mutex_lock(&d->lock);
		d->write_err = d->write_err ? d->write_err : err;
		pthread_mutex_unlock(&d->lock);
	}
}

static void no_longer_pending(struct debuginfo *d)
{
	if (atomic_fetch_sub(&d->pending, 1) != 1)
		return;
	pthread_mutex_lock(&d->lock);
	pthread_cond_broadcast(&d->idle);
	pthread_mutex_unlock(&d->lock);
}

/* ---- items; the lock is held */

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->id, ((const struct item *)b)->id);
}

static void close_files(struct item *it)
{
	if (it->fd >= 0)
		close(it->fd);
	if (it->root_fd >= 0)
		close(it->root_fd);
	it->fd = it->root_fd = -1;
}

static void item_free(void *p)
{
	struct item *it = p;

	close_files(it);
	if (it->m.fd >= 0)
		close(it->m.fd);
	free(it->binaries);
	free(it->id);
	free(it->path);
	free(it);
}

/* Takes fd, root_fd, path and id; NULL without memory. */
static struct item *item_add(struct debuginfo *d, char *id, char *path, int fd, int root_fd)
{
	struct item *it = calloc(1, sizeof(*it));
	struct stat st;

	if (!it)
		return NULL;
	*it = (struct item){.id = id, .path = path, .fd = fd, .root_fd = root_fd, .m = {.fd = -1}};
	if (!tsearch(it, &d->items, by_id)) {
		free(it);
		return NULL;
	}
	it->file_sz = fd >= 0 && !fstat(fd, &st) ? st.st_size : 0;
	it->next = d->queued;
	d->queued = it;
	return it;
}

static struct item *item_of(const struct debuginfo *d, const char *id)
{
	struct item key = {.id = (char *)id}, **found = tfind(&key, &d->items, by_id);

	return found ? *found : NULL;
}

static void make_ready(struct debuginfo *d, struct item *it)
{
	if (it->on_ready)
		return;
	it->on_ready = true;
	it->next = d->ready;
	d->ready = it;
	sem_post(&d->committer_work);
}

static bool add_binary(struct item *it, uint32_t binary)
{
	uint32_t *b = reallocarray(it->binaries, it->cnt + 1, sizeof(*b));

	if (!b)
		return false;
	it->binaries = b;
	b[it->cnt++] = binary;
	return true;
}

static void want_free(struct want *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->root_fd >= 0)
		close(w->root_fd);
	free(w->path);
	free(w->id);
	free(w);
}

/* A wish becomes an item, or joins the one of its id. False: no memory; it is still the caller's.
 */
static bool take_in(struct debuginfo *d, struct want *w)
{
	struct item *it = item_of(d, w->id);

	if (!it) {
		it = item_add(d, w->id, w->path, w->fd, w->root_fd);
		if (!it)
			return false;
		w->id = w->path = NULL;
		w->fd = w->root_fd = -1;
	}
	if (!add_binary(it, w->binary))
		return false;
	if (it->done)
		make_ready(d, it);
	want_free(w);
	return true;
}

static void take_all_in(struct debuginfo *d)
{
	struct want *w = atomic_exchange(&d->incoming, NULL), *next;

	for (; w; w = next) {
		uint32_t binary = w->binary;

		next = w->next;
		if (take_in(d, w))
			continue;
		want_free(w);
		pthread_mutex_unlock(&d->lock);
		put_record(d, binary, "", "none", "out of memory");
		no_longer_pending(d);
		pthread_mutex_lock(&d->lock);
	}
}

/* The smallest file first: a kill then loses the fewest binaries. */
static struct item *next_queued(struct debuginfo *d)
{
	struct item **best = &d->queued, *it;

	take_all_in(d);
	best = &d->queued;
	for (struct item **at = &d->queued; *at; at = &(*at)->next)
		if ((*at)->file_sz < (*best)->file_sz)
			best = at;
	it = *best;
	if (it)
		*best = it->next;
	return it;
}

/* ---- extracting; the lock is not held */

static uint64_t dwarf_left(struct debuginfo *d)
{
	uint64_t left;

	pthread_mutex_lock(&d->lock);
	left = d->dwarf_total < DEBUGINFO_AUTO_CAPTURE_MAX
		       ? DEBUGINFO_AUTO_CAPTURE_MAX - d->dwarf_total
		       : 0;
	pthread_mutex_unlock(&d->lock);
	return left < DEBUGINFO_AUTO_BINARY_MAX ? left : DEBUGINFO_AUTO_BINARY_MAX;
}

/* The alternate file is an item of its own, once; the lock is held. */
static void queue_alt(struct debuginfo *d, const struct item *it, struct extract_alt *alt)
{
	struct item *other = NULL;
	char *id, *path;
	int root_fd;

	if (!alt->id[0] || item_of(d, alt->id)) {
		if (alt->fd >= 0)
			close(alt->fd);
		return;
	}
	id = strdup(alt->id);
	path = strdup(it->path);
	root_fd = it->root_fd >= 0 ? fcntl(it->root_fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (id && path)
		other = item_add(d, id, path, alt->fd, root_fd);
	if (other) {
		other->alternate = true;
		atomic_fetch_add(&d->pending, 1);
		sem_post(&d->extractor_work);
		return;
	}
	free(id);
	free(path);
	if (alt->fd >= 0)
		close(alt->fd);
	if (root_fd >= 0)
		close(root_fd);
}

static void extract(struct debuginfo *d, struct item *it, const atomic_bool *cancel)
{
	struct extract_job job = {.id = it->id,
				  .path = it->path,
				  .fd = it->fd,
				  .root_fd = it->root_fd,
				  .mode = d->opts.mode,
				  .dwarf_max = dwarf_left(d),
				  .cache_fd = d->cache_fd,
				  .cancel = cancel};
	struct extract_alt alt;
	int err = debuginfo_extract(&job, &it->m, &alt);

	pthread_mutex_lock(&d->lock);
	if (err) {
		it->next = d->queued;
		d->queued = it;
		sem_post(&d->committer_work);
	} else {
		d->dwarf_total +=
			it->m.symbols[0] == 'd' && it->m.symbols[1] == 'w' ? it->m.raw_sz : 0;
		queue_alt(d, it, &alt);
		close_files(it);
		make_ready(d, it);
	}
	pthread_mutex_unlock(&d->lock);
}

static bool extract_next(struct debuginfo *d, const atomic_bool *cancel)
{
	struct item *it = NULL;

	if (atomic_load(cancel))
		return false;
	pthread_mutex_lock(&d->lock);
	it = next_queued(d);
	pthread_mutex_unlock(&d->lock);
	if (it)
		extract(d, it, cancel);
	return it != NULL;
}

#define IOPRIO_IDLE (3 << 13)
static int set_idle(pid_t tid, bool idle)
{
	struct sched_param param = {0};

	syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, tid, idle ? IOPRIO_IDLE : 0);
	return sched_setscheduler(tid, idle ? SCHED_IDLE : SCHED_OTHER, &param);
}

static void wait_sem(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void *extractor_main(void *arg)
{
	struct debuginfo *d = arg;

	d->extractor_tid = gettid();
	sem_post(&d->committer_work); /* debuginfo__new waits for it */
	set_idle(0, true);
	while (!atomic_load(&d->stop)) {
		wait_sem(&d->extractor_work);
		while (extract_next(d, &d->cancel_extractor))
			;
	}
	return NULL;
}

/* ---- committing */

static void add_member(struct debuginfo *d, struct item *it)
{
	int err;

	if (it->m.fd < 0)
		return;
	strcpy(it->member, ".build-id/");
	debuginfo_member_name(it->member + 10, sizeof(it->member) - 10, it->id);
	err = obz_writer__add_compressed(d->opts.writer, it->member, it->m.fd, it->m.sz);
	close(it->m.fd);
	it->m.fd = -1;
	if (!err)
		return;
	it->member[0] = 0;
	it->m.symbols = "none";
	snprintf(it->m.why, sizeof(it->m.why), "not written: %s", strerror(-err));
	pthread_mutex_lock(&d->lock);
	d->write_err = d->write_err ? d->write_err : err;
	pthread_mutex_unlock(&d->lock);
}

static void commit(struct debuginfo *d, struct item *it)
{
	bool first = !it->done;

	if (first)
		add_member(d, it);
	pthread_mutex_lock(&d->lock);
	it->done = true;
	while (it->reported < it->cnt) {
		uint32_t binary = it->binaries[it->reported++];

		pthread_mutex_unlock(&d->lock);
		put_record(d, binary, it->member, it->m.symbols, it->m.why);
		no_longer_pending(d);
		pthread_mutex_lock(&d->lock);
	}
	pthread_mutex_unlock(&d->lock);
	if (first && it->alternate)
		no_longer_pending(d);
}

static bool commit_next(struct debuginfo *d)
{
	struct item *it;

	pthread_mutex_lock(&d->lock);
	it = d->ready;
	if (it) {
		d->ready = it->next;
		it->on_ready = false;
	}
	pthread_mutex_unlock(&d->lock);
	if (it)
		commit(d, it);
	return it != NULL;
}

static void *committer_main(void *arg)
{
	struct debuginfo *d = arg;

	while (!atomic_load(&d->stop)) {
		wait_sem(&d->committer_work);
		while (commit_next(d) ||
		       (atomic_load(&d->hurry) && extract_next(d, &d->cancel_all)))
			;
	}
	return NULL;
}

/* ---- a life */

static int start_threads(struct debuginfo *d)
{
	sigset_t all, old;
	int err;

	sigfillset(&all); /* signals are the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&d->extractor, NULL, extractor_main, d);
	if (!err) {
		wait_sem(&d->committer_work);
		err = pthread_create(&d->committer, NULL, committer_main, d);
		if (err) {
			atomic_store(&d->stop, true);
			sem_post(&d->extractor_work);
			pthread_join(d->extractor, NULL);
		}
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	d->started = !err;
	return -err;
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
	d->cache_fd = -1;
	sem_init(&d->extractor_work, 0, 0);
	sem_init(&d->committer_work, 0, 0);
	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->idle, &attr);
	pthread_condattr_destroy(&attr);
	if (opts->exclude_file)
		err = exclude_list__load(&d->exclude, opts->exclude_file);
	if (!err && opts->cache_dir && opts->mode != DEBUGINFO_NONE) {
		d->cache_fd = debuginfo_cache_open(opts->cache_dir, &why);
		if (d->cache_fd < 0) {
			err = d->cache_fd;
			message_error("%s: cannot be the debuginfo cache: %s", opts->cache_dir,
				      why);
		}
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

static void push(struct debuginfo *d, struct want *w)
{
	w->next = atomic_load(&d->incoming);
	while (!atomic_compare_exchange_weak(&d->incoming, &w->next, w))
		;
	sem_post(&d->extractor_work);
}

int debuginfo__want(struct debuginfo *d, uint32_t binary, int fd, int root_fd, const char *path,
		    const char *id_hex)
{
	char name[128];
	struct want *w;
	const char *why = d->opts.mode == DEBUGINFO_NONE	  ? "not asked for"
			  : exclude_list__has(d->exclude, id_hex) ? "excluded"
			  : !debuginfo_member_name(name, sizeof(name), id_hex)
				  ? "not an id it could be kept by"
				  : NULL;

	if (why) {
		put_record(d, binary, "", "none", why);
		return 0;
	}
	w = calloc(1, sizeof(*w));
	if (w) {
		*w = (struct want){.binary = binary,
				   .path = strdup(path),
				   .id = strdup(id_hex),
				   .root_fd = -1};
		w->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (root_fd >= 0)
			w->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	}
	if (!w || !w->path || !w->id || w->fd < 0) {
		int err = w && w->fd < 0 ? -errno : -ENOMEM;

		put_record(d, binary, "", "none", strerror(-err));
		if (w)
			want_free(w);
		return err;
	}
	atomic_fetch_add(&d->pending, 1);
	push(d, w);
	return 0;
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
	if (set_idle(d->extractor_tid, false))
		atomic_store(&d->cancel_extractor, true);
	sem_post(&d->committer_work);
	sem_post(&d->extractor_work);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static unsigned wait_until(struct debuginfo *d, uint64_t deadline_ns)
{
	struct timespec ts = {deadline_ns / 1000000000, deadline_ns % 1000000000};
	int err = 0;

	begin_hurry(d);
	pthread_mutex_lock(&d->lock);
	while (!err && atomic_load(&d->pending))
		err = deadline_ns ? pthread_cond_timedwait(&d->idle, &d->lock, &ts)
				  : pthread_cond_wait(&d->idle, &d->lock);
	pthread_mutex_unlock(&d->lock);
	return atomic_load(&d->pending);
}

unsigned debuginfo__wait(struct debuginfo *d, unsigned timeout_ms)
{
	return wait_until(d, now_ns() + timeout_ms * 1000000ULL);
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
	for (;;) {
		if (commit_next(d))
			continue;
		pthread_mutex_lock(&d->lock);
		it = next_queued(d);
		pthread_mutex_unlock(&d->lock);
		if (!it)
			break;
		it->m = (struct slim_member){.fd = -1, .symbols = "none"};
		strcpy(it->m.why, "cut short by the end of the capture");
		commit(d, it);
	}
	return d->write_err;
}

void debuginfo__free(struct debuginfo *d)
{
	struct want *w, *next;

	if (!d)
		return;
	stop_threads(d);
	for (w = atomic_exchange(&d->incoming, NULL); w; w = next) {
		next = w->next;
		want_free(w);
	}
	tdestroy(d->items, item_free);
	exclude_list__free(d->exclude);
	if (d->cache_fd >= 0)
		close(d->cache_fd);
	sem_destroy(&d->extractor_work);
	sem_destroy(&d->committer_work);
	pthread_cond_destroy(&d->idle);
	pthread_mutex_destroy(&d->lock);
	free(d);
}
