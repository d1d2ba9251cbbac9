/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends of connections: their names, and what payload tells about them. Ends whose TCP sequence
 * numbers contradict each other are separated again.
 */
#include <stdlib.h>

#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_clocks.h"
#include "analyze/traffic/traffic_datagrams.h"
#include "analyze/traffic/traffic_distance.h"
#include "analyze/traffic/traffic_ends.h"
#include "analyze/traffic/traffic_names.h"
#include "analyze/traffic/traffic_twice.h"

#define SEQ_SLACK (1u << 20)

static void find_shared(struct traffic *t)
{
	for (size_t i = 0; i < t->conn_cnt; i++) {
		struct conn *c = t->conns[i], *own;

		own = c->rec.shares ? traffic_known_conn(t, c->capture, c->rec.shares) : NULL;
		c->shares = own && own != c ? own->number + 1 : 0;
	}
}

/* A name of --services for what a process listens on. */
struct listener {
	uint32_t capture, process, port, name;
};

static int by_process(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;

	if (x->capture != y->capture)
		return x->capture < y->capture ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int by_port(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;
	int d = by_process(a, b);

	return d ? d : x->port < y->port ? -1 : x->port > y->port;
}

/* One of each process: that of the lowest port. */
static size_t keep_first(struct listener *v, size_t cnt)
{
	size_t left = 0;

	if (cnt)
		qsort(v, cnt, sizeof(*v), by_port);
	for (size_t i = 0; i < cnt; i++)
		if (!left || by_process(&v[left - 1], &v[i]))
			v[left++] = v[i];
	return left;
}

/* A process has one name, that of its listener, for the calls it makes, too. */
static int name_processes(struct traffic *t)
{
	struct listener *v = NULL;
	size_t cnt = 0, cap = 0;
	int err = 0;

	for (size_t i = 0; i < t->conn_cnt && !err; i++) {
		struct conn *c = t->conns[i];
		uint32_t name = traffic_listener_name(t, c);

		c->service = name ? name : traffic_own_name(t, c);
		if (!name || !c->rec.process)
			continue;
		err = array_reserve(&v, &cap, cnt + 1);
		if (!err)
			v[cnt++] = (struct listener){c->capture, c->rec.process, c->rec.local_port,
						     name};
	}
	cnt = keep_first(v, cnt);
	for (size_t i = 0; i < t->conn_cnt && cnt && !err; i++) {
		struct conn *c = t->conns[i];
		const struct listener key = {c->capture, c->rec.process, 0, 0},
				      *own = bsearch(&key, v, cnt, sizeof(*v), by_process);

		if (own && !traffic_listener_name(t, c))
			c->service = own->name;
	}
	for (size_t i = 0; i < t->conn_cnt && !err; i++)
		t->conns[i]->service = traffic_split_name(t, t->conns[i], t->conns[i]->service);
	free(v);
	return err;
}

static uint32_t peer_name(struct traffic *t, const struct conn *c)
{
	const struct conn *other;
	uint32_t service = traffic_service_name(t, c->rec.remote_addr, c->rec.remote_port);

	/* A client may be named by what it listens on. */
	if (c->other && c->rec.role == ROLE_SERVER)
		return t->conns[c->other - 1]->service;
	if (t->load->opts.traffic.by == BY_CALLER_client && c->rec.role == ROLE_SERVER &&
	    c->rec.remote_addr.len && !traffic_is_unix(c))
		return strings__add(t->strings, c->rec.remote_addr);
	if (service)
		return service;
	if (c->shares && !c->other)
		c = t->conns[c->shares - 1];
	if (c->other)
		return t->conns[c->other - 1]->service;
	if (c->rec.peer_pid)
		return traffic_pid_name(t, c);
	other = traffic_datagram_other(c, c->rec.remote_addr, c->rec.remote_port, 0);
	if (other)
		return other->service;
	return traffic_address_name(t, c, c->rec.remote_addr, c->rec.remote_port);
}

int traffic_find_sides(struct traffic *t)
{
	int err;

	if (t->sides_known)
		return 0;
	t->sides_known = true;
	for (size_t i = 0; i < t->conn_cnt; i++)
		if (traffic_is_unix(t->conns[i]))
			t->conns[i]->pid = traffic_pid(t, t->conns[i]);
	find_shared(t);
	err = traffic_find_twice(t);
	if (!err)
		err = traffic_find_ends(t);
	if (!err)
		err = traffic_index_ports(t);
	if (!err)
		err = name_processes(t);
	for (size_t i = 0; i < t->conn_cnt && !err; i++)
		t->conns[i]->peer = peer_name(t, t->conns[i]);
	return err ? err : strings__failed(t->strings);
}

void traffic_anchor(struct conn *c, const struct rec_payload *r)
{
	enum l7_dir dir = r->direction ? L7_RECEIVED : L7_SENT;

	if (!r->tcp_seq)
		return;
	if (!c->anchored[dir]) {
		c->anchored[dir] = true;
		c->anchor[dir] = r->tcp_seq - (uint32_t)r->position;
	}
	if (!c->other || c->traffic->conns[c->other - 1]->capture == c->capture)
		return;
	if (!c->marks)
		c->marks = calloc(1, sizeof(*c->marks));
	if (c->marks)
		marks_add(c->marks, dir, (struct mark){r->tcp_seq + r->len, r->ts_ns});
}

/* If both ends know the stream position, the positions must agree. They are relative to where each
 * end was first seen. */
static bool contradict(const struct conn *a, const struct conn *b, enum l7_dir dir)
{
	enum l7_dir back = dir == L7_SENT ? L7_RECEIVED : L7_SENT;
	uint64_t moved = a->bytes[dir] > b->bytes[back] ? a->bytes[dir] : b->bytes[back];
	int32_t apart = a->anchor[dir] - b->anchor[back];

	if (!a->anchored[dir] || !b->anchored[back] || moved > INT32_MAX / 2)
		return false;
	return (uint64_t)(apart < 0 ? -(int64_t)apart : apart) > moved + SEQ_SLACK;
}

void traffic_check_sides(struct traffic *t)
{
	for (size_t i = 0; i < t->conn_cnt; i++) {
		struct conn *c = t->conns[i], *d = c->other ? t->conns[c->other - 1] : NULL;

		if (!d || (!contradict(c, d, L7_SENT) && !contradict(c, d, L7_RECEIVED)))
			continue;
		c->other = d->other = 0;
		c->peer = peer_name(t, c);
		d->peer = peer_name(t, d);
	}
}

/* Of two ends the one that saw more complete messages is counted, so that an end with losses is not
 * preferred for having more calls. Then the one with more halves, then the client's. */
bool traffic_counted(const struct conn *c)
{
	const struct conn *d = c->other ? c->traffic->conns[c->other - 1] : NULL;

	if (!d)
		return true;
	if (c->whole != d->whole)
		return c->whole > d->whole;
	if (c->messages != d->messages)
		return c->messages > d->messages;
	if (c->rec.role != d->rec.role && (c->rec.role || d->rec.role))
		return c->rec.role == ROLE_CLIENT || d->rec.role == ROLE_SERVER;
	return c->number < d->number;
}
