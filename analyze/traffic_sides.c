/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is at both ends of a connection, and which other connection of the archives is its other end:
 * that of the mirrored addresses, in the same network namespace when the addresses mean something
 * there only, alive at the same time when both clocks are one; what TCP's sequence numbers
 * contradict is taken apart again. Unix sockets have no addresses: their ends name each other's
 * process, those of a socketpair the process that made both.
 */
#include "traffic.h"

#include <errno.h>
#include <string.h>

#include "../format/text.h"
#include "intern.h"
#include "services.h"

#define SLACK_NS 1000000000ull /* an end may be seen opened or closed this much later */
#define SEQ_SLACK (1u << 20)

/* ---- names ---- */

static void process_name(struct traffic *t, int64_t row, char *buf, size_t sz)
{
	const char *comm, *container;

	*buf = 0;
	sqlite3_bind_int64(t->process, 1, row);
	if (sqlite3_step(t->process) == SQLITE_ROW) {
		comm = (const char *)sqlite3_column_text(t->process, 0);
		container = (const char *)sqlite3_column_text(t->process, 1);
		if (container && *container)
			snprintf(buf, sz, "%.12s/%s", container, comm ? comm : "");
		else
			snprintf(buf, sz, "%s", comm ? comm : "");
	}
	sqlite3_reset(t->process);
}

static uint32_t pid_of(struct traffic *t, const struct conn *c)
{
	uint32_t pid = 0;

	sqlite3_bind_int64(t->process, 1, capture_row(c->capture, c->rec.process));
	if (c->rec.process && sqlite3_step(t->process) == SQLITE_ROW)
		pid = sqlite3_column_int64(t->process, 2);
	sqlite3_reset(t->process);
	return pid;
}

static bool looks_clean(struct span s)
{
	return s.p && s.len;
}

static uint32_t own_name(struct traffic *t, const struct conn *c)
{
	const struct service *s = services__find(t->load->opts.traffic.services, c->rec.local_addr,
						 c->rec.local_port);
	char name[128] = "";

	if (s)
		return strings__add(t->strings, span_of(s->name));
	if (c->rec.process)
		process_name(t, capture_row(c->capture, c->rec.process), name, sizeof(name));
	if (*name)
		return strings__add(t->strings, span_of(name));
	if (looks_clean(c->rec.local_addr))
		return strings__add(t->strings, c->rec.local_addr);
	return strings__add(t->strings, span_of("[unknown]"));
}

/* ADDRESS, or ADDRESS:PORT when it is that of a server. */
static uint32_t address_name(struct traffic *t, const struct conn *c, struct span a, uint32_t port)
{
	char text[300];

	if (!looks_clean(a))
		return strings__add(t->strings, span_of("[unknown]"));
	if (c->rec.role == ROLE_SERVER || !port)
		return strings__add(t->strings, a);
	snprintf(text, sizeof(text), memchr(a.p, ':', a.len) ? "[%.*s]:%u" : "%.*s:%u",
		 (int)(a.len < 256 ? a.len : 256), a.p, port);
	return strings__add(t->strings, span_of(text));
}

/* ADDRESS:PORT or [ADDRESS]:PORT, as records write it. */
static struct span split_port(struct span s, uint32_t *port)
{
	const char *colon = s.len ? memrchr(s.p, ':', s.len) : NULL;
	uint64_t n = 0;

	*port = 0;
	if (!colon)
		return s;
	for (const char *p = colon + 1; p < s.p + s.len && *p >= '0' && *p <= '9' && n < 65536; p++)
		n = n * 10 + (*p - '0');
	*port = n < 65536 ? n : 0;
	s.len = colon - s.p;
	if (s.len > 1 && *s.p == '[' && s.p[s.len - 1] == ']')
		s = (struct span){s.p + 1, s.len - 2};
	return s;
}

/* Of a Unix socket: the process of that pid in the same capture. */
static uint32_t pid_name(struct traffic *t, const struct conn *c)
{
	sqlite3_stmt *stmt = NULL;
	char name[128] = "";

	if (!sqlite3_prepare_v2(store__db(t->load->store),
				"SELECT id FROM process WHERE pid = ? AND capture_id = ? "
				"ORDER BY started_ns DESC LIMIT 1",
				-1, &stmt, NULL)) {
		sqlite3_bind_int64(stmt, 1, c->rec.peer_pid);
		sqlite3_bind_int64(stmt, 2, capture_id(c->capture));
		if (sqlite3_step(stmt) == SQLITE_ROW)
			process_name(t, sqlite3_column_int64(stmt, 0), name, sizeof(name));
	}
	sqlite3_finalize(stmt);
	if (!*name)
		snprintf(name, sizeof(name), "pid %u", c->rec.peer_pid);
	return strings__add(t->strings, span_of(name));
}

