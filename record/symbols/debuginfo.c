/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads. The committer, at normal priority, extracts symbol tables as soon as a binary is hit
 * (milliseconds each), adds results to the archive and writes the records. The extractor reads and
 * compresses DWARF under SCHED_IDLE. The extractor must not write to the archive: on a busy host it
 * could be preempted for seconds while it holds the writer's lock, and the main thread would wait.
 * For the same reason the main thread passes requests to the committer, through a lock-free list.
 * At the end the committer also extracts. The extractor's priority is raised or, if that is not
 * permitted, its job is passed to the committer.
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
#include "record/symbols/hit_list.h"
#include "record/symbols/item_hits.h"
#include "record/symbols/read_debuginfo.h"
#include "record/host/worker.h"

#define MEMBER_NAME_SZ 128

/* Number of binaries whose files are kept open for addresses hit later. */
#define OPEN_MAX 100

struct debuginfo {
	struct debuginfo_opts opts;
	struct exclude_list *exclude;
	struct debuginfo_cache cache;
	struct debug_queue queue;
	struct hit_list hits;
	pthread_mutex_t hits_lock; /* for the hits of all items */
	unsigned owing;		   /* used by the committer: items with hits to extract */
	unsigned open;		   /* likewise: items that wait for hits */
	sem_t extractor_work, committer_work;
	atomic_bool hurry, stop, cancel_extractor, cancel_all;
	pthread_t extractor, committer;
	struct extractor background, helping; /* of the two threads */
	bool started;

	atomic_uint pending;	   /* records to write, and alternate files */
	pthread_mutex_t idle_lock; /* protects `idle` only */
	pthread_cond_t idle;	   /* pending became 0 */
	_Atomic uint64_t dwarf_total;
	_Atomic(const char *) *symbols; /* indexed by binary: symbols in its last record */
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

	atomic_store(&d->symbols[binary & 0xffff], symbols);
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

static bool wants_dwarf(const struct debuginfo *d)
{
	return d->opts.mode == DEBUGINFO_AUTO || d->opts.mode == DEBUGINFO_FULL;
}

/* A symbol table is not cached if DWARF follows: the cache has one member per id. */
static const struct debuginfo_cache *cache_for(const struct debuginfo *d, const struct item *it)
{
	static const struct debuginfo_cache none = {.fd = -1};

	return it->stage == ITEM_SYMBOLS && wants_dwarf(d) ? &none : &d->cache;
}

/* Drops a member without DWARF: the archive already has the symbol table. */
static void drop_lesser(const struct item *it, struct slim_member *m)
{
	if (it->stage != ITEM_DWARF || it->alternate || !it->members || m->fd < 0 ||
	    !strcmp(m->symbols, "dwarf"))
		return;
	close(m->fd);
	m->fd = -1;
}

/* Returns the addresses to extract DWARF for; owned by the caller. */
static uint64_t *take_hits(struct debuginfo *d, struct item *it, size_t *cnt)
{
	uint64_t *v = NULL;

	*cnt = 0;
	if (it->stage != ITEM_DWARF || !it->work->hits)
		return NULL;
	pthread_mutex_lock(&d->hits_lock);
	*cnt = item_hits_take(it->work->hits, &v);
	pthread_mutex_unlock(&d->hits_lock);
	return v;
}

static void give_back_hits(struct debuginfo *d, struct item *it, const uint64_t *v, size_t cnt)
{
	pthread_mutex_lock(&d->hits_lock);
	for (size_t i = 0; i < cnt; i++)
		item_hits_add(it->work->hits, v[i], clock_now_ns());
	pthread_mutex_unlock(&d->hits_lock);
}

static void note_covered(struct debuginfo *d, struct item *it, const struct extract_alt *alt)
{
	struct item_hits *h = it->work->hits;
	struct slim_member *m = &it->work->m;

	if (it->stage != ITEM_DWARF || !h) {
		free(alt->covered);
		free(alt->missing);
		return;
	}
	pthread_mutex_lock(&d->hits_lock);
	item_hits_done(h, alt->covered, alt->covered_cnt, clock_now_ns());
	item_hits_miss(h, alt->missing, alt->missing_cnt);
	if (h->missing_cnt && !m->why[0])
		snprintf(m->why, sizeof(m->why),
			 "%zu .dwo file%s not found (split DWARF): only functions and lines there",
			 h->missing_cnt, h->missing_cnt > 1 ? "s" : "");
	pthread_mutex_unlock(&d->hits_lock);
}

/* Nothing to extract: returns the item with its previous result. */
static void nothing_new(struct debuginfo *d, struct item *it)
{
	it->work->m = (struct slim_member){.fd = -1, .symbols = it->symbols};
	snprintf(it->work->m.why, sizeof(it->work->m.why), "%s", it->why ? it->why : "");
	debug_queue__make_ready(&d->queue, it);
	sem_post(&d->committer_work);
}

static void extract(struct debuginfo *d, struct extractor *by, struct item *it,
		    const atomic_bool *cancel)
{
	struct item_work *w = it->work;
	size_t addr_cnt;
	uint64_t *addrs = take_hits(d, it, &addr_cnt);
	struct extract_job job = {.id = it->id,
				  .path = w->path,
				  .fd = w->fd,
				  .root_fd = w->root_fd,
				  .mode = it->stage == ITEM_SYMBOLS ? DEBUGINFO_SYMTAB
								    : d->opts.mode,
				  .dwarf_max = dwarf_left(d),
				  .mem_max = d->opts.mem_max,
				  .cache = cache_for(d, it),
				  .tag = w->tag,
				  .addrs = addrs,
				  .addr_cnt = addr_cnt,
				  .cancel = cancel};
	struct extract_alt alt;
	int err;

	if (it->stage == ITEM_DWARF && w->hits && !addr_cnt) {
		free(addrs);
		nothing_new(d, it);
		return;
	}
	err = extractor__run(by, &job, &w->m, &alt);
	if (err && addr_cnt)
		give_back_hits(d, it, addrs, addr_cnt);
	free(addrs);
	if (err) {
		debug_queue__put_back(&d->queue, it);
		sem_post(&d->committer_work);
		return;
	}
	note_covered(d, it, &alt);
	drop_lesser(it, &w->m);
	if (!strcmp(w->m.symbols, "dwarf"))
		atomic_fetch_add(&d->dwarf_total, w->m.raw_sz);
	atomic_fetch_add(&d->pending, 1); /* before another thread can finish it */
	if (alt.id[0] &&
	    debug_queue__push_alternate(&d->queue, it, alt.id, alt.fd, alt.file_sz, alt.tag))
		sem_post(&d->extractor_work);
	else
		no_longer_pending(d);
	debug_queue__make_ready(&d->queue, it);
	sem_post(&d->committer_work);
}

static bool extract_next(struct debuginfo *d, struct extractor *by, enum item_stage stage,
			 const atomic_bool *cancel)
{
	struct item *it = atomic_load(cancel) ? NULL : debug_queue__next(&d->queue, stage);

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
		while (extract_next(d, &d->background, ITEM_DWARF, &d->cancel_extractor))
			;
	}
	extractor__end(&d->background);
	return NULL;
}

