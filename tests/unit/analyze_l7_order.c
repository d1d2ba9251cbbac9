/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinds of clients on a connection whose protocol pairs by order, one call in a hundred lost (fixed
 * seeds). Each request and its response carry the same number, as their lengths: a pair of two
 * numbers is wrong, whatever the client does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../analyze/l7/l7.h"

enum { REQUESTS = 4000, SEEDS = 20, LOST_ONE_IN = 100, MAX_CALLS = 2 * REQUESTS };

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed * 0x2545f4914f6cdd1d >> 20) % n;
}

/* Who asks how: `depth` at most are outstanding; asks on when `refill` or fewer are; then as many
 * as random says, when `random`. One silence in `silent` answers, where not 0. */
struct client {
	const char *name;
	unsigned depth, refill, silent;
	bool random;
	unsigned per_call; /* messages in a call at most */
	unsigned known;	   /* calls after which some are lost */
	unsigned floor;	   /* percent of the pairs whose calls arrived */
};

static const struct client clients[] = {
	{"one by one", 1, 0, 0, false, 1, 4, 97},
	{"eight, a call each", 8, 0, 0, false, 1, 18, 97},
	{"eight, several a call", 8, 0, 0, false, 8, 18, 97},
	{"up to eight", 8, 0, 0, true, 3, 18, 97},
	{"sixty-four, many a call", 64, 0, 0, false, 20, 130, 95},
	/* What overlaps is known up to the first loss only, */
	{"window of four, never idle", 4, 3, 0, false, 1, 4, 0},
	{"window of two, never idle", 2, 1, 0, false, 1, 4, 0},
	{"up to eight more, never idle", 8, 4, 0, true, 3, 4, 0},
	/* and again between two silences without any. */
	{"window of four, silent at times", 4, 3, 20, false, 1, 4, 60},
};

/* ---- one conversation ---- */

struct call {
	struct l7_piece piece;
	unsigned first, cnt; /* its messages */
};

struct talk {
	struct call calls[MAX_CALLS + 1];
	unsigned cnt;
	uint64_t pos[2], now_ns;
};

/* Numbers go by, so that neighbours, and those a few bursts apart, differ. */
static unsigned number_of(unsigned i)
{
	return i % 1009;
}

static char *message(bool request, unsigned number, size_t *sz)
{
	static const char *const head[] = {"HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n",
					   "POST /x HTTP/1.1\r\nContent-Length: %u\r\n\r\n"};
	char *p = malloc(64 + number);
	int n = snprintf(p, 64, head[request], 1000 + number);

	*sz = n + 1000 + number;
	p = realloc(p, *sz);
	memset(p + n, 'x', 1000 + number);
	return p;
}

static void say(struct talk *t, bool request, unsigned first, unsigned cnt)
{
	struct call *call = &t->calls[t->cnt++];
	char *data = NULL;
	size_t sz = 0;

	for (unsigned i = 0; i < cnt; i++) {
		size_t one_sz;
		char *one = message(request, number_of(first + i), &one_sz);

		data = realloc(data, sz + one_sz);
		memcpy(data + sz, one, one_sz);
		sz += one_sz;
		free(one);
	}
	t->now_ns += 100000 + random_below(50000);
	*call = (struct call){.piece = {.dir = request ? L7_SENT : L7_RECEIVED,
					.pos = t->pos[!request],
					.len = sz,
					.ts_ns = t->now_ns,
					.data = {data, sz}},
			      .first = first,
			      .cnt = cnt};
	t->pos[!request] += sz;
}

static unsigned some(const struct client *k, unsigned most)
{
	unsigned n = 1 + random_below(k->per_call);

	return n < most ? n : most;
}

static void converse(struct talk *t, const struct client *k)
{
	unsigned asked = 0, answered = 0;

	*t = (struct talk){.now_ns = 1000000};
	while (answered < REQUESTS) {
		bool silent = k->silent && asked == answered;

		if (silent)
			t->now_ns += 1000000000;
		if (asked < REQUESTS && asked - answered <= k->refill) {
			unsigned upto = k->random ? 1 + random_below(k->depth) : k->depth;

			while (asked < REQUESTS && asked - answered < upto) {
				unsigned n = some(k, upto - (asked - answered));

				n = n < REQUESTS - asked ? n : REQUESTS - asked;
				say(t, true, asked, n);
				asked += n;
			}
		}
		do {
			unsigned n = some(k, asked - answered);

			say(t, false, answered, n);
			answered += n;
		} while (answered < asked && asked - answered > k->refill);
		/* All answers come, and nobody asks for a while. */
		if (k->silent && !random_below(k->silent))
			while (answered < asked)
				say(t, false, answered++, 1);
	}
}

/* ---- what is made of it ---- */

struct result {
	uint64_t made, wrong, lost_why, alone;
};

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	/* "POST /x HTTP/1.1\r\n" is as long as "HTTP/1.1 200 OK\r\n" and one more. */
	struct result *r = ctx;

	if (!x->paired) {
		r->alone++;
		r->lost_why += x->why == L7_LOST;
		return;
	}
	r->made++;
	r->wrong += x->request->size != x->response->size + 1;
}

static void run(const struct talk *t, const bool *lost, struct result *r)
{
	const struct l7_conn_opts opts = {.role = L7_CLIENT, .sink = sink, .ctx = r};
	struct l7_conn *c;

	if (l7_conn__new(&c, &opts))
		exit(1);
	for (unsigned i = 0; i < t->cnt; i++)
		if (!lost[i])
			l7_conn__feed(c, &t->calls[i].piece);
	l7_conn__finish(c);
	l7_conn__free(c);
}

/* Pairs of which no call was lost. */
static uint64_t due(const struct talk *t, const bool *lost)
{
	static bool gone[REQUESTS];
	uint64_t cnt = REQUESTS;

	memset(gone, 0, sizeof(gone));
	for (unsigned i = 0; i < t->cnt; i++)
		for (unsigned j = 0; lost[i] && j < t->calls[i].cnt; j++)
			gone[t->calls[i].first + j] = true;
	for (unsigned i = 0; i < REQUESTS; i++)
		cnt -= gone[i];
	return cnt;
}

static bool one_client(const struct client *k)
{
	static struct talk t;
	static bool lost[MAX_CALLS + 1];
	struct result all = {0}, whole = {0};
	uint64_t expected = 0;
	bool bad;

	seed = 0x9e3779b97f4a7c15;
	for (unsigned s = 0; s < SEEDS; s++) {
		converse(&t, k);
		memset(lost, 0, sizeof(lost));
		run(&t, lost, &whole);
		for (unsigned i = k->known; i < t.cnt; i++)
			lost[i] = !random_below(LOST_ONE_IN);
		expected += due(&t, lost);
		run(&t, lost, &all);
		for (unsigned i = 0; i < t.cnt; i++)
			free((void *)t.calls[i].piece.data.p);
	}
	bad = whole.made != SEEDS * REQUESTS || whole.wrong || whole.alone ||
	      all.wrong * 10000 > expected || all.made * 100 < expected * k->floor || !all.lost_why;
	printf("%-32s %6llu pairs whose calls arrived, %6.2f %% made, %llu wrong%s\n", k->name,
	       (unsigned long long)expected, 100.0 * all.made / expected,
	       (unsigned long long)all.wrong, bad ? "  FAILED" : "");
	return bad;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
		failed += one_client(&clients[i]);
	return failed != 0;
}
