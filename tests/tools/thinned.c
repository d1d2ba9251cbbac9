/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thinned FILE.obz [ONE_IN [KEEP [SEEDS]]]: pairs of a real capture with one call in ONE_IN (100)
 * dropped, of each call KEEP bytes kept, against those of the same capture whole. Fixed seeds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/l7.h"
#include "format/archive.h"

struct pair_at {
	uint64_t request, response; /* positions of their first bytes */
	uint64_t request_end, response_end;
	bool sent; /* the request */
};

struct talk {
	uint64_t id, opened_ns, role, port;
	struct l7_piece *v;
	bool *lost;
	size_t cnt, cap;
	struct pair_at *truth, *made;
	size_t truth_cnt, made_cnt, made_cap;
};

static struct talk *talks;
static size_t talk_cnt, talk_cap;
static uint64_t seed = 0x9e3779b97f4a7c15, keep = UINT64_MAX;

static uint64_t random_u64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1d >> 20;
}

static void *grown(void *p, size_t cnt, size_t *cap, size_t sz)
{
	if (cnt < *cap)
		return p;
	*cap = *cap ? *cap * 2 : 64;
	p = realloc(p, *cap * sz);
	if (!p)
		exit(1);
	return p;
}

static struct talk *talk_of(uint64_t id)
{
	for (size_t i = talk_cnt; i--;)
		if (talks[i].id == id)
			return &talks[i];
	talks = grown(talks, talk_cnt, &talk_cap, sizeof(*talks));
	talks[talk_cnt] = (struct talk){.id = id};
	return &talks[talk_cnt++];
}

static void add_connection(const struct rec_connection *r)
{
	struct talk *t = talk_of(r->id);

	t->opened_ns = r->opened_ns;
	t->role = r->role == ROLE_CLIENT ? L7_CLIENT : r->role == ROLE_SERVER ? L7_SERVER : 0;
	t->port = r->role == ROLE_SERVER ? r->local_port : r->remote_port;
}

static void add_payload(const struct rec_payload *r)
{
	struct talk *t = talk_of(r->connection);
	char *copy = malloc(r->data.len + 1);

	memcpy(copy, r->data.p, r->data.len);
	t->v = grown(t->v, t->cnt, &t->cap, sizeof(*t->v));
	t->v[t->cnt++] = (struct l7_piece){.dir = r->direction ? L7_RECEIVED : L7_SENT,
					   .pos = r->position,
					   .len = r->len,
					   .ts_ns = r->ts_ns,
					   .data = {copy, r->data.len}};
}

static int rows(void *arg, enum rec_kind kind, const void *v, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		if (kind == REC_connection)
			add_connection((const struct rec_connection *)v + i);
		if (kind == REC_payload)
			add_payload((const struct rec_payload *)v + i);
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct l7_piece *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return (x->pos > y->pos) - (x->pos < y->pos);
}

static int by_request(const void *a, const void *b)
{
	const struct pair_at *x = a, *y = b;

	return (x->request > y->request) - (x->request < y->request);
}

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	struct talk *t = ctx;

	if (!x->paired)
		return;
	t->made = grown(t->made, t->made_cnt, &t->made_cap, sizeof(*t->made));
	t->made[t->made_cnt++] =
		(struct pair_at){.request = x->request->pos,
				 .response = x->response->pos,
				 .request_end = x->request->pos + x->request->size,
				 .response_end = x->response->pos + x->response->size,
				 .sent = x->request->dir == L7_SENT};
}

static void run(struct talk *t)
{
	const struct l7_conn_opts opts = {.role = t->role,
					  .server_port = t->port,
					  .late = !t->opened_ns,
					  .sink = sink,
					  .ctx = t};
	struct l7_conn *c;

	t->made_cnt = 0;
	if (l7_conn__new(&c, &opts))
		exit(1);
	for (size_t i = 0; i < t->cnt; i++) {
		struct l7_piece p = t->v[i];

		if (t->lost && t->lost[i])
			continue;
		if (t->lost && p.data.len > keep)
			p.data.len = keep;
		l7_conn__feed(c, &p);
	}
	l7_conn__finish(c);
	l7_conn__free(c);
	if (t->made_cnt)
		qsort(t->made, t->made_cnt, sizeof(*t->made), by_request);
}

