/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is held of a connection is bounded, and the work of a message does not grow with those
 * before it, whatever comes: long bodies, gaps with a flood behind them, answers without end, bytes
 * that look like frames everywhere. What is not counted here took minutes where it was not so.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/conn.h"
#include "check.h"

enum {
	MAX_HELD = (1 << 20) + (1 << 16), /* bytes of a direction, and the piece that came last */
	MAX_PIECES = 8200,
};

struct seen {
	unsigned pairs, alone, no_ends;
	uint64_t last_ns, size; /* of the last response */
};

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	struct seen *s = ctx;

	s->pairs += x->paired;
	s->alone += !x->paired;
	if (!x->response)
		return;
	s->no_ends += x->response->no_end;
	s->last_ns = x->response->last_ns;
	s->size = x->response->size;
}

/* A client's connection. */
struct talk {
	struct l7_conn *c;
	struct seen seen;
	uint64_t pos[2], now_ns;
	size_t held, pieces, marks; /* the most there were */
};

static void begin(struct talk *t, uint16_t port)
{
	const struct l7_conn_opts opts = {
		.role = L7_CLIENT, .server_port = port, .sink = sink, .ctx = &t->seen};

	*t = (struct talk){.now_ns = 1000000};
	if (l7_conn__new(&t->c, &opts))
		exit(1);
}

static void end(struct talk *t)
{
	l7_conn__finish(t->c);
	l7_conn__free(t->c);
}

static void most(size_t *a, size_t b)
{
	*a = b > *a ? b : *a;
}

/* A call a microsecond after the one before, `kept` bytes of it kept. */
static void call(struct talk *t, enum l7_dir dir, const char *p, size_t len, size_t kept)
{
	const struct l7_piece piece = {
		.dir = dir, .pos = t->pos[dir], .len = len, .ts_ns = t->now_ns, .data = {p, kept}};

	t->pos[dir] += len;
	t->now_ns += 1000;
	if (l7_conn__feed(t->c, &piece))
		exit(1);
	for (int d = 0; d < 2; d++) {
		most(&t->held, t->c->dir[d].stream.held);
		most(&t->pieces, t->c->dir[d].stream.cnt);
		most(&t->marks, t->c->dir[d].stream.mark_cnt);
	}
}

static void say(struct talk *t, enum l7_dir dir, const char *text)
{
	call(t, dir, text, strlen(text), strlen(text));
}

/* ---- a body of many pieces ---- */

static void long_body(void)
{
	static char segment[1448];
	uint64_t body = 50000 * sizeof(segment), last_ns;
	char head[100];
	struct talk t;

	begin(&t, 80);
	say(&t, L7_SENT, "GET /image HTTP/1.1\r\nHost: a\r\n\r\n");
	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %llu\r\n\r\n",
		 (unsigned long long)body);
	say(&t, L7_RECEIVED, head);
	for (uint64_t at = 0; at < body; at += sizeof(segment))
		call(&t, L7_RECEIVED, segment, sizeof(segment), sizeof(segment));
	last_ns = t.now_ns - 1000;
	/* TCP said its last bytes again. */
	t.pos[L7_RECEIVED] -= sizeof(segment);
	call(&t, L7_RECEIVED, segment, sizeof(segment), sizeof(segment));
	end(&t);
	CHECK(t.marks <= 4, "%zu times of pieces kept", t.marks);
	CHECK(t.seen.pairs == 1 && t.seen.alone == 0 && t.seen.last_ns == last_ns,
	      "ends at %llu, not %llu", (unsigned long long)t.seen.last_ns,
	      (unsigned long long)last_ns);
}

/* ---- a gap that may still be filled ---- */

/* The gap is in the requests, at their front or behind a piece there; the flood is one direction's.
 */
