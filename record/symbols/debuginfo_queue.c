/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/debuginfo_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One binary that waits for its record, with an item of its own until it is known whether the id
 * has one. */
struct want {
	struct want *next;
	uint32_t binary;
	struct item *fresh;
};

void debug_queue__init(struct debug_queue *q)
{
	*q = (struct debug_queue){0};
	pthread_mutex_init(&q->lock, NULL);
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

/* Takes fd whatever comes. */
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

/* Takes fd whatever comes. */
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

/* FNV-1a; ids are build-ids, any hash spreads them. */
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
	it->next = q->queued;
	q->queued = it;
}

static void add_ready(struct debug_queue *q, struct item *it)
{
	if (it->on_ready)
		return;
	it->on_ready = true;
	it->next = q->ready;
	q->ready = it;
}

/* ---- coming in */

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

/* The member of that name is in the archive and is not this binary's. */
static void refuse(struct debug_queue *q, struct item *it)
{
	it->work->m = (struct slim_member){.fd = -1, .symbols = "none"};
	strcpy(it->work->m.why, "its build-id is that of a dwz alternate file");
	hash_item(q, it);
	add_ready(q, it);
}

/* Each wish becomes an item or joins the one of its id. */
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
			add_item(q, it);
			more = true;
		}
		w->fresh = NULL;
		w->next = it->wants;
		it->wants = w;
		if (it->done)
			add_ready(q, it);
	}
	pthread_mutex_unlock(&q->lock);
	return more;
}

/* ---- going out */

struct item *debug_queue__next(struct debug_queue *q)
{
	struct item **best, *it;

	pthread_mutex_lock(&q->lock);
	best = &q->queued;
	for (struct item **at = &q->queued; *at; at = &(*at)->next)
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
	it->next = q->queued;
	q->queued = it;
	pthread_mutex_unlock(&q->lock);
}

void debug_queue__make_ready(struct debug_queue *q, struct item *it)
{
	close_files(it->work);
	pthread_mutex_lock(&q->lock);
	add_ready(q, it);
	pthread_mutex_unlock(&q->lock);
}

struct item *debug_queue__next_ready(struct debug_queue *q)
{
	struct item *it;

	pthread_mutex_lock(&q->lock);
	it = q->ready;
	if (it) {
		q->ready = it->next;
		it->on_ready = false;
	}
	pthread_mutex_unlock(&q->lock);
	return it;
}

void debug_queue__settle(struct item *it, bool has_member)
{
	const struct slim_member *m = &it->work->m;

	it->symbols = m->symbols;
	it->why = m->why[0] ? strdup(m->why) : NULL;
	it->has_member = has_member;
	work_free(it->work);
	it->work = NULL;
}

bool debug_queue__report(struct debug_queue *q, struct item *it, uint32_t *binary)
{
	struct want *w;

	pthread_mutex_lock(&q->lock);
	it->done = true;
	w = it->wants;
	if (w) {
		it->wants = w->next;
		*binary = w->binary;
		w->next = NULL;
	}
	pthread_mutex_unlock(&q->lock);
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
	pthread_mutex_destroy(&q->lock);
}
