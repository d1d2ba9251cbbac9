/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_undecided.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Limits per connection, and for all. */
enum { PIECES_MAX = 64, HELD_MAX = 1 << 18 };
#define POOL_MAX (64u << 20)

struct piece {
	struct piece *next;
	int dir;
	uint64_t pos, ts_ns;
	uint32_t seq, len;
	size_t kept;
	char data[];
};

struct undecided {
	struct undecided_pool *pool;
	struct l7_conn *l7;
	struct piece *first, **end, *taken;
	uint32_t cnt;
	uint64_t held, counted; /* counted: bytes counted in the pool */
};

static void no_sink(void *ctx, struct l7_conn *conn, const struct l7_exchange *x)
{
}

int undecided__new(struct undecided **out, struct undecided_pool *pool, enum l7_role guess,
		   uint16_t port)
{
	const struct l7_conn_opts opts = {
		.role = guess,
		.server_port = port,
		.late = true,
		.open = true,
		.sink = no_sink,
		.arena = &pool->arena,
	};
	struct undecided *u = calloc(1, sizeof(*u));
	int err = u ? l7_conn__new(&u->l7, &opts) : -ENOMEM;

	if (err) {
		free(u);
		return err;
	}
	u->pool = pool;
	u->end = &u->first;
	*out = u;
	return 0;
}

static void account(struct undecided *u)
{
	uint64_t now = u->held + (u->l7 ? l7_conn__held(u->l7) : 0);

	u->pool->held += now - u->counted;
	u->counted = now;
}

int undecided__add(struct undecided *u, int dir, uint64_t pos, const struct tcp_segment *s,
		   bool datagram)
{
	const struct l7_piece piece = {
		.dir = dir ? L7_RECEIVED : L7_SENT,
		.pos = pos,
		.len = s->len,
		.ts_ns = s->ts_ns,
		.data = s->data,
		.datagram = datagram,
	};
	struct piece *p = malloc(sizeof(*p) + s->data.len);
	int err = 0;

	if (!p)
		return -ENOMEM;
	*p = (struct piece){NULL, dir, pos, s->ts_ns, s->seq, s->len, s->data.len};
	if (s->data.len)
		memcpy(p->data, s->data.p, s->data.len);
	*u->end = p;
	u->end = &p->next;
	u->cnt++;
	u->held += sizeof(*p) + p->kept;
	if (s->len)
		err = l7_conn__feed(u->l7, &piece);
	account(u);
	return err;
}

bool undecided__over(const struct undecided *u)
{
	return l7_conn__protocol(u->l7) || u->cnt >= PIECES_MAX || u->held > HELD_MAX ||
	       u->pool->held > POOL_MAX;
}

enum l7_role undecided__role(struct undecided *u)
{
	if (!l7_conn__protocol(u->l7))
		l7_conn__finish(u->l7);
	return l7_conn__protocol(u->l7) ? l7_conn__role(u->l7) : L7_ROLE_UNKNOWN;
}

bool undecided__next(struct undecided *u, int *dir, uint64_t *pos, struct tcp_segment *s)
{
	struct piece *p = u->first;

	free(u->taken);
	u->taken = p;
	if (!p)
		return false;
	u->first = p->next;
	if (!u->first)
		u->end = &u->first;
	*dir = p->dir;
	*pos = p->pos;
	*s = (struct tcp_segment){p->seq, p->len, {p->data, p->kept}, p->ts_ns};
	return true;
}

void undecided__free(struct undecided *u)
{
	if (!u)
		return;
	for (struct piece *p = u->first, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	free(u->taken);
	l7_conn__free(u->l7);
	u->pool->held -= u->counted;
	free(u);
}
