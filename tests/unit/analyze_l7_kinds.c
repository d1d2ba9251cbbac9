/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of Redis that is never idle and keeps no number of requests on their way: after a loss
 * only kinds of answers tell which belongs to which (fixed seeds). The n-th request and the n-th
 * response are known by the positions of their first bytes.
 */
#include "calls.h"

enum { EARLY = 60 };

static const struct {
	const char *name, *request;
	const char *responses[2];
} commands[] = {
	{"GET", "*2\r\n$3\r\nGET\r\n$2\r\nk%u\r\n", {"$3\r\nabc\r\n", "$-1\r\n"}},
	{"SET", "*3\r\n$3\r\nSET\r\n$2\r\nk%u\r\n$7\r\nabcdefg\r\n", {"+OK\r\n", "+OK\r\n"}},
	{"INCR", "*2\r\n$4\r\nINCR\r\n$2\r\nc%u\r\n", {":7\r\n", ":123\r\n"}},
	{"LRANGE",
	 "*4\r\n$6\r\nLRANGE\r\n$2\r\nl%u\r\n$1\r\n0\r\n$1\r\n1\r\n",
	 {"*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*0\r\n"}},
	{"PING", "*1\r\n$4\r\nPING\r\n", {"+PONG\r\n", "+PONG\r\n"}},
};

struct talk {
	struct calls calls;
	uint64_t begin[2][REQUESTS]; /* of each message, sent and received */
	unsigned kind[REQUESTS];
};

static void say(struct talk *t, bool request, unsigned first, unsigned cnt)
{
	enum l7_dir dir = request ? L7_SENT : L7_RECEIVED;
	char *data = malloc(cnt * 128);
	size_t sz = 0;

	for (unsigned i = first; i < first + cnt; i++) {
		t->begin[dir][i] = t->calls.pos[dir] + sz;
		if (request)
			sz += sprintf(data + sz, commands[t->kind[i]].request, i % 10);
		else
			sz += sprintf(data + sz, "%s",
				      commands[t->kind[i]].responses[random_below(2)]);
	}
	calls_say(&t->calls, dir, first, cnt, data, sz);
}

/* `depth` requests at most are outstanding, and one at least. */
static void converse(struct talk *t, unsigned depth, unsigned kinds)
{
	unsigned asked = 0, answered = 0;

	*t = (struct talk){.calls.now_ns = 1000000};
	for (unsigned i = 0; i < REQUESTS; i++)
		t->kind[i] = random_below(kinds);
	while (answered < REQUESTS) {
		unsigned out = asked - answered,
			 ask = out < depth ? random_below(depth - out + 1) : 0;

		for (; asked < REQUESTS && (ask || asked - answered < 2); ask -= !!ask)
			say(t, true, asked, 1), asked++;
		out = asked - answered - (asked < REQUESTS);
		if (out) {
			unsigned n = 1 + random_below(out);

			say(t, false, answered, n);
			answered += n;
		}
	}
}

struct result {
	const struct talk *talk;
	uint64_t made, wrong, alone;
};

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	struct result *r = ctx;
	unsigned i = 0;

	r->alone += !x->paired;
	if (!x->paired)
		return;
	r->made++;
	while (i < REQUESTS && r->talk->begin[L7_SENT][i] != x->request->pos)
		i++;
	r->wrong += i == REQUESTS || r->talk->begin[L7_RECEIVED][i] != x->response->pos;
}

static void run(struct result *r, const bool *lost, bool late)
{
	const struct l7_conn_opts opts = {
		.role = L7_CLIENT, .server_port = 6379, .late = late, .sink = sink, .ctx = r};

	calls_feed(&r->talk->calls, lost, &opts);
}

/* Lost are calls from `from` on; those before it never were seen when it is joined late. */
static bool one(const char *name, unsigned depth, unsigned kinds, unsigned from, bool late,
		unsigned floor)
{
	static struct talk t;
	static bool lost[MAX_CALLS];
	struct result whole = {.talk = &t}, all = {.talk = &t};
	uint64_t expected = 0;
	bool bad;

	seed = FIRST_SEED;
	for (unsigned s = 0; s < SEEDS; s++) {
		converse(&t, depth, kinds);
		memset(lost, 0, sizeof(lost));
		run(&whole, lost, false);
		for (unsigned i = from; i < t.calls.cnt; i++)
			lost[i] = !random_below(LOST_ONE_IN);
		memset(lost, late, from);
		expected += calls_due(&t.calls, lost);
		run(&all, lost, late);
		calls_fini(&t.calls);
	}
	bad = whole.made != SEEDS * REQUESTS || whole.wrong || whole.alone ||
	      all.wrong * 10000 > expected || all.made * 100 < expected * floor;
	printf("%-28s %6llu pairs whose calls arrived, %6.2f %% made, %llu wrong%s\n", name,
	       (unsigned long long)expected, 100.0 * all.made / expected,
	       (unsigned long long)all.wrong, bad ? "  FAILED" : "");
	return bad;
}

int main(void)
{
	return one("eight, five kinds", 8, 5, EARLY, false, 97) |
	       one("sixteen, three kinds", 16, 3, EARLY, false, 97) |
	       one("eight, two kinds", 8, 2, EARLY, false, 95) |
	       one("losses from the first", 8, 5, 1, false, 95) |
	       one("joined late", 8, 5, EARLY + 1, true, 90) |
	       one("one kind", 8, 1, EARLY, false, 0);
}