/* ---- committing */

/* number 0: the first member, whose name has no number. */
static void member_name(const struct item *it, unsigned number, char name[MEMBER_NAME_SZ])
{
	static const char end[] = ".debug.zst";
	size_t len;

	strcpy(name, ".build-id/");
	debuginfo_member_name(name + 10, MEMBER_NAME_SZ - 10, it->id);
	len = strlen(name) - strlen(end);
	if (number)
		snprintf(name + len, MEMBER_NAME_SZ - len, ".%u%s", number, end);
}

static void add_member(struct debuginfo *d, struct item *it)
{
	struct slim_member *m = &it->work->m;
	char name[MEMBER_NAME_SZ];
	int err;

	if (m->fd < 0)
		return;
	member_name(it, it->members, name);
	err = obz_writer__add_compressed(d->opts.writer, name, m->fd, m->sz);
	if (!err) {
		it->members++;
		return;
	}
	m->symbols = "none";
	snprintf(m->why, sizeof(m->why), "not written: %s", obz_strerror(err));
	note_error(d, err);
}

/* ---- hits: items of DEBUGINFO_AUTO wait until a batch is due */

static void queue_hits(struct debuginfo *d, struct item *it)
{
	it->work->hits->queued = true;
	debug_queue__put_back(&d->queue, it);
	sem_post(&d->extractor_work);
	sem_post(&d->committer_work);
}

static void owe(struct debuginfo *d, struct item *it, bool owes)
{
	if (it->owes == owes)
		return;
	it->owes = owes;
	d->owing += owes ? 1 : -1;
	if (owes)
		atomic_fetch_add(&d->pending, 1);
	else
		no_longer_pending(d);
}

static void consider(struct debuginfo *d, struct item *it)
{
	struct item_hits *h = it->work ? it->work->hits : NULL;
	bool any, due;

	if (!h || !h->ready || h->queued)
		return;
	pthread_mutex_lock(&d->hits_lock);
	any = h->cnt != 0;
	due = any && (atomic_load(&d->hurry) || clock_now_ns() >= h->due_ns);
	pthread_mutex_unlock(&d->hits_lock);
	if (due)
		queue_hits(d, it);
	else if (!any)
		owe(d, it, false);
}

