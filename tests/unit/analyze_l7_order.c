/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinds of clients on a connection whose protocol pairs by order, one call in a hundred lost, or
 * runs of them (fixed seeds). The n-th request and the n-th response are known by the positions of
 * their first bytes: a pair of two numbers is wrong, whatever the client does.
 */
#include "calls.h"

enum { KNOWN = 18, LATE = 61 };

/* Who asks how: `depth` at most are outstanding; asks on when `refill` or fewer are; then as many
 * as random says, when `random`. One silence in `silent` answers, where not 0. */
struct client {
	const char *name;
	unsigned depth, refill, silent;
	bool random;
	unsigned hesitates;  /* one time in so many it asks for one less */
	bool http;	     /* speaks HTTP/1, else Redis */
	bool alike;	     /* all requests are of one length, and all responses */
	unsigned changes;    /* after so many times its depth is half of that, and again */
	unsigned per_call;   /* messages in a call at most */
	unsigned known;	     /* calls after which some are lost; 0: KNOWN */
	unsigned stalls;     /* calls are lost in runs of up to so many, one time in a thousand */
	unsigned floor;	     /* percent of the pairs whose calls arrived */
	unsigned late_floor; /* the same where it was joined late and nothing else lost */
	unsigned pauses; /* one time in so many it stands still before it asks, whatever waits */
};

static const struct client clients[] = {
	{.name = "one by one", .depth = 1, .per_call = 1, .known = 4, .floor = 97},
	{.name = "one by one, HTTP",
	 .depth = 1,
	 .http = true,
	 .per_call = 1,
	 .known = 4,
	 .floor = 97},
	{.name = "eight, a call each", .depth = 8, .per_call = 1, .floor = 97},
	{.name = "eight, several a call", .depth = 8, .per_call = 8, .floor = 97},
	{.name = "up to eight", .depth = 8, .random = true, .per_call = 3, .floor = 97},
	{.name = "sixty-four, many a call", .depth = 64, .per_call = 20, .known = 130, .floor = 95},
	/* Never idle: its window tells. */
	{.name = "window of two", .depth = 2, .refill = 1, .per_call = 1, .floor = 97},
	{.name = "window of four", .depth = 4, .refill = 3, .per_call = 1, .floor = 97},
	{.name = "sixteen", .depth = 16, .refill = 15, .per_call = 1, .floor = 97},
	{.name = "sixteen, several a call", .depth = 16, .refill = 15, .per_call = 5, .floor = 97},
	{.name = "sixteen, by halves", .depth = 16, .refill = 8, .per_call = 8, .floor = 96},
	{.name = "sixty-four, many a call", .depth = 64, .refill = 63, .per_call = 20, .floor = 97},
	{.name = "four, silent at times",
	 .depth = 4,
	 .refill = 3,
	 .silent = 20,
	 .per_call = 1,
	 .known = 4,
	 .floor = 97},
	/* It has none, but the bytes that were missed tell. */
	{.name = "up to eight more, alike",
	 .depth = 8,
	 .refill = 4,
	 .random = true,
	 .alike = true,
	 .per_call = 3,
	 .floor = 97},
	{.name = "eight or seven, alike",
	 .depth = 8,
	 .refill = 7,
	 .hesitates = 4,
	 .alike = true,
	 .per_call = 4,
	 .floor = 97},
	{.name = "eight, then four, alike",
	 .depth = 8,
	 .refill = 7,
	 .changes = 300,
	 .alike = true,
	 .per_call = 2,
	 .floor = 97},
	/* The recorder stood still: both directions are lost, and end with either. */
	{.name = "one by one, alike, in runs",
	 .depth = 1,
	 .alike = true,
	 .per_call = 1,
	 .stalls = 400,
	 .floor = 97},
	{.name = "sixteen, alike, in runs",
	 .depth = 16,
	 .refill = 15,
	 .alike = true,
	 .per_call = 1,
	 .stalls = 400,
	 .floor = 95},
	{.name = "one by one, in runs", .depth = 1, .per_call = 1, .stalls = 400, .floor = 95},
	/* Some have none: they are known up to the first loss only. */
	{.name = "up to eight more", .depth = 8, .refill = 4, .random = true, .per_call = 3},
	{.name = "up to three", .depth = 3, .refill = 2, .random = true, .per_call = 2},
	/* Idle at times, which tells. */
	{.name = "up to eight more, silent at times",
	 .depth = 8,
	 .refill = 4,
	 .silent = 50,
	 .random = true,
	 .per_call = 3,
	 .floor = 85,
	 .late_floor = 99},
	{.name = "up to three, silent at times",
	 .depth = 3,
	 .refill = 2,
	 .silent = 50,
	 .random = true,
	 .per_call = 1,
	 .floor = 90,
	 .late_floor = 99},
	{.name = "up to eight, silent once",
	 .depth = 8,
	 .refill = 4,
	 .silent = 500,
	 .random = true,
	 .per_call = 3,
	 .late_floor = 95},
	/* Its pauses look like silence, but for what they leave to be read at once. */
	{.name = "one by one, pauses", .depth = 1, .per_call = 1, .pauses = 200, .floor = 97},
	{.name = "up to eight, pauses",
	 .depth = 8,
	 .random = true,
	 .per_call = 8,
	 .pauses = 200,
	 .floor = 97},
	{.name = "up to eight more, pauses",
	 .depth = 8,
	 .refill = 4,
	 .random = true,
	 .per_call = 3,
	 .pauses = 200},
	{.name = "eight or seven, pauses",
	 .depth = 8,
	 .refill = 7,
	 .hesitates = 4,
	 .per_call = 4,
	 .pauses = 200},
	{.name = "sixteen, pauses",
	 .depth = 16,
	 .refill = 15,
	 .per_call = 5,
	 .floor = 80,
	 .pauses = 200},
	{.name = "eight, rarely seven", .depth = 8, .refill = 7, .hesitates = 500, .per_call = 1},
	{.name = "eight, at times seven", .depth = 8, .refill = 7, .hesitates = 50, .per_call = 1},
	{.name = "eight or seven", .depth = 8, .refill = 7, .hesitates = 4, .per_call = 4},
	{.name = "two, at times one", .depth = 2, .refill = 1, .hesitates = 50, .per_call = 1},
	{.name = "eight, then four", .depth = 8, .refill = 7, .changes = 300, .per_call = 2},
};