/* Of one direction: the ranges not kept, in order of position. */
struct gaps {
	struct {
		uint64_t from, to;
	} * v;
	size_t cnt, cap;
};

static int by_from(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void find_gaps(const struct talk *t, enum l7_dir dir, struct gaps *g)
{
	g->cnt = 0;
	for (size_t i = 0; i < t->cnt; i++) {
		const struct l7_piece *p = &t->v[i];
		uint64_t kept = t->lost[i] ? 0 : p->data.len < keep ? p->data.len : keep;

		if (p->dir != dir || kept == p->len)
			continue;
		g->v = grown(g->v, g->cnt, &g->cap, sizeof(*g->v));
		g->v[g->cnt].from = p->pos + kept;
		g->v[g->cnt++].to = p->pos + p->len;
	}
	if (g->cnt)
		qsort(g->v, g->cnt, sizeof(*g->v), by_from);
}

static bool overlaps(const struct gaps *g, uint64_t from, uint64_t to)
{
	size_t lo = 0, hi = g->cnt;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (g->v[mid].to <= from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->cnt && g->v[lo].from < to;
}

static uint64_t due_cnt, made_cnt, wrong_cnt, truth_cnt;

static void compare(struct talk *t)
{
	static struct gaps gaps[2];

	find_gaps(t, L7_SENT, &gaps[L7_SENT]);
	find_gaps(t, L7_RECEIVED, &gaps[L7_RECEIVED]);
	truth_cnt += t->truth_cnt;
	for (size_t i = 0, j = 0; i < t->truth_cnt || j < t->made_cnt;) {
		const struct pair_at *a = &t->truth[i], *m = &t->made[j];
		bool ours = i < t->truth_cnt && (j == t->made_cnt || a->request <= m->request);
		bool both = ours && j < t->made_cnt && a->request == m->request;
		bool right = both && a->response == m->response, due;

		due = ours && !overlaps(&gaps[a->sent ? 0 : 1], a->request, a->request_end) &&
		      !overlaps(&gaps[a->sent ? 1 : 0], a->response, a->response_end);
		due_cnt += due;
		made_cnt += due && right;
		if ((both && !right) || !ours) {
			wrong_cnt++;
			if (getenv("VERBOSE"))
				printf("wrong: %llu: request at %llu, response at %llu, not %llu\n",
				       (unsigned long long)t->id, (unsigned long long)m->request,
				       (unsigned long long)m->response,
				       ours ? (unsigned long long)a->response : 0);
		}
		i += ours;
		j += both || !ours;
	}
}

int main(int argc, char **argv)
{
	unsigned one_in = argc > 2 ? atoi(argv[2]) : 100, seeds = argc > 4 ? atoi(argv[4]) : 1;
	const struct obz_member *members;
	struct obz_reader *r;
	size_t cnt;

	if (argc < 2 || obz_reader__open(&r, argv[1]))
		return 1;
	if (argc > 3 && atoi(argv[3]))
		keep = atoi(argv[3]);
	members = obz_reader__members(r, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (members[i].type == OBZ_CHUNK)
			obz_reader__decode(r, &members[i], rows, NULL);
	for (size_t i = 0; i < talk_cnt; i++) {
		struct talk *t = &talks[i];

		if (t->cnt)
			qsort(t->v, t->cnt, sizeof(*t->v), by_time);
		run(t);
		t->truth = t->made;
		t->truth_cnt = t->made_cnt;
		t->made = NULL;
		t->made_cap = 0;
		t->lost = calloc(t->cnt + 1, 1);
		for (unsigned s = 0; s < seeds; s++) {
			for (size_t k = 0; k < t->cnt; k++)
				t->lost[k] = one_in && random_u64() % one_in == 0;
			run(t);
			compare(t);
		}
	}
	printf("%llu pairs, %llu whose bytes were there: %.2f %% made, %llu wrong\n",
	       (unsigned long long)truth_cnt, (unsigned long long)due_cnt,
	       due_cnt ? 100.0 * made_cnt / due_cnt : 0, (unsigned long long)wrong_cnt);
	obz_reader__close(r);
	return 0;
}
