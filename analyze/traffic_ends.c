/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic_ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "traffic_distance.h"
#include "traffic_nat.h"

struct tuple {
	uint32_t transport, local_port, remote_port;
	struct span local, remote;
};

static struct tuple tuple_of(const struct conn *c)
{
	if (traffic_is_unix(c))
		return (struct tuple){.transport = c->rec.transport,
				      .local_port = c->pid,
				      .remote_port = c->rec.peer_pid};
	return (struct tuple){c->rec.transport, c->rec.local_port, c->rec.remote_port,
			      c->rec.local_addr, c->rec.remote_addr};
}

static struct tuple mirrored(struct tuple t)
{
	return (struct tuple){t.transport, t.remote_port, t.local_port, t.remote, t.local};
}

static uint64_t tuple_key(const struct tuple *t)
{
	uint64_t h = hash_mix((uint64_t)t->transport << 32 | t->local_port << 16 | t->remote_port);

	h = hash_mix(h ^ intern_hash(t->local, index_seed));
	return hash_mix(h ^ intern_hash(t->remote, index_seed));
}

static uint64_t tuple_hash(const void *owner, uint32_t i)
{
	struct tuple t = tuple_of(((const struct traffic *)owner)->conns[i]);

	return tuple_key(&t);
}

static bool tuple_equal(const void *owner, uint32_t i, const void *key)
{
	const struct tuple a = tuple_of(((const struct traffic *)owner)->conns[i]), *b = key;

	return a.transport == b->transport && a.local_port == b->local_port &&
	       a.remote_port == b->remote_port && span_same(a.local, b->local) &&
	       span_same(a.remote, b->remote);
}

static const struct index_ops tuple_ops = {tuple_hash, tuple_equal};

/* Connections of one tuple hang in a chain from the first. */
static int index_tuples(struct traffic *t, struct index *ix)
{
	int err = 0;

	for (size_t i = 0; i < t->conn_cnt && !err; i++) {
		struct conn *c = t->conns[i];
		struct tuple key = tuple_of(c);
		uint64_t hash = tuple_key(&key);
		uint32_t first;

		if (index_find(ix, &tuple_ops, t, hash, &key, &first)) {
			c->next = t->conns[first]->next;
			t->conns[first]->next = i + 1;
		} else {
			err = index_add(ix, &tuple_ops, t, hash, i);
		}
	}
	return err;
}

/* The path of either end; those without match any. */
static struct span path_of(const struct conn *c)
{
	return c->rec.local_addr.len ? c->rec.local_addr : c->rec.remote_addr;
}

static bool mirrors_bytes(const struct conn *a, const struct conn *b)
{
	return a->bytes[0] == b->bytes[1] && a->bytes[1] == b->bytes[0];
}

/* Of Unix sockets between the same two processes: bytes tell which belong together, else times. */
static uint64_t unix_distance(const struct conn *a, const struct conn *b)
{
	uint64_t apart = traffic_distance(a, b);

	if (apart == UINT64_MAX || a->capture != b->capture || !span_same(path_of(a), path_of(b)))
		return UINT64_MAX;
	return mirrors_bytes(a, b) ? apart / 2 : apart / 2 + (1ull << 62);
}

/* Both sockets of a socketpair name who made them, and were made one after the other. */
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

		if (!traffic_is_unix(c) || c->other || c->rec.shares || path_of(c).len || !c->rec.cookie)
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

static void find_other(struct traffic *t, const struct index *ix, struct conn *c)
{
	struct tuple tuple = tuple_of(c), key = mirrored(tuple);
	uint64_t best = UINT64_MAX;
	struct conn *found = NULL;
	uint32_t i;

	if (c->other || c->rec.shares ||
	    (traffic_is_unix(c) ? !c->pid || !c->rec.peer_pid
				: !tuple.remote.len || !tuple.local.len) ||
	    !index_find(ix, &tuple_ops, t, tuple_key(&key), &key, &i))
		return;
	for (uint32_t n = i + 1; n; n = t->conns[n - 1]->next) {
		struct conn *d = t->conns[n - 1];
		uint64_t apart = d == c || d->other || d->rec.shares ? UINT64_MAX
				 : traffic_is_unix(c) ? unix_distance(c, d)
						      : traffic_distance(c, d);

		if (apart < best) {
			best = apart;
			found = d;
		}
	}
	if (!found)
		return;
	c->other = found->number + 1;
	found->other = c->number + 1;
}

int traffic_find_ends(struct traffic *t)
{
	struct index ix = {0};
	int err = index_tuples(t, &ix);

	for (size_t i = 0; i < t->conn_cnt && !err; i++)
		find_other(t, &ix, t->conns[i]);
	index_fini(&ix);
	if (!err)
		err = traffic_find_translated(t);
	return err ? err : find_socketpairs(t);
}