static void flood(bool behind_piece, enum l7_dir dir, size_t kept)
{
	static const char response[] =
		"HTTP/1.1 204 No Content\r\nServer: aaaaaaaaaaaaaaaaaaaa\r\n\r\n";
	static char piece[1000];
	struct talk t;

	memset(piece, 'a', sizeof(piece));
	memcpy(piece, response, sizeof(response) - 1);
	begin(&t, 80);
	say(&t, L7_SENT, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
	say(&t, L7_RECEIVED, response);
	if (behind_piece)
		say(&t, L7_SENT, "GET /a HT");
	t.pos[L7_SENT] += 100;
	say(&t, L7_SENT, "GET /b HTTP/1.1\r\nHost: a\r\n\r\n");
	for (unsigned i = 0; i < 40000; i++)
		call(&t, dir, piece, sizeof(piece), kept);
	CHECK(t.held <= MAX_HELD && t.pieces <= MAX_PIECES,
	      "gap %s, flood %s, %zu of 1000 bytes kept: held %zu bytes, %zu pieces",
	      behind_piece ? "behind a piece" : "at the front",
	      dir == L7_SENT ? "there" : "on the other side", kept, t.held, t.pieces);
	end(&t);
}

/* ---- answers of Redis ---- */

/* An array that no buffer holds: one answer, its elements none. */
static void long_array(void)
{
	enum { ELEMENTS = 400000, CALL = 16380 }; /* begins with an element */
	char *text = malloc(ELEMENTS * 6 + 16), *p = text + sprintf(text, "*%u\r\n", ELEMENTS);
	struct talk t;

	for (unsigned i = 0; i < ELEMENTS; i++)
		p += sprintf(p, ":%03u\r\n", i % 1000);
	begin(&t, 6379);
	say(&t, L7_SENT, "*1\r\n$4\r\nPING\r\n");
	say(&t, L7_RECEIVED, "+PONG\r\n");
	say(&t, L7_SENT, "*4\r\n$6\r\nLRANGE\r\n$1\r\nl\r\n$1\r\n0\r\n$2\r\n-1\r\n");
	for (char *at = text; at < p; at += CALL) {
		size_t sz = p - at < CALL ? p - at : CALL;

		call(&t, L7_RECEIVED, at, sz, sz);
	}
	say(&t, L7_SENT, "*1\r\n$4\r\nPING\r\n");
	say(&t, L7_RECEIVED, "+PONG\r\n");
	end(&t);
	CHECK(t.seen.pairs == 3 && t.seen.alone == 0 && t.seen.no_ends == 1,
	      "%u pairs, %u alone, %u without end", t.seen.pairs, t.seen.alone, t.seen.no_ends);
	free(text);
}

/* Answers held back until their burst is over. */
static void long_burst(void)
{
	enum { BURST = 60000, LOST = 100 };
	struct talk t;

	begin(&t, 6379);
	for (unsigned i = 0; i < 20; i++) {
		say(&t, L7_SENT, "*1\r\n$4\r\nPING\r\n");
		say(&t, L7_RECEIVED, "+PONG\r\n");
	}
	for (unsigned i = 0; i < BURST; i++)
		say(&t, L7_SENT, "*1\r\n$4\r\nPING\r\n");
	t.pos[L7_RECEIVED] += LOST * strlen("+PONG\r\n");
	t.now_ns += 100000000;
	for (unsigned i = LOST; i < BURST; i++)
		say(&t, L7_RECEIVED, "+PONG\r\n");
	for (unsigned i = 0; i < 20; i++) {
		say(&t, L7_SENT, "*1\r\n$4\r\nPING\r\n");
		say(&t, L7_RECEIVED, "+PONG\r\n");
	}
	end(&t);
	CHECK(t.seen.pairs == 20 + BURST - LOST + 20 && t.seen.alone == LOST, "%u pairs, %u alone",
	      t.seen.pairs, t.seen.alone);
}

/* ---- the step of HTTP/2 ---- */

extern const struct l7_protocol l7_http2;

/* 1 MiB in which a frame may begin nearly everywhere, in runs of `run` that end in none. */
static size_t resync(size_t run, size_t *sz)
{
	struct l7_view v;
	uint8_t *p;
	size_t at;

	*sz = 1 << 20;
	p = calloc(1, *sz);
	for (size_t i = 0; i + 9 <= *sz; i += 9)
		p[i + 8] = 1;
	for (size_t i = run * 9; i < *sz; i += run * 9)
		memset(p + i - 9, 0xff, 9);
	memset(p + *sz - 9, 0xff, 9);
	v = (struct l7_view){.p = p, .len = *sz, .known = *sz};
	at = l7_http2.resync(&v, 1);
	free(p);
	return at;
}

static void steps(void)
{
	size_t sz, at = resync(1 << 20, &sz);

	CHECK(at < 16, "so many frames in a row are no chance: found at %zu", at);
	at = resync(60, &sz);
	CHECK(at == sz, "found at %zu of %zu", at, sz);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";

	if (strstr("body", only))
		long_body();
	if (strstr("flood", only))
		for (int i = 0; i < 8; i++)
			flood(i & 1, i & 2 ? L7_SENT : L7_RECEIVED, i & 4 ? 0 : 1000);
	if (strstr("array", only))
		long_array();
	if (strstr("burst", only))
		long_burst();
	if (strstr("step", only))
		steps();
	return failed;
}
