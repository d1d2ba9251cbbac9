/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/chunks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analyze/base/index.h"

enum { MAX_THREADS = 16 }; /* each holds a decoded chunk */

struct queue {
	struct chunk *v;
	size_t cnt, cap;
	size_t next; /* to be decoded */
	size_t turn; /* to be taken */
};

struct chunks {
	struct chunks_ops ops;
	struct queue lanes[LANE_CNT];
	size_t before_apart; /* chunks of LANE_MAIN */
	pthread_mutex_t lock;
	pthread_cond_t turned;
	pthread_t threads[MAX_THREADS];
	struct helper {
		struct chunks *chunks;
		enum lane prefers;
	} helpers[MAX_THREADS];
	size_t thread_cnt;
};

int chunks__new(struct chunks **chunks, const struct chunks_ops *ops)
{
	struct chunks *c = calloc(1, sizeof(*c));

	*chunks = c;
	if (!c)
		return -ENOMEM;
	c->ops = *ops;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->turned, NULL);
	return 0;
}

int chunks__add(struct chunks *c, enum lane lane, const struct chunk *chunk)
{
	struct queue *q = &c->lanes[lane];

	if (array_reserve(&q->v, &q->cap, q->cnt + 1))
		return -ENOMEM;
	q->v[q->cnt++] = *chunk;
	return 0;
}

void chunks__start_apart(struct chunks *c)
{
	c->before_apart = c->lanes[LANE_MAIN].cnt;
}

size_t chunks__cnt(const struct chunks *c)
{
	return c->lanes[LANE_MAIN].cnt + c->lanes[LANE_APART].cnt;
}

void chunks__lock(struct chunks *c)
{
	pthread_mutex_lock(&c->lock);
}

void chunks__unlock(struct chunks *c)
{
	pthread_mutex_unlock(&c->lock);
}

static bool is_turn(const struct turn *t)
{
	const struct chunks *c = t->chunks;

	return c->lanes[t->lane].turn == t->at &&
	       (t->lane == LANE_MAIN || c->lanes[LANE_MAIN].turn >= c->before_apart);
}

void turn_await(struct turn *t)
{
	struct chunks *c = t->chunks;

	if (t->mine)
		return;
	chunks__lock(c);
	while (!is_turn(t))
		pthread_cond_wait(&c->turned, &c->lock);
	chunks__unlock(c);
	t->mine = true;
}

static void turn_pass(struct turn *t)
{
	struct chunks *c = t->chunks;

	if (t->lane == LANE_MAIN && t->at + 1 == c->before_apart)
		c->ops.apart(c->ops.ctx);
	chunks__lock(c);
	c->lanes[t->lane].turn++;
	pthread_cond_broadcast(&c->turned);
	chunks__unlock(c);
}

/*
 * Selects the next chunk of the lane that this thread prefers, or of the other one. Chunks of
 * LANE_APART can be selected once all that must be taken before them were: a thread that waits for
 * its turn then waits for other threads only.
 */
static bool pick(struct chunks *c, enum lane prefers, struct turn *t)
{
	bool found = false;

	chunks__lock(c);
	for (int i = 0; i < LANE_CNT && !found; i++) {
		enum lane lane = (prefers + i) % LANE_CNT;
		struct queue *q = &c->lanes[lane];

		if (lane == LANE_APART && c->lanes[LANE_MAIN].next < c->before_apart)
			continue;
		found = q->next < q->cnt;
		if (found)
			*t = (struct turn){c, &q->v[q->next], lane, q->next, false};
		q->next += found;
	}
	chunks__unlock(c);
	return found;
}

static void take(struct chunks *c, struct turn *t)
{
	c->ops.take(c->ops.ctx, t);
	turn_await(t);
	turn_pass(t);
}

static void *help(void *arg)
{
	const struct helper *h = arg;
	struct turn t;

	while (pick(h->chunks, h->prefers, &t))
		take(h->chunks, &t);
	return NULL;
}

void chunks__start(struct chunks *c, size_t threads)
{
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if (threads > chunks__cnt(c))
		threads = chunks__cnt(c);
	if (!c->before_apart)
		c->ops.apart(c->ops.ctx);
	while (c->thread_cnt + 1 < threads) {
		struct helper *h = &c->helpers[c->thread_cnt];

		/* The caller prefers LANE_MAIN. */
		*h = (struct helper){c, c->thread_cnt % 2 ? LANE_MAIN : LANE_APART};
		if (pthread_create(&c->threads[c->thread_cnt], NULL, help, h))
			return;
		c->thread_cnt++;
	}
}

void chunks__run_main(struct chunks *c)
{
	struct queue *q = &c->lanes[LANE_MAIN];
	struct turn t;

	for (;;) {
		bool done;

		chunks__lock(c);
		done = q->next == q->cnt;
		while (done && q->turn < q->cnt)
			pthread_cond_wait(&c->turned, &c->lock);
		chunks__unlock(c);
		if (done)
			return;
		if (pick(c, LANE_MAIN, &t))
			take(c, &t);
	}
}

void chunks__join(struct chunks *c)
{
	help(&(struct helper){c, LANE_MAIN});
	for (size_t i = 0; i < c->thread_cnt; i++)
		pthread_join(c->threads[i], NULL);
	c->thread_cnt = 0;
}

void chunks__free(struct chunks *c)
{
	if (!c)
		return;
	for (int i = 0; i < LANE_CNT; i++)
		free(c->lanes[i].v);
	pthread_cond_destroy(&c->turned);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
