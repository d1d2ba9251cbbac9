/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/section_ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "analyze/report/section_rows.h"

struct section_ahead {
	sqlite3 *db;
	const struct section_of *of;
	unsigned limit;
	pthread_t thread;
	pthread_mutex_t lock;
	size_t begin, end; /* of the sections that nobody has taken yet */
	bool ended;
};

static bool take_last(struct section_ahead *a, size_t *at)
{
	bool left;

	pthread_mutex_lock(&a->lock);
	left = a->begin < a->end;
	if (left)
		*at = --a->end;
	pthread_mutex_unlock(&a->lock);
	return left;
}

/* The writer runs what fails here once more, and reports it. */
static void *run(void *arg)
{
	struct section_ahead *a = arg;
	int err = 0;

	for (size_t at; !err && take_last(a, &at);) {
		struct section_rows rows;

		err = section_rows__get(&rows, a->db, a->of[at].section, a->of[at].kind, a->limit);
		section_rows__fini(&rows);
	}
	return NULL;
}

struct section_ahead *section_ahead__new(struct store *s, const struct section_of *of, size_t cnt,
					 unsigned limit)
{
	sqlite3 *db = store__add_reader(s);
	struct section_ahead *a = db ? malloc(sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	*a = (struct section_ahead){.db = db, .of = of, .end = cnt, .limit = limit};
	pthread_mutex_init(&a->lock, NULL);
	if (pthread_create(&a->thread, NULL, run, a)) {
		a->ended = true;
		a->end = 0;
	}
	return a;
}

static void join(struct section_ahead *a)
{
	if (!a->ended)
		pthread_join(a->thread, NULL);
	a->ended = true;
}

bool section_ahead__ended(struct section_ahead *a, size_t at)
{
	bool taken;

	pthread_mutex_lock(&a->lock);
	taken = at >= a->end;
	a->begin = at + 1;
	pthread_mutex_unlock(&a->lock);
	if (taken)
		join(a);
	return a->ended;
}

void section_ahead__free(struct section_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->end = a->begin;
	pthread_mutex_unlock(&a->lock);
	join(a);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
