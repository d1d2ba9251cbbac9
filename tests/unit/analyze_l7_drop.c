/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real conversations of tests/l7, repeated to some thousand calls, of which one in a hundred is
 * lost (fixed seeds). Without losses each pair is known; with them, of the pairs whose calls all
 * arrived 97 % at least are to be made, and none that is not among them but one in ten thousand.
 */
#include "l7_case.h"

enum { CALLS = 6000, SEEDS = 5, LOST_ONE_IN = 100 };

/* Conversations that can follow one another on a connection. `floor`: percent to be made. */
static const struct {
	const char *name;
	unsigned floor;
} cases[] = {
	/* clang-format off */
	{"http1/pipelined", 97},
	{"http1/wrk", 97},
	{"http1/wrk-pipelined", 97},
	{"http2/h2load", 97},
	{"kafka/consume", 97},
	{"kafka/group", 97},
	{"http2/grpc", 97},
	{"redis/basic", 97},
	{"redis/benchmark", 97},
	{"mysql/late", 97},
	{"postgresql/late", 97},
	{"thrift/framed", 97},
	{"thrift/unframed", 97},
	{"thrift/compact", 97},
	{"thrift/framed-compact", 97},
	{"thrift/old", 97},
	{"thrift/framed-old", 97},
	{"thrift/header", 97},
	{"thrift/ids", 97},
	{"brpc/basic", 97},
	{"mongodb/plain", 97},
	{"amqp/late", 97},
	{"dubbo/node", 97},
	{"nats/basic", 97},
	{"memcached/basic", 97},
	{"memcached/noreply", 97},
	{"memcached/meta", 97},
	{"memcached/binary", 97},
	{"cassandra/late", 97},
	{"cassandra/late-v5", 97},
	{"mqtt/v5-pub-q1", 97},
	{"mqtt/v5-pub-q2", 97},
	{"mqtt/late-v311", 97},
	{"mqtt/late-v5", 97},
	{"dns/asked-once", 97},
	{"dns/tcp", 97},
	/* clang-format on */
};

struct span_ns {
	uint64_t from, to;
};

struct made {
	struct span_ns request, response;
	bool sent; /* the request */
};

struct list {
	struct made *v;
	size_t cnt, cap;
};

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	struct list *l = ctx;

	if (!x->paired)
		return;
	if (l->cnt == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 1024;
		l->v = realloc(l->v, l->cap * sizeof(*l->v));
		if (!l->v)
			exit(1);
	}
	l->v[l->cnt++] = (struct made){.request = {x->request->first_ns, x->request->last_ns},
				       .response = {x->response->first_ns, x->response->last_ns},
				       .sent = x->request->dir == L7_SENT};
}

static uint64_t seed;

static uint64_t random_u64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1d >> 20;
}

/* The case again and again; calls whose `lost` is set never arrive. Each has its own time: its
 * number in milliseconds, from 1 on. */
static struct list converse(const struct l7_case *k, const bool *lost, size_t calls)
{
	struct list made = {0};
	const struct l7_conn_opts opts = {
		.role = k->role, .server_port = k->port, .sink = sink, .ctx = &made};
	uint64_t pos[2] = {0, 0};
	struct l7_conn *c;

	if (l7_conn__new(&c, &opts))
		exit(1);
	for (size_t i = 0; i < calls; i++) {
		struct l7_piece p = k->v[i % k->cnt].piece;

		p.pos = pos[p.dir];
		pos[p.dir] += p.len;
		p.ts_ns = (i + 1) * 1000000;
		if (!lost[i])
			l7_conn__feed(c, &p);
	}
	l7_conn__finish(c);
	l7_conn__free(c);
	return made;
}

/* By where they begin: what is lost of a message of known length moves its end's time alone. */
static int by_request(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	if (x->request.from != y->request.from)
		return x->request.from < y->request.from ? -1 : 1;
	return (x->response.from > y->response.from) - (x->response.from < y->response.from);
}

/* Was a call of that direction lost in that time? */
static bool arrived(const struct l7_case *k, const bool *lost, struct span_ns s, bool sent)
{
	for (uint64_t i = s.from / 1000000; i <= s.to / 1000000; i++)
		if (i && lost[i - 1] && (k->v[(i - 1) % k->cnt].piece.dir == L7_SENT) == sent)
			return false;
	return true;
}