/* ---- one conversation ---- */

static uint64_t begin[2][REQUESTS]; /* position of each message, sent and received */

/* Lengths go by, so that neighbours, and those a few bursts apart, differ. */
static unsigned length_of(const struct client *k, unsigned i)
{
	return 1000 + (k->alike ? 0 : i % 1009);
}

static char *message(const struct client *k, bool request, unsigned i, size_t *sz)
{
	static const char *const head[][2] = {{"$%u\r\n", "*2\r\n$3\r\nGET\r\n$%u\r\n"},
					      {"HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n",
					       "POST /x HTTP/1.1\r\nContent-Length: %u\r\n\r\n"}};
	unsigned body = length_of(k, i);
	char *p = malloc(82 + body);
	int n = snprintf(p, 80, head[k->http][request], body);

	memset(p + n, 'x', body);
	memcpy(p + n + body, "\r\n", 2);
	*sz = n + body + (k->http ? 0 : 2);
	return p;
}

static void say(struct calls *t, const struct client *k, bool request, unsigned first, unsigned cnt)
{
	char *data = NULL;
	size_t sz = 0;

	for (unsigned i = 0; i < cnt; i++) {
		size_t one_sz;
		char *one = message(k, request, first + i, &one_sz);

		begin[request ? L7_SENT : L7_RECEIVED][first + i] =
			t->pos[request ? L7_SENT : L7_RECEIVED] + sz;
		data = realloc(data, sz + one_sz);
		memcpy(data + sz, one, one_sz);
		sz += one_sz;
		free(one);
	}
	calls_say(t, request ? L7_SENT : L7_RECEIVED, first, cnt, data, sz);
}

static unsigned some(const struct client *k, unsigned most)
{
	unsigned n = 1 + random_below(k->per_call);

	return n < most ? n : most;
}

static unsigned ask_upto(const struct client *k, unsigned times)
{
	unsigned upto = k->random ? 1 + random_below(k->depth) : k->depth;

	upto -= k->hesitates && !random_below(k->hesitates);
	return k->changes && times / k->changes % 2 ? k->depth / 2 : upto;
}

/* Responses come one after the other, quickly if several are read at once, and wait to be read; the
 * client takes its time for each of its steps, at times longer. */
static void converse(struct calls *t, const struct client *k)
{
	enum { WAY = 20000, STEP = 5000, SERVICE = 50000, LATER = 300000, LATER_ONE_IN = 50 };
	static uint64_t ready_ns[REQUESTS];
	unsigned asked = 0, answered = 0, times = 0;
	uint64_t free_ns = 0;
	bool drains = false;

	*t = (struct calls){.now_ns = 1000000, .timed = true};
	while (answered < REQUESTS) {
		unsigned n = 0, most = 1 + random_below(k->per_call);

		if (k->pauses && !random_below(k->pauses))
			t->now_ns += 50000000;
		if (k->silent && asked == answered) {
			t->now_ns += 1000000000;
			drains = false;
		}
		if (!drains && asked < REQUESTS && asked - answered <= k->refill) {
			unsigned upto = ask_upto(k, times++);

			while (asked < REQUESTS && asked - answered < upto) {
				n = some(k, upto - (asked - answered));
				n = n < REQUESTS - asked ? n : REQUESTS - asked;
				t->now_ns += STEP + random_below(STEP);
				t->unread = asked > answered && ready_ns[answered] <= t->now_ns
						    ? L7_UNREAD_SOME
						    : L7_UNREAD_NONE;
				for (unsigned i = asked; i < asked + n; i++) {
					if (free_ns < t->now_ns + WAY)
						free_ns = t->now_ns + WAY;
					free_ns += (SERVICE + random_below(SERVICE)) / k->per_call;
					ready_ns[i] = free_ns + WAY;
				}
				say(t, k, true, asked, n);
				asked += n;
			}
		}
		t->now_ns += STEP + random_below(STEP) + (random_below(LATER_ONE_IN) ? 0 : LATER);
		if (t->now_ns < ready_ns[answered])
			t->now_ns = ready_ns[answered];
		for (n = 0;
		     answered + n < asked && n < most && ready_ns[answered + n] <= t->now_ns;)
			n++;
		say(t, k, false, answered, n);
		answered += n;
		drains |= k->silent && !random_below(k->silent);
	}
}

