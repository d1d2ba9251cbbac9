/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "record/probe/stack_memory.h"
#include "record/process/read_memory.h"

/* Requests in flight, each for some threads of another process: 8 MiB of stacks. */
enum { BATCHES = 16, THREADS = 64 };

struct batch {
	const struct memory_place *places;
	size_t cnt;
	struct reading_request *r; /* NULL: not asked */
};

/* ---- beyond the bytes that every stack comes with */

static void no_more(struct stack_memory *m)
{
	m->bytes = (struct span){"", 0};
	readers__done(m->more);
	m->more = NULL;
}

static void read_more(struct stack_memory *m, uint64_t at)
{
	struct parcel request;

	no_more(m);
	if (m->late)
		return;
	read_memory_ask(&request, m->tgid);
	read_memory_at(&request, at);
	m->more = readers__ask(m->readers, &request, m->tgid, 0);
	if (!m->more)
		return;
	if (readers__await(m->readers, m->more)) {
		m->at = at;
		m->bytes = read_memory_next(&m->more->m);
		return;
	}
	m->late = true;
	readers__later(m->more, NULL, NULL);
	m->more = NULL;
}

static bool has(const struct stack_memory *m, size_t size, uint64_t at)
{
	uint64_t from = at - m->at;

	return from <= m->bytes.len && size <= m->bytes.len - from;
}

int stack_memory_read(void *ctx, void *to, size_t size, uint64_t at)
{
	struct stack_memory *m = ctx;

	if (!has(m, size, at))
		read_more(m, at);
	if (!has(m, size, at))
		return -1;
	memcpy(to, m->bytes.p + (at - m->at), size);
	return 0;
}

/* ---- many places */

/* `late`: a process that is not asked again. */
static struct batch ask(struct readers *readers, const struct memory_place *places, size_t cnt,
			uint32_t late)
{
	struct batch b = {.places = places};
	struct parcel m;

	read_memory_ask(&m, places->tgid);
	for (; b.cnt < cnt && b.cnt < THREADS && places[b.cnt].tgid == places->tgid; b.cnt++)
		read_memory_at(&m, places[b.cnt].at);
	if (places->tgid == late)
		parcel_fini(&m);
	else
		b.r = readers__ask(readers, &m, places->tgid, 0);
	return b;
}

/* Returns true if the process is late. */
static bool take(struct readers *readers, struct batch *b,
		 void (*fn)(void *ctx, const void *of, struct stack_memory *m), void *ctx)
{
	bool answered = b->r && readers__await(readers, b->r);
	bool late = !answered || b->r->m.rc == -ETIMEDOUT;

	for (size_t i = 0; i < b->cnt; i++) {
		struct stack_memory m = {.readers = readers,
					 .tgid = b->places->tgid,
					 .at = b->places[i].at,
					 .bytes = {"", 0},
					 .late = late};

		if (answered)
			m.bytes = read_memory_next(&b->r->m);
		fn(ctx, b->places[i].of, &m);
		late = m.late;
		no_more(&m);
	}
	if (b->r && !answered)
		readers__later(b->r, NULL, NULL);
	else
		readers__done(b->r);
	return late;
}

unsigned stack_memory_each(struct readers *readers, const struct memory_place *places, size_t cnt,
			   void (*fn)(void *ctx, const void *of, struct stack_memory *m), void *ctx)
{
	unsigned late_cnt = 0;
	uint32_t late = 0;

	for (size_t at = 0; at < cnt;) {
		struct batch batch[BATCHES];
		size_t n = 0;

		do { /* more of a process are asked for when it has answered */
			batch[n] = ask(readers, places + at, cnt - at, late);
			at += batch[n++].cnt;
		} while (n < BATCHES && at < cnt && places[at].tgid != places[at - 1].tgid);
		for (size_t i = 0; i < n; i++) {
			uint32_t tgid = batch[i].places->tgid;

			if (!take(readers, &batch[i], fn, ctx) || tgid == late)
				continue;
			late = tgid;
			late_cnt++;
		}
	}
	return late_cnt;
}
