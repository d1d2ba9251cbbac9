/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every conversation of tests/l7, with and without lost calls, once as it is and once with the
 * connection put to rest after each call: both give the same messages. At rest it takes little.
 */
#include <glob.h>

#include "analyze/l7/engine/arena.h"
#include "check.h"
#include "l7_case.h"

static size_t rests;

static void put(FILE *out, const struct l7_message *m)
{
	if (m)
		fprintf(out, "%d %d %lu %lu %lu %u|%.*s|%.*s|%.*s|%.*s\n", m->type, m->is_error,
			m->first_ns, m->last_ns, m->size, m->peer, (int)m->method.len, m->method.p,
			(int)m->target.len, m->target.p, (int)m->status.len, m->status.p,
			(int)m->detail.len, m->detail.p);
}

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	FILE *out = ctx;

	fprintf(out, "%d %d %d\n", x->paired, x->paired ? 0 : x->why, l7_conn__role(c));
	put(out, x->request);
	put(out, x->response);
}

static struct l7_conn *rest_and_wake(struct l7_conn *c)
{
	size_t held = l7_conn__held(c);
	struct l7_rest *r = l7_conn__rest(c);

	if (!r)
		return c;
	rests++;
	CHECK(l7_rest__held(r) <= held, "%zu of %zu bytes", l7_rest__held(r), held);
	c = l7_rest__wake(r);
	if (!c)
		exit(1);
	return c;
}

/* What a case gives when each n-th call is lost (0: none). Malloc'ed. */
static char *converse(const struct l7_case *k, size_t lost, bool rest)
{
	struct arena arena = {0};
	size_t sz;
	char *text = NULL;
	FILE *out = open_memstream(&text, &sz);
	const struct l7_conn_opts opts = {.role = k->role,
					  .server_port = k->port,
					  .open = k->open,
					  .sink = sink,
					  .ctx = out,
					  .args = k->args,
					  .arg_cnt = k->arg_cnt,
					  .arena = &arena};
	struct l7_stats st;
	struct l7_conn *c;

	if (!out || l7_conn__new(&c, &opts))
		exit(1);
	for (size_t i = 0; i < k->cnt; i++) {
		if (!k->v[i].lost && (!lost || i % lost))
			CHECK(!l7_conn__feed(c, &k->v[i].piece));
		if (rest)
			c = rest_and_wake(c);
	}
	l7_conn__finish(c);
	st = l7_conn__stats(c);
	fprintf(out, "%lu %lu %lu %lu %lu %lu\n", st.messages, st.paired, st.unpaired, st.holes,
		st.bad, st.missing);
	l7_conn__free(c);
	arena_fini(&arena);
	fclose(out);
	return text;
}

static void check_case(const char *path)
{
	struct l7_case k;

	if (!l7_case_read(&k, path))
		exit(1);
	for (size_t lost = 0; lost < 12; lost += lost ? 3 : 2) {
		char *awake = converse(&k, lost, false), *rested = converse(&k, lost, true);

		CHECK(!strcmp(awake, rested), "%s, each %zu-th lost", path, lost);
		free(awake);
		free(rested);
	}
	l7_case_fini(&k);
}

/* One that was answered and waits for nothing. */
static void check_size(void)
{
	struct arena arena = {0};
	const struct l7_conn_opts opts = {
		.role = L7_SERVER, .sink = sink, .arena = &arena, .ctx = fopen("/dev/null", "w")};
	static const char *const calls[] = {"*1\r\n$4\r\nPING\r\n", "+PONG\r\n"};
	uint64_t pos[2] = {0, 0};
	struct l7_rest *r;
	struct l7_conn *c;

	if (!opts.ctx || l7_conn__new(&c, &opts))
		exit(1);
	for (size_t i = 0; i < 20; i++) {
		enum l7_dir dir = i % 2 ? L7_SENT : L7_RECEIVED;
		struct span data = {calls[i % 2], strlen(calls[i % 2])};
		const struct l7_piece p = {.dir = dir,
					   .pos = pos[dir],
					   .len = data.len,
					   .ts_ns = 1 + i * 1000000,
					   .data = data};

		pos[dir] += data.len;
		CHECK(!l7_conn__feed(c, &p));
	}
	r = l7_conn__rest(c);
	CHECK(r);
	if (!r)
		return;
	CHECK(l7_rest__held(r) < 320, "%zu bytes", l7_rest__held(r));
	l7_conn__free(l7_rest__wake(r));
	arena_fini(&arena);
	fclose(opts.ctx);
}

int main(void)
{
	glob_t g;

	if (glob("tests/l7/*/*.in", 0, NULL, &g))
		return printf("no cases\n"), 1;
	for (size_t i = 0; i < g.gl_pathc; i++)
		check_case(g.gl_pathv[i]);
	CHECK(rests > 10 * g.gl_pathc, "%zu rests", rests);
	check_size();
	globfree(&g);
	return failed;
}
