/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/debuginfo_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/symbols/item_hits.h"

/* A binary that waits for its record. It has its own item until it is known whether its id already
 * has one. */
struct want {
	struct want *next;
	uint32_t binary;
	bool again; /* a record was already written */
	struct item *fresh;
};

void debug_queue__init(struct debug_queue *q)
{
	*q = (struct debug_queue){0};
	pthread_mutex_init(&q->lock, NULL);
}

int debug_queue__with_hits(struct debug_queue *q)
{
	q->by_binary = calloc(1 << 16, sizeof(struct item *));
	return q->by_binary ? 0 : -ENOMEM;
}

/* ---- items */

static void close_files(struct item_work *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->root_fd >= 0)
		close(w->root_fd);
	w->fd = w->root_fd = -1;
}

static void work_free(struct item_work *w)
{
	if (!w)
		return;
	close_files(w);
	item_hits_free(w->hits);
	if (w->m.fd >= 0)
		close(w->m.fd);
	free(w->path);
	free(w);
}

static void free_wants(struct want *w);

static void item_free(struct item *it)
{
	work_free(it->work);
	free_wants(it->wants);
	free_wants(it->told);
	free(it->id);
	free(it->why);
	free(it);
}

static void free_wants(struct want *w)
{
	struct want *next;

	for (; w; w = next) {
		next = w->next;
		if (w->fresh)
			item_free(w->fresh);
		free(w);
	}
}

/* Always takes ownership of fd. */
static struct item_work *work_new(const char *path, int fd, uint64_t file_sz, int root_fd, int *err)
{
	struct item_work *w = calloc(1, sizeof(*w));

	*err = -ENOMEM;
	if (!w) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	*w = (struct item_work){.path = strdup(path), .fd = fd, .root_fd = -1, .m = {.fd = -1}};
	w->file_sz = fd >= 0 ? file_sz : 0;
	if (w->path) {
		if (root_fd < 0)
			return w;
		w->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
		if (w->root_fd >= 0)
			return w;
		*err = -errno;
	}
	work_free(w);
	return NULL;
}

/* Always takes ownership of fd. */
static struct item *item_new(const char *id, const char *path, int fd, uint64_t file_sz,
			     int root_fd, int *err)
{
	struct item_work *w = work_new(path, fd, file_sz, root_fd, err);
	struct item *it = w ? calloc(1, sizeof(*it)) : NULL;

	if (it && (it->id = strdup(id))) {
		it->work = w;
		return it;
	}
	free(it);
	work_free(w);
	return NULL;
}

/* FNV-1a; ids are build-ids, so any hash distributes well. */
static struct item **bucket_of(struct debug_queue *q, const char *id)
{
	uint32_t h = 2166136261u;

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * 16777619u;
	return &q->buckets[h % QUEUE_BUCKETS];
}

static struct item *item_of(struct debug_queue *q, const char *id)
{
	struct item *it = *bucket_of(q, id);

	while (it && strcmp(it->id, id))
		it = it->hash_next;
	return it;
}

static void hash_item(struct debug_queue *q, struct item *it)
{
	struct item **bucket = bucket_of(q, it->id);

	it->hash_next = *bucket;
	*bucket = it;
}

static void add_item(struct debug_queue *q, struct item *it)
{
	hash_item(q, it);
	it->next = q->queued[it->stage];
	q->queued[it->stage] = it;
}

static void add_ready(struct debug_queue *q, struct item *it)
{
	if (it->on_ready)
		return;
	it->on_ready = true;
	it->ready_next = q->ready;
	q->ready = it;
}

/* ---- input */

int debug_queue__push(struct debug_queue *q, uint32_t binary, int fd, uint64_t file_sz, int root_fd,
		      const char *path, const char *id)
{
	struct want *w = calloc(1, sizeof(*w));
	int err = -ENOMEM, own;

	if (!w)
		return err;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		err = -errno;
	else
		w->fresh = item_new(id, path, own, file_sz, root_fd, &err);
	if (!w->fresh) {
		free(w);
		return err;
	}
	w->binary = binary;
	w->next = atomic_load(&q->incoming);
	while (!atomic_compare_exchange_weak(&q->incoming, &w->next, w))
		;
	return 0;
}

int debug_queue__push_alternate(struct debug_queue *q, const struct item *of, const char *id,
				int fd, uint64_t file_sz, uint64_t tag)
{
	int err;
	struct item *it = item_new(id, of->work->path, fd, file_sz, of->work->root_fd, &err);

	if (!it)
		return 0;
	it->alternate = true;
	it->stage = ITEM_DWARF;
	it->work->tag = tag;
	pthread_mutex_lock(&q->lock);
	if (item_of(q, id)) {
		item_free(it);
		it = NULL;
	} else {
		add_item(q, it);
	}
	pthread_mutex_unlock(&q->lock);
	return it != NULL;
}