/* The right pair, of whose response the first calls were lost? */
static bool is_right(const struct list *truth, size_t near, const struct made *m, uint64_t after_ns)
{
	for (size_t i = near < 64 ? 0 : near - 64; i < truth->cnt && i < near + 64; i++)
		if (truth->v[i].request.from == m->request.from &&
		    truth->v[i].response.from <= m->response.from &&
		    truth->v[i].response.to + after_ns >= m->response.from)
			return true;
	return false;
}

/* The figures of one protocol's case, over all seeds. */
struct figures {
	size_t due, made, wrong;
	unsigned after;
};

static void one_seed(const struct l7_case *k, size_t calls, const struct list *truth,
		     struct figures *f)
{
	bool *lost = calloc(calls, 1), wrong;
	struct list made;

	/* Of a connection that is known by then. */
	for (size_t i = k->cnt < calls ? k->cnt : 2; i < calls; i++)
		lost[i] = random_u64() % LOST_ONE_IN == 0;
	made = converse(k, lost, calls);
	if (made.cnt)
		qsort(made.v, made.cnt, sizeof(*made.v), by_request);
	/* Both lists sorted: what both have, what only one has. */
	for (size_t i = 0, j = 0; i < truth->cnt || j < made.cnt;) {
		int order = i == truth->cnt ? 1
			    : j == made.cnt ? -1
					    : by_request(&truth->v[i], &made.v[j]);
		bool due = order <= 0 && arrived(k, lost, truth->v[i].request, truth->v[i].sent) &&
			   arrived(k, lost, truth->v[i].response, !truth->v[i].sent);

		f->due += due;
		f->made += due && !order;
		wrong = order > 0 && !is_right(truth, i, &made.v[j], f->after * 1000000);
		f->wrong += wrong;
		if (wrong && getenv("VERBOSE"))
			printf("wrong: %llu..%llu -> %llu..%llu\n",
			       (unsigned long long)made.v[j].request.from / 1000000,
			       (unsigned long long)made.v[j].request.to / 1000000,
			       (unsigned long long)made.v[j].response.from / 1000000,
			       (unsigned long long)made.v[j].response.to / 1000000);
		i += order <= 0;
		j += order >= 0;
	}
	free(made.v);
	free(lost);
}

/* Numbers that a connection uses once (streams, correlation ids) must not come again: those go from
 * the beginning each time. */
static bool repeats(const char *name)
{
	if (!strncmp(name, "kafka/", 6))
		return false;
	return strncmp(name, "http2/", 6) && strncmp(name, "brpc/", 5) &&
	       strncmp(name, "dns/", 4) && strncmp(name, "nats/", 5) &&
	       strncmp(name, "mongodb/", 8) && strncmp(name, "dubbo/", 6) &&
	       strcmp(name, "thrift/ids");
}

static int one_case(const char *name, unsigned floor)
{
	/* The frame behind a response that resets its stream stands for it where it was lost. */
	struct figures f = {.after = !strcmp(name, "http2/grpc")};
	struct list truth;
	struct l7_case k;
	char path[256];
	size_t calls;
	bool *none, bad;

	snprintf(path, sizeof(path), "tests/l7/%s.in", name);
	if (!l7_case_read(&k, path) || !k.cnt)
		return printf("%s: not there\n", path), 1;
	calls = repeats(name) ? CALLS / k.cnt * k.cnt : k.cnt;
	none = calloc(calls, 1);
	truth = converse(&k, none, calls);
	qsort(truth.v, truth.cnt, sizeof(*truth.v), by_request);
	seed = 0x9e3779b97f4a7c15;
	for (size_t i = 0; i < (calls == k.cnt ? SEEDS * CALLS / k.cnt : SEEDS); i++)
		one_seed(&k, calls, &truth, &f);
	bad = !truth.cnt || f.made * 100 < f.due * floor || f.wrong * 10000 > f.due;
	printf("%-22s %7zu pairs whose calls arrived, %6.2f %% made, %zu wrong%s\n", name, f.due,
	       f.due ? 100.0 * f.made / f.due : 0, f.wrong, bad ? "  FAILED" : "");
	free(truth.v);
	free(none);
	l7_case_fini(&k);
	return bad;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc < 2 || strstr(cases[i].name, argv[1]))
			failed += one_case(cases[i].name, cases[i].floor);
	return failed != 0;
}