/* ---- which is the other end ---- */

struct tuple {
	uint32_t transport, local_port, remote_port;
	struct span local, remote;
};

static bool is_unix(const struct conn *c)
{
	return c->rec.transport == TRANSPORT_UNIX_STREAM ||
	       c->rec.transport == TRANSPORT_UNIX_DGRAM;
}

static struct tuple tuple_of(const struct conn *c)
{
	if (is_unix(c))
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

static bool same(struct span a, struct span b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
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
	       a.remote_port == b->remote_port && same(a.local, b->local) &&
	       same(a.remote, b->remote);
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

static bool is_loopback(struct span a)
{
	return (a.len > 4 && !memcmp(a.p, "127.", 4)) || (a.len == 3 && !memcmp(a.p, "::1", 3));
}

static bool same_host(const struct conn *a, const struct conn *b)
{
	const struct capture *v = a->traffic->load->captures->v;

	return a->capture == b->capture || !strcmp(v[a->capture].host, v[b->capture].host);
}

static uint64_t real_ns(const struct conn *c, uint64_t ns, uint64_t otherwise)
{
	return ns ? ns + c->traffic->load->captures->v[c->capture].to_realtime : otherwise;
}

/* How far apart the beginnings are, UINT64_MAX: cannot be the two ends of one connection. */
static uint64_t distance(const struct conn *a, const struct conn *b)
{
	uint64_t opened_a = real_ns(a, a->rec.opened_ns, 0),
		 opened_b = real_ns(b, b->rec.opened_ns, 0),
		 closed_a = real_ns(a, a->closed_ns, UINT64_MAX - SLACK_NS),
		 closed_b = real_ns(b, b->closed_ns, UINT64_MAX - SLACK_NS);

	if (a->rec.role && a->rec.role == b->rec.role)
		return UINT64_MAX;
	if (is_loopback(a->rec.remote_addr) && (!same_host(a, b) || a->rec.netns != b->rec.netns))
		return UINT64_MAX;
	/* Clocks of two hosts may be far apart: the nearest is taken then. */
	if (same_host(a, b) && (opened_a > closed_b + SLACK_NS || opened_b > closed_a + SLACK_NS))
		return UINT64_MAX;
	if (!opened_a || !opened_b)
		return SLACK_NS; /* began before the capture */
	return opened_a > opened_b ? opened_a - opened_b : opened_b - opened_a;
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
	uint64_t apart = distance(a, b);

	if (apart == UINT64_MAX || a->capture != b->capture || !same(path_of(a), path_of(b)))
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

		if (!is_unix(c) || c->other || path_of(c).len || !c->rec.cookie)
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

	if (c->other ||
	    (is_unix(c) ? !c->pid || !c->rec.peer_pid : !tuple.remote.len || !tuple.local.len) ||
	    !index_find(ix, &tuple_ops, t, tuple_key(&key), &key, &i))
		return;
	for (uint32_t n = i + 1; n; n = t->conns[n - 1]->next) {
		struct conn *d = t->conns[n - 1];
		uint64_t apart = d == c || d->other ? UINT64_MAX
				 : is_unix(c)	    ? unix_distance(c, d)
						    : distance(c, d);

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

/* ---- datagrams ---- */

enum { MAX_BOUND = 64 }; /* sockets of one port that are looked at */

static uint64_t port_key(uint32_t port)
{
	return hash_mix(port ^ index_seed);
}

static uint64_t port_hash(const void *owner, uint32_t i)
{
	return port_key(((const struct traffic *)owner)->conns[i]->rec.local_port);
}

static bool port_equal(const void *owner, uint32_t i, const void *key)
{
	return ((const struct traffic *)owner)->conns[i]->rec.local_port == *(const uint32_t *)key;
}

static const struct index_ops port_ops = {port_hash, port_equal};

static int index_ports(struct traffic *t)
{
	int err = 0;

	for (size_t i = 0; i < t->conn_cnt && !err; i++) {
		struct conn *c = t->conns[i];
		uint64_t hash = port_key(c->rec.local_port);
		uint32_t first;

		if (c->rec.transport != TRANSPORT_UDP || !c->rec.local_port)
			continue;
		if (index_find(&t->by_port, &port_ops, t, hash, &c->rec.local_port, &first)) {
			c->next_bound = t->conns[first]->next_bound;
			t->conns[first]->next_bound = i + 1;
		} else {
			err = index_add(&t->by_port, &port_ops, t, hash, i);
		}
	}
	return err;
}

static bool any_address(struct span a)
{
	return !a.len || same(a, span_of("0.0.0.0")) || same(a, span_of("::"));
}

static bool open_at(const struct conn *d, uint64_t real)
{
	return real + SLACK_NS >= real_ns(d, d->rec.opened_ns, 0) &&
	       real <= real_ns(d, d->closed_ns, UINT64_MAX - SLACK_NS) + SLACK_NS;
}

/* Can datagrams of c at addr be d's? Both are UDP, d is bound to their port. */
static bool may_be_other(const struct conn *c, const struct conn *d, struct span addr,
			 uint64_t at_ns)
{
	bool here = same_host(c, d) && c->rec.netns == d->rec.netns;

	if (d == c || d->other || (d->rec.remote_port && d->rec.remote_port != c->rec.local_port))
		return false;
	if (any_address(d->rec.local_addr) ? !here : !same(d->rec.local_addr, addr))
		return false;
	/* What either is connected to must be the other. */
	if (d->rec.remote_addr.len && !any_address(c->rec.local_addr) &&
	    !same(d->rec.remote_addr, c->rec.local_addr))
		return false;
	if ((is_loopback(addr) && !here) || distance(c, d) == UINT64_MAX)
		return false;
	return !at_ns || !same_host(c, d) || open_at(d, real_ns(c, at_ns, 0));
}

/* The socket at the other end of c's datagrams from or to an address, NULL: not recorded. */
static const struct conn *datagram_other(const struct conn *c, struct span addr, uint32_t port,
					 uint64_t at_ns)
{
	const struct traffic *t = c->traffic;
	uint32_t i, seen = 0;

	if (c->rec.transport != TRANSPORT_UDP || c->other || !addr.len || !port ||
	    !index_find(&t->by_port, &port_ops, t, port_key(port), &port, &i))
		return NULL;
	for (uint32_t n = i + 1; n && seen < MAX_BOUND; n = t->conns[n - 1]->next_bound, seen++)
		if (may_be_other(c, t->conns[n - 1], addr, at_ns))
			return t->conns[n - 1];
	return NULL;
}

uint32_t traffic_datagram_peer(const struct conn *c, uint32_t peer, uint64_t at_ns,
			       struct span *addr, const struct conn **other)
{
	struct traffic *t = c->traffic;
	const struct service *s;
	uint32_t port = c->rec.remote_port;

	*addr = c->rec.remote_addr;
	if (peer)
		*addr = split_port(span_of(strings__get(t->strings, peer)), &port);
	*other = datagram_other(c, *addr, port, at_ns);
	if (!peer)
		return c->peer;
	s = services__find(t->load->opts.traffic.services, *addr, port);
	if (s)
		return strings__add(t->strings, span_of(s->name));
	return *other ? (*other)->service : address_name(t, c, *addr, port);
}

static uint32_t peer_name(struct traffic *t, const struct conn *c)
{
	const struct conn *other;
	const struct service *s = services__find(t->load->opts.traffic.services, c->rec.remote_addr,
						 c->rec.remote_port);

	if (s)
		return strings__add(t->strings, span_of(s->name));
	if (c->other)
		return t->conns[c->other - 1]->service;
	if (c->rec.peer_pid)
		return pid_name(t, c);
	other = datagram_other(c, c->rec.remote_addr, c->rec.remote_port, 0);
	if (other)
		return other->service;
	return address_name(t, c, c->rec.remote_addr, c->rec.remote_port);
}

int traffic_find_sides(struct traffic *t)
{
	struct index ix = {0};
	int err;

	if (t->sides_known)
		return 0;
	t->sides_known = true;
	for (size_t i = 0; i < t->conn_cnt; i++)
		if (is_unix(t->conns[i]))
			t->conns[i]->pid = pid_of(t, t->conns[i]);
	err = index_tuples(t, &ix);
	for (size_t i = 0; i < t->conn_cnt && !err; i++)
		find_other(t, &ix, t->conns[i]);
	if (!err)
		err = find_socketpairs(t);
	if (!err)
		err = index_ports(t);
	for (size_t i = 0; i < t->conn_cnt && !err; i++)
		t->conns[i]->service = own_name(t, t->conns[i]);
	for (size_t i = 0; i < t->conn_cnt && !err; i++)
		t->conns[i]->peer = peer_name(t, t->conns[i]);
	index_fini(&ix);
	return err ? err : strings__failed(t->strings);
}

/* ---- what payload tells ---- */

static uint64_t mark_hash(uint32_t seq)
{
	uint64_t x = (seq + 1) * 0x9e3779b97f4a7c15ull; /* the same in every run and archive */

	return x ^ x >> 29;
}

/* Keeps the marks with the smallest hashes. */
static void add_mark(struct marks *m, unsigned dir, struct mark mark)
{
	struct mark *v = m->v[dir], *worst = v;

	if (m->cnt[dir] < MARK_CNT) {
		v[m->cnt[dir]++] = mark;
		return;
	}
	for (int i = 1; i < MARK_CNT; i++)
		if (mark_hash(v[i].seq) > mark_hash(worst->seq))
			worst = &v[i];
	if (mark_hash(mark.seq) < mark_hash(worst->seq))
		*worst = mark;
}

void traffic_anchor(struct conn *c, const struct rec_payload *r)
{
	unsigned dir = r->direction ? L7_RECEIVED : L7_SENT;

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
		add_mark(c->marks, dir, (struct mark){r->tcp_seq + r->len, r->ts_ns});
}

/* Where both know a stream's place, they must agree; positions begin where each end was first seen.
 */
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

/* Of two ends the one with more messages counts, as the client saw them when they are as many. */
bool traffic_counted(const struct conn *c)
{
	const struct conn *d = c->other ? c->traffic->conns[c->other - 1] : NULL;

	if (!d)
		return true;
	if (c->messages != d->messages)
		return c->messages > d->messages;
	if (c->rec.role != d->rec.role && (c->rec.role || d->rec.role))
		return c->rec.role == ROLE_CLIENT || d->rec.role == ROLE_SERVER;
	return c->number < d->number;
}

/* ---- clocks ---- */

struct offset {
	uint32_t a, b; /* captures, a < b */
	int64_t there,
		back; /* the least seen: the difference of the clocks, plus or minus the way */
	uint64_t pairs[2];
};

static void compare_marks(const struct conn *from, const struct conn *to, int64_t *least,
			  uint64_t *pairs)
{
	const struct marks *x = from->marks, *y = to->marks;

	for (uint32_t i = 0; i < x->cnt[L7_SENT]; i++)
		for (uint32_t k = 0; k < y->cnt[L7_RECEIVED]; k++) {
			const struct mark *s = &x->v[L7_SENT][i], *r = &y->v[L7_RECEIVED][k];
			int64_t took = real_ns(to, r->ns, 0) - real_ns(from, s->ns, 0);

			if (s->seq != r->seq)
				continue;
			if (!(*pairs)++ || took < *least)
				*least = took;
		}
}

static struct offset *offset_of(struct offset *v, size_t *cnt, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < *cnt; i++)
		if (v[i].a == a && v[i].b == b)
			return &v[i];
	v[*cnt] = (struct offset){.a = a, .b = b};
	return &v[(*cnt)++];
}

static int write_offset(struct insert *in, const struct offset *o)
{
	if (!o->pairs[0] || !o->pairs[1])
		return 0;
	insert_int(in, capture_id(o->a));
	insert_int(in, capture_id(o->b));
	insert_int(in, (o->there - o->back) / 2);
	insert_int(in, (o->there + o->back) / 2);
	insert_int(in, o->pairs[0] + o->pairs[1]);
	return insert_run(in);
}

/* As NTP does: a call that was sent in one capture and received in the other, both ways. */
int traffic_write_offsets(struct traffic *t)
{
	size_t captures = t->load->captures->cnt, cnt = 0;
	struct offset *v = captures > 1 && captures < 4096
				   ? calloc(captures * (captures - 1) / 2, sizeof(*v))
				   : NULL;
	struct insert in;
	int err = 0;

	if (!v)
		return 0;
	for (size_t i = 0; i < t->conn_cnt; i++) {
		const struct conn *c = t->conns[i], *d = c->other ? t->conns[c->other - 1] : NULL;
		struct offset *o;

		if (!d || c->capture >= d->capture || !c->marks || !d->marks)
			continue;
		o = offset_of(v, &cnt, c->capture, d->capture);
		compare_marks(c, d, &o->there, &o->pairs[0]);
		compare_marks(d, c, &o->back, &o->pairs[1]);
	}
	err = insert_open(&in, t->load->store, "INSERT INTO clock_offset VALUES(?,?,?,?,?)");
	for (size_t i = 0; i < cnt && !err; i++)
		err = write_offset(&in, &v[i]);
	insert_close(&in);
	free(v);
	return err;
}
