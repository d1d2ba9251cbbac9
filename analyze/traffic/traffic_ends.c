/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/traffic_ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/intern.h"
#include "analyze/traffic/traffic_distance.h"
#include "analyze/traffic/traffic_nat.h"

enum { NEAR_MAX = 64 }; /* candidates examined before and after; more prove nothing */

/* Identifies a connection as seen by one end. */
struct tuple {
	uint32_t transport, capture, local_port, remote_port;
	uint64_t sent, received;
	struct span local, remote;
};

/* An end without a match so far; `tuple` is the number of the first end with the same tuple. */
struct end {
	struct conn *c;
	uint64_t opened_ns;
	uint32_t tuple;
};

/* Ends ordered by tuple and open time, numbered from 1. before[i] and after[i] skip matched ends:
 * they are i itself, or an index closer to the next unmatched end. */
struct ends {
	struct traffic *t;
	bool by_bytes; /* for Unix sockets, whose tuples are seldom unique to a connection */
	struct index ix;
	struct end *v;
	uint32_t *before, *after, cnt;
};

/* The path of either end; an empty path matches any. */
static struct span path_of(const struct conn *c)
{
	return c->rec.local_addr.len ? c->rec.local_addr : c->rec.remote_addr;
}

/* Unix sockets have no ports; process ids are used instead. */
static struct tuple tuple_of(const struct conn *c, bool by_bytes)
{
	if (traffic_is_unix(c))
		return (struct tuple){c->rec.transport,
				      c->capture,
				      c->pid,
				      c->rec.peer_pid,
				      by_bytes ? c->bytes[0] : 0,
				      by_bytes ? c->bytes[1] : 0,
				      path_of(c),
				      path_of(c)};
	return (struct tuple){.transport = c->rec.transport,
			      .local_port = c->rec.local_port,
			      .remote_port = c->rec.remote_port,
			      .local = c->rec.local_addr,
			      .remote = c->rec.remote_addr};
}

static struct tuple mirrored(struct tuple t)
{
	return (struct tuple){t.transport, t.capture, t.remote_port, t.local_port,
			      t.received,  t.sent,    t.remote,	     t.local};
}

static uint64_t tuple_key(const struct tuple *t)
{
	uint64_t h = hash_mix((uint64_t)t->transport << 32 | t->capture);

	h = hash_mix(h ^ ((uint64_t)t->local_port << 32 | t->remote_port));
	h = hash_mix(h ^ t->sent);
	h = hash_mix(h ^ t->received);
	h = hash_mix(h ^ intern_hash(t->local, index_seed));
	return hash_mix(h ^ intern_hash(t->remote, index_seed));
}

static bool tuple_equal(const void *owner, uint32_t i, const void *key)
{
	const struct ends *e = owner;
	const struct tuple a = tuple_of(e->t->conns[i], e->by_bytes), *b = key;

	return a.transport == b->transport && a.capture == b->capture &&
	       a.local_port == b->local_port && a.remote_port == b->remote_port &&
	       a.sent == b->sent && a.received == b->received && span_same(a.local, b->local) &&
	       span_same(a.remote, b->remote);
}

static int by_tuple(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->tuple != y->tuple)
		return x->tuple < y->tuple ? -1 : 1;
	if (x->opened_ns != y->opened_ns)
		return x->opened_ns < y->opened_ns ? -1 : 1;
	if (x->c->capture != y->c->capture)
		return x->c->capture < y->c->capture ? -1 : 1;
	return (x->c->number > y->c->number) - (x->c->number < y->c->number);
}

static bool may_have_other(const struct ends *e, const struct conn *c)
{
	if (c->other || c->rec.shares || c->twice)
		return false;
	if (traffic_is_unix(c))
		return c->pid && c->rec.peer_pid;
	return !e->by_bytes && c->rec.local_addr.len && c->rec.remote_addr.len;
}

static int ends_add(struct ends *e, struct conn *c)
{
	struct tuple key = tuple_of(c, e->by_bytes);
	uint64_t hash = tuple_key(&key);
	uint32_t first;

	if (!index_find(&e->ix, tuple_equal, e, hash, &key, &first)) {
		first = c->number;
		if (index_add(&e->ix, hash, first))
			return -ENOMEM;
	}
	e->v[++e->cnt] = (struct end){c, traffic_real_ns(c, c->rec.opened_ns, 0), first};
	return 0;
}

static int ends_init(struct ends *e, struct traffic *t, bool by_bytes)
{
	size_t sz = t->conn_cnt + 2;

	*e = (struct ends){.t = t, .by_bytes = by_bytes};
	e->v = calloc(sz, sizeof(*e->v));
	e->before = calloc(sz, sizeof(*e->before));
	e->after = calloc(sz, sizeof(*e->after));
	if (!e->v || !e->before || !e->after)
		return -ENOMEM;
	for (size_t i = 0; i < t->conn_cnt; i++)
		if (may_have_other(e, t->conns[i]) && ends_add(e, t->conns[i]))
			return -ENOMEM;
	if (e->cnt)
		qsort(e->v + 1, e->cnt, sizeof(*e->v), by_tuple);
	for (uint32_t i = 0; i <= e->cnt + 1; i++)
		e->before[i] = e->after[i] = i;
	return 0;
}

static void ends_fini(struct ends *e)
{
	index_fini(&e->ix);
	free(e->v);
	free(e->before);
	free(e->after);
}