/* ---- what is made of it ---- */

struct result {
	uint64_t made, wrong, lost_why, alone;
	unsigned at; /* the last request paired: they come in order */
};

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	struct result *r = ctx;
	unsigned i = r->at;

	if (!x->paired) {
		r->alone++;
		r->lost_why += x->why == L7_LOST;
		return;
	}
	r->made++;
	while (i < REQUESTS && begin[L7_SENT][i] < x->request->pos)
		i++;
	r->at = i;
	r->wrong += i == REQUESTS || begin[L7_RECEIVED][i] != x->response->pos;
}

static void run(const struct calls *t, const bool *lost, struct result *r, bool late)
{
	const struct l7_conn_opts opts = {
		.role = L7_CLIENT, .server_port = 6379, .late = late, .sink = sink, .ctx = r};

	r->at = 0;
	calls_feed(t, lost, &opts);
}

/* What is lost from the call `known` on. */
static void lose(const struct client *k, unsigned known, unsigned cnt, bool *lost)
{
	unsigned until = 0;

	for (unsigned i = known; i < cnt; i++) {
		if (k->stalls && i >= until && !random_below(1000))
			until = i + 1 + random_below(k->stalls);
		lost[i] = k->stalls ? i < until : !random_below(LOST_ONE_IN);
	}
}

static bool one_client(const struct client *k)
{
	static struct calls t;
	static bool lost[MAX_CALLS];
	struct result all = {0}, whole = {0}, joined = {0}, late = {0}, old = {0}, unheard = {0};
	uint64_t expected = 0, joined_due = 0, late_due = 0, unheard_due = 0;
	bool bad;

	seed = FIRST_SEED;
	for (unsigned s = 0; s < SEEDS; s++) {
		converse(&t, k);
		memset(lost, 0, sizeof(lost));
		run(&t, lost, &whole, false);
		lose(k, k->known ? k->known : KNOWN, t.cnt, lost);
		expected += calls_due(&t, lost);
		run(&t, lost, &all, false);
		/* The same, joined in its middle. */
		memset(lost, true, LATE);
		joined_due += calls_due(&t, lost);
		run(&t, lost, &joined, true);
		memset(lost + LATE, 0, sizeof(lost) - LATE);
		late_due += calls_due(&t, lost);
		run(&t, lost, &late, true);
		/* And the answer that was being read when it was joined. */
		lost[LATE] = lost[LATE + 1 + (t.v[LATE].piece.dir == L7_RECEIVED)] = true;
		lost[LATE] &= t.v[LATE].piece.dir == L7_RECEIVED;
		unheard_due += calls_due(&t, lost);
		run(&t, lost, &unheard, true);
		/* Joined late by a recorder that did not tell what was unread. */
		memset(lost + LATE, 0, sizeof(lost) - LATE);
		for (unsigned i = 0; i < t.cnt; i++)
			t.v[i].piece.unread = L7_UNREAD_UNKNOWN;
		run(&t, lost, &old, true);
		calls_fini(&t);
	}
	bad = whole.made != SEEDS * REQUESTS || whole.wrong || whole.alone || all.wrong ||
	      all.made * 100 < expected * k->floor || !all.lost_why;
	bad |= joined.wrong || late.wrong || old.wrong || unheard.wrong;
	bad |= k->depth == 1 && unheard.made != unheard_due;
	bad |= late.made * 100 < late_due * k->late_floor;
	printf("%-32s %6llu pairs whose calls arrived, %6.2f %% made, %llu wrong; joined late "
	       "%6.2f %%, %llu; that alone %6.2f %%, %llu; unread unknown %6.2f %%, %llu%s\n",
	       k->name, (unsigned long long)expected, 100.0 * all.made / expected,
	       (unsigned long long)all.wrong, 100.0 * joined.made / joined_due,
	       (unsigned long long)joined.wrong, 100.0 * late.made / late_due,
	       (unsigned long long)late.wrong, 100.0 * old.made / late_due,
	       (unsigned long long)old.wrong, bad ? "  FAILED" : "");
	return bad;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
		if (argc < 2 || strstr(clients[i].name, argv[1]))
			failed += one_client(&clients[i]);
	return failed != 0;
}
