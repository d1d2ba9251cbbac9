/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/threads.h"

#include "format/text.h"
#include "analyze/base/index.h"
#include "analyze/load/load.h"

struct threads {
	struct thread *v; /* by id */
	size_t cnt, cap;
};

static const char *text_at(sqlite3_stmt *s, int column)
{
	return (const char *)sqlite3_column_text(s, column);
}

static struct thread read_thread(struct load *l, sqlite3_stmt *s)
{
	const struct thread_facts facts = {.comm = text_at(s, 1),
					   .tid = sqlite3_column_int64(s, 2),
					   .process = text_at(s, 3),
					   .pid = sqlite3_column_int64(s, 4),
					   .cgroup = text_at(s, 5),
					   .exe = text_at(s, 7)};

	return (struct thread){
		.id = sqlite3_column_int64(s, 0),
		.tid = facts.tid,
		.pid = facts.pid,
		.comm = strings__add(l->strings, span_of(facts.comm)),
		.process = strings__add(l->strings, span_of(facts.process)),
		.cgroup = strings__add(l->strings, span_of(facts.cgroup)),
		.container = strings__add(l->strings, span_of(text_at(s, 6))),
		.wanted = sample_filter_wants_thread(&l->opts.samples, &facts),
	};
}

int threads__new(struct threads **out, struct load *l)
{
	struct threads *t = calloc(1, sizeof(*t));
	sqlite3_stmt *s = NULL;
	int rc = SQLITE_ERROR;

	*out = t;
	if (!t)
		return -ENOMEM;
	if (!sqlite3_prepare_v2(store__db(l->store),
				"SELECT t.id, t.comm, t.tid, p.comm, p.pid, p.cgroup, "
				"p.container_id, p.exe FROM thread t LEFT JOIN process p ON p.id "
				"= t.process_id ORDER BY t.id",
				-1, &s, NULL))
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			if (array_reserve(&t->v, &t->cap, t->cnt + 1))
				break;
			t->v[t->cnt++] = read_thread(l, s);
		}
	sqlite3_finalize(s);
	if (rc == SQLITE_ROW)
		return -ENOMEM;
	return rc == SQLITE_DONE ? strings__failed(l->strings) : store__failed(l->store);
}

void threads__free(struct threads *t)
{
	if (!t)
		return;
	free(t->v);
	free(t);
}

const struct thread *threads__find(const struct threads *t, int64_t id)
{
	size_t lo = 0, hi = t->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].id == id)
			return &t->v[mid];
		if (t->v[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}