static void take_in_hits(struct debuginfo *d, struct hit_batch *b)
{
	struct hit_batch *next;

	for (; b; b = next) {
		for (unsigned i = 0; i < b->cnt; i++) {
			const struct hit *h = &b->v[i];
			struct item *it = d->queue.by_binary[h->binary & 0xffff];
			bool added;

			if (!it || !it->work || !it->work->hits)
				continue;
			pthread_mutex_lock(&d->hits_lock);
			added = item_hits_add(it->work->hits, h->addr, clock_now_ns());
			pthread_mutex_unlock(&d->hits_lock);
			if (added)
				owe(d, it, true);
		}
		next = b->next;
		free(b);
		no_longer_pending(d);
	}
}

/* Checks all items with hits to extract; there are few. */
static void consider_all(struct debuginfo *d)
{
	for (unsigned i = 0; d->owing && i < 1u << 16; i++)
		if (d->queue.by_binary[i] && d->queue.by_binary[i]->owes)
			consider(d, d->queue.by_binary[i]);
}

/* Returns an item that no thread works on: one without pending hits if possible, and of these the
 * one used least recently. */
static struct item *longest_idle(struct debuginfo *d)
{
	struct item *found = NULL;

	pthread_mutex_lock(&d->hits_lock);
	for (unsigned i = 0; i < 1u << 16; i++) {
		struct item *it = d->queue.by_binary[i];
		struct item_hits *h = it && it->work ? it->work->hits : NULL;
		const struct item_hits *f = found ? found->work->hits : NULL;

		if (!h || !h->ready || h->queued || !h->due_ns || it->last)
			continue;
		if (!f || !h->cnt > !f->cnt || (!h->cnt == !f->cnt && h->due_ns < f->due_ns))
			found = it;
	}
	pthread_mutex_unlock(&d->hits_lock);
	return found;
}

/* Too many open files: extracts the hits of one binary so far and closes its file. */
static void close_one(struct debuginfo *d)
{
	struct item *it = longest_idle(d);

	if (!it)
		return;
	it->last = true;
	queue_hits(d, it);
}

static void explain_last(struct item *it)
{
	struct slim_member *m = &it->work->m;
	const char *symbols = m->fd >= 0 || !it->symbols ? m->symbols : it->symbols;

	if (it->last && !m->why[0] && symbols && !strcmp(symbols, "dwarf"))
		snprintf(m->why, sizeof(m->why),
			 "no DWARF of addresses hit later: more than %d binaries", OPEN_MAX);
}

/* Returns true if the item's DWARF is to be extracted next. */
static bool next_stage(struct debuginfo *d, struct item *it)
{
	bool more = it->stage == ITEM_SYMBOLS && wants_dwarf(d) && !it->work->m.failed;
	struct item_hits *h = it->work->hits;

	if (h && !it->work->m.failed && !it->last) {
		d->open += !h->ready;
		it->stage = ITEM_DWARF;
		h->ready = true;
		h->queued = false;
		return false; /* later, when it has hits */
	}
	if (h) {
		d->open -= h->ready;
		owe(d, it, false);
		debug_queue__settle(&d->queue, it);
		return false;
	}
	if (more) {
		atomic_fetch_add(&d->pending, 1);
		it->stage = ITEM_DWARF;
		return true;
	}
	if (it->stage == ITEM_DWARF)
		no_longer_pending(d);
	debug_queue__settle(&d->queue, it);
	return false;
}

static void commit(struct debuginfo *d, struct item *it, bool fresh)
{
	char name[MEMBER_NAME_SZ] = "";
	bool again, more = false;
	uint32_t binary;

	if (fresh) {
		explain_last(it);
		add_member(d, it);
		debug_queue__note(&d->queue, it);
		more = next_stage(d, it);
	}
	if (it->members)
		member_name(it, 0, name);
	while (debug_queue__report(&d->queue, it, &binary, &again)) {
		put_record(d, binary, name, it->symbols, it->why ? it->why : "");
		if (!again)
			no_longer_pending(d);
	}
	if (fresh && it->work)
		consider(d, it);
	if (fresh && d->open > OPEN_MAX)
		close_one(d);
	if (more) {
		debug_queue__put_back(&d->queue, it);
		sem_post(&d->extractor_work);
		sem_post(&d->committer_work);
	}
}

static bool commit_next(struct debuginfo *d)
{
	bool fresh = false;
	struct item *it = debug_queue__next_ready(&d->queue, &fresh);

	if (it)
		commit(d, it, fresh);
	return it != NULL;
}

static void wait_for_work(struct debuginfo *d)
{
	uint64_t at = clock_now_ns() + 250000000;
	struct timespec ts = {at / 1000000000, at % 1000000000};

	if (d->owing && !atomic_load(&d->hurry))
		sem_clockwait(&d->committer_work, CLOCK_MONOTONIC, &ts);
	else
		wait_sem(&d->committer_work);
}