/* Returns the first unmatched end from i on. 0 or cnt + 1: none. */
static uint32_t unmatched(uint32_t *way, uint32_t i)
{
	while (way[i] != i)
		i = way[i] = way[way[i]];
	return i;
}

/* Returns the index of that tuple, time and capture, or where it would be. */
static uint32_t place_of(const struct ends *e, uint32_t tuple, uint64_t opened_ns,
			 const struct conn *c)
{
	uint32_t from = 1, to = e->cnt + 1;

	while (from < to) {
		uint32_t at = from + (to - from) / 2;
		const struct end *x = &e->v[at];

		if (x->tuple != tuple		? x->tuple < tuple
		    : x->opened_ns != opened_ns ? x->opened_ns < opened_ns
						: x->c->capture < c->capture)
			from = at + 1;
		else
			to = at;
	}
	return from;
}

/* The candidate nearest to c so far. */
struct nearest {
	const struct conn *c;
	uint64_t apart;
	uint32_t place; /* 0: none */
};

static void compare(const struct ends *e, struct nearest *n, uint32_t place)
{
	uint64_t apart = e->v[place].c == n->c ? UINT64_MAX : traffic_distance(n->c, e->v[place].c);

	/* with a socket in several archives, first its ends in the same one */
	if (apart != UINT64_MAX && (n->c->better || n->c->worse) &&
	    n->c->capture != e->v[place].c->capture)
		apart += TRAFFIC_SLACK_NS;
	if (apart < n->apart) {
		n->apart = apart;
		n->place = place;
	}
}

/* Examines ends of the tuple opened at about the same time. */
static void look_around(struct ends *e, struct nearest *n, uint32_t tuple, uint64_t opened_ns)
{
	uint32_t at = place_of(e, tuple, opened_ns, n->c), i = at;

	for (int seen = 0; seen < NEAR_MAX; seen++, i++) {
		i = unmatched(e->after, i);
		if (i > e->cnt || e->v[i].tuple != tuple)
			break;
		compare(e, n, i);
	}
	i = at;
	for (int seen = 0; seen < NEAR_MAX; seen++) {
		i = unmatched(e->before, i - 1);
		if (!i || e->v[i].tuple != tuple)
			break;
		compare(e, n, i);
	}
}

static void take_out(struct ends *e, uint32_t place)
{
	e->before[place] = place - 1;
	e->after[place] = place + 1;
}

static void find_other(struct ends *e, uint32_t place)
{
	struct conn *c = e->v[place].c, *d;
	struct tuple tuple = tuple_of(c, e->by_bytes), key = mirrored(tuple);
	struct nearest n = {.c = c, .apart = UINT64_MAX};
	uint32_t there;

	if (c->other || !index_find(&e->ix, tuple_equal, e, tuple_key(&key), &key, &there))
		return;
	look_around(e, &n, there, e->v[place].opened_ns);
	if (e->v[place].opened_ns) /* others may have an unknown open time */
		look_around(e, &n, there, 0);
	if (!n.place)
		return;
	d = e->v[n.place].c;
	c->other = d->number + 1;
	d->other = c->number + 1;
	take_out(e, place);
	take_out(e, n.place);
}

static int find_others(struct traffic *t, bool by_bytes)
{
	struct ends e;
	int err = ends_init(&e, t, by_bytes);

	for (uint32_t i = 1; i <= e.cnt && !err; i++)
		find_other(&e, i);
	ends_fini(&e);
	return err;
}

static bool mirrors_bytes(const struct conn *a, const struct conn *b)
{
	return a->bytes[0] == b->bytes[1] && a->bytes[1] == b->bytes[0];
}

/* Both sockets of a socketpair name the process that created them, and have consecutive inodes. */
static int by_inode(const void *a, const void *b)
{
	const struct conn *x = *(const struct conn *const *)a, *y = *(const struct conn *const *)b;

	if (x->capture != y->capture)
		return x->capture < y->capture ? -1 : 1;
	return (x->rec.cookie > y->rec.cookie) - (x->rec.cookie < y->rec.cookie);
}

static int find_socketpairs(struct traffic *t)
{
	struct conn **v = NULL;
	size_t cnt = 0, cap = 0;

	for (size_t i = 0; i < t->conn_cnt; i++) {
		struct conn *c = t->conns[i];

		if (!traffic_is_unix(c) || c->other || c->rec.shares || path_of(c).len ||
		    !c->rec.cookie)
			continue;
		if (array_reserve(&v, &cap, cnt + 1)) {
			free(v);
			return -ENOMEM;
		}
		v[cnt++] = c;
	}
	if (cnt)
		qsort(v, cnt, sizeof(*v), by_inode);
	for (size_t i = 0; i + 1 < cnt; i++) {
		struct conn *a = v[i], *b = v[i + 1];

		if (a->capture != b->capture || a->rec.cookie + 1 != b->rec.cookie ||
		    a->rec.transport != b->rec.transport || a->rec.peer_pid != b->rec.peer_pid ||
		    !mirrors_bytes(a, b))
			continue;
		a->other = b->number + 1;
		b->other = a->number + 1;
		i++;
	}
	free(v);
	return 0;
}

/* Unix sockets between the same two processes are matched by byte counts, otherwise by times. */
int traffic_find_ends(struct traffic *t)
{
	int err = find_others(t, true);

	if (!err)
		err = find_others(t, false);
	if (!err)
		err = traffic_find_translated(t);
	return err ? err : find_socketpairs(t);
}