/* The archive already has a member of that name, for another binary. */
static void refuse(struct debug_queue *q, struct item *it)
{
	it->work->m = (struct slim_member){.fd = -1, .symbols = "none", .failed = true};
	it->work->fresh = true;
	strcpy(it->work->m.why, "its build-id is that of a dwz alternate file");
	hash_item(q, it);
	add_ready(q, it);
}

/* Turns each request into an item, or adds it to the item with the same id. */
bool debug_queue__take_in(struct debug_queue *q)
{
	struct want *w = atomic_exchange(&q->incoming, NULL), *next;
	bool more = false;

	pthread_mutex_lock(&q->lock);
	for (; w; w = next) {
		struct item *it = item_of(q, w->fresh->id);

		next = w->next;
		if (it && !it->alternate) {
			item_free(w->fresh);
		} else if (it) {
			it = w->fresh;
			refuse(q, it);
		} else {
			it = w->fresh;
			if (q->by_binary)
				it->work->hits = item_hits_new();
			add_item(q, it);
			more = true;
		}
		if (q->by_binary)
			q->by_binary[w->binary & 0xffff] = it;
		w->fresh = NULL;
		w->next = it->wants;
		it->wants = w;
		if (it->done)
			add_ready(q, it);
	}
	pthread_mutex_unlock(&q->lock);
	return more;
}

/* ---- output */

struct item *debug_queue__next(struct debug_queue *q, enum item_stage stage)
{
	struct item **best, *it;

	pthread_mutex_lock(&q->lock);
	best = &q->queued[stage];
	for (struct item **at = best; *at; at = &(*at)->next)
		if ((*at)->work->file_sz < (*best)->work->file_sz)
			best = at;
	it = *best;
	if (it)
		*best = it->next;
	pthread_mutex_unlock(&q->lock);
	return it;
}

void debug_queue__put_back(struct debug_queue *q, struct item *it)
{
	pthread_mutex_lock(&q->lock);
	it->next = q->queued[it->stage];
	q->queued[it->stage] = it;
	pthread_mutex_unlock(&q->lock);
}

void debug_queue__make_ready(struct debug_queue *q, struct item *it)
{
	pthread_mutex_lock(&q->lock);
	it->work->fresh = true;
	add_ready(q, it);
	pthread_mutex_unlock(&q->lock);
}

struct item *debug_queue__next_ready(struct debug_queue *q, bool *fresh)
{
	struct item *it;

	pthread_mutex_lock(&q->lock);
	it = q->ready;
	if (it) {
		q->ready = it->ready_next;
		it->on_ready = false;
		*fresh = it->work && it->work->fresh;
		if (*fresh)
			it->work->fresh = false;
	}
	pthread_mutex_unlock(&q->lock);
	return it;
}

/* If DWARF extraction fails, the result of the symbol table stays, with the reason. */
static void take_over(struct item *it, const struct slim_member *m)
{
	if (!it->symbols || !strcmp(it->symbols, "none") || !strcmp(m->symbols, "dwarf"))
		it->symbols = m->symbols;
	if (!m->why[0] && it->done && strcmp(m->symbols, "dwarf"))
		return;
	free(it->why);
	it->why = m->why[0] ? strdup(m->why) : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

bool debug_queue__note(struct debug_queue *q, struct item *it)
{
	struct slim_member *m = &it->work->m;
	const char *symbols = it->symbols;
	char *why = it->why;
	bool changed;

	it->why = why ? strdup(why) : NULL;
	take_over(it, m);
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	changed = symbols != it->symbols || !same_text(why, it->why);
	free(why);
	pthread_mutex_lock(&q->lock);
	for (struct want *w; changed && (w = it->told);) {
		it->told = w->next;
		w->next = it->wants;
		it->wants = w;
	}
	pthread_mutex_unlock(&q->lock);
	return changed;
}

void debug_queue__settle(struct debug_queue *q, struct item *it)
{
	struct want *told;

	work_free(it->work);
	it->work = NULL;
	pthread_mutex_lock(&q->lock);
	told = it->told;
	it->told = NULL;
	pthread_mutex_unlock(&q->lock);
	free_wants(told);
}

bool debug_queue__report(struct debug_queue *q, struct item *it, uint32_t *binary, bool *again)
{
	struct want *w;

	pthread_mutex_lock(&q->lock);
	it->done = true;
	w = it->wants;
	if (w) {
		it->wants = w->next;
		*binary = w->binary;
		*again = w->again;
		w->again = true;
		w->next = it->work ? it->told : NULL;
		if (it->work)
			it->told = w;
	}
	pthread_mutex_unlock(&q->lock);
	if (w && !it->work)
		free_wants(w);
	return w != NULL;
}

void debug_queue__fini(struct debug_queue *q)
{
	struct item *next;

	free_wants(atomic_exchange(&q->incoming, NULL));
	for (size_t i = 0; i < QUEUE_BUCKETS; i++)
		for (struct item *it = q->buckets[i]; it; it = next) {
			next = it->hash_next;
			item_free(it);
		}
	free(q->by_binary);
	pthread_mutex_destroy(&q->lock);
}