/* A request pushed before a hit is accepted before it. */
static void take_in(struct debuginfo *d)
{
	struct hit_batch *hits = hit_list_take(&d->hits);

	debug_queue__take_in(&d->queue);
	take_in_hits(d, hits);
	consider_all(d);
}

/* With a memory limit only one thread extracts at a time. */
static bool helps(const struct debuginfo *d)
{
	return atomic_load(&d->hurry) && (!d->opts.mem_max || atomic_load(&d->cancel_extractor));
}

static void *committer_main(void *arg)
{
	struct debuginfo *d = arg;

	while (!atomic_load(&d->stop)) {
		wait_for_work(d);
		take_in(d);
		while (commit_next(d) ||
		       extract_next(d, &d->helping, ITEM_SYMBOLS, &d->cancel_all) ||
		       (helps(d) && extract_next(d, &d->helping, ITEM_DWARF, &d->cancel_all)))
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

	if (d)
		d->symbols = calloc(1 << 16, sizeof(*d->symbols));
	if (!d || !d->symbols) {
		free(d);
		return -ENOMEM;
	}
	d->opts = *opts;
	d->cache.fd = -1;
	d->background = (struct extractor){.nursery = opts->nursery, .idle = true};
	d->helping = (struct extractor){.nursery = opts->nursery};
	sem_init(&d->extractor_work, 0, 0);
	sem_init(&d->committer_work, 0, 0);
	pthread_mutex_init(&d->idle_lock, NULL);
	pthread_mutex_init(&d->hits_lock, NULL);
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
	if (!err && opts->mode == DEBUGINFO_AUTO)
		err = hit_list_init(&d->hits, opts->mem_max);
	if (!err && opts->mode == DEBUGINFO_AUTO)
		err = debug_queue__with_hits(&d->queue);
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
		if (d->opts.mode == DEBUGINFO_AUTO)
			hit_list_renew(&d->hits, binary);
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

static void hand_over(struct debuginfo *d)
{
	atomic_fetch_add(&d->pending, 1);
	if (hit_list_hand_over(&d->hits))
		sem_post(&d->committer_work);
	else
		no_longer_pending(d);
}

void debuginfo__hit(struct debuginfo *d, uint32_t binary, uint64_t addr)
{
	if (d->opts.mode == DEBUGINFO_AUTO && hit_list_add(&d->hits, binary, addr, clock_now_ns()))
		hand_over(d);
}

void debuginfo__tick(struct debuginfo *d, uint64_t now_ns)
{
	if (d->opts.mode == DEBUGINFO_AUTO && hit_list_due(&d->hits, now_ns))
		hand_over(d);
}

const char *debuginfo__symbols(const struct debuginfo *d, uint32_t binary)
{
	const char *symbols = atomic_load(&d->symbols[binary & 0xffff]);

	return d->opts.mode == DEBUGINFO_NONE ? NULL : symbols ? symbols : "none";
}

unsigned debuginfo__pending(const struct debuginfo *d)
{
	return atomic_load(&d->pending);
}

static void begin_hurry(struct debuginfo *d)
{
	if (!d->started || atomic_exchange(&d->hurry, true))
		return;
	if (d->opts.mode == DEBUGINFO_AUTO)
		hand_over(d);
	/* Leaving SCHED_IDLE requires CAP_SYS_NICE or RLIMIT_NICE; otherwise the committer takes
	 * the job. */
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

static void cut_short(struct debuginfo *d, struct item *it)
{
	struct slim_member *m = &it->work->m;

	*m = (struct slim_member){.fd = -1, .symbols = "none", .failed = true};
	strcpy(m->why, "cut short by the end of the capture");
	if (it->symbols && !strcmp(it->symbols, "dwarf"))
		strcpy(m->why, "DWARF of the last addresses cut short by the end of the capture");
	else if (it->members)
		snprintf(m->why, sizeof(m->why),
			 "DWARF cut short by the end of the capture; %s only", it->symbols);
	debug_queue__make_ready(&d->queue, it);
}

int debuginfo__finish(struct debuginfo *d, uint64_t deadline_ns)
{
	struct item *it;

	if (d->started)
		wait_until(d, deadline_ns);
	stop_threads(d);
	take_in(d);
	while (commit_next(d))
		;
	for (int stage = 0; stage < ITEM_STAGES; stage++)
		while ((it = debug_queue__next(&d->queue, stage)))
			cut_short(d, it);
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
	hit_list_fini(&d->hits);
	free(d->symbols);
	exclude_list__free(d->exclude);
	debuginfo_cache_close(&d->cache);
	sem_destroy(&d->extractor_work);
	sem_destroy(&d->committer_work);
	pthread_cond_destroy(&d->idle);
	pthread_mutex_destroy(&d->idle_lock);
	free(d);
}
