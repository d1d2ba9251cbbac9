/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/traffic_twice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/traffic/traffic_names.h"
#include "analyze/traffic/traffic_note.h"

#define HALF_INTERVAL_NS 500000000ull

enum { NEAR_MAX = 64 }; /* sockets of one inode and address that are looked at */

static const struct capture *capture_of(const struct conn *c)
{
	return &c->traffic->load->captures->v[c->capture];
}

void traffic_find_several(struct traffic *t)
{
	const struct captures *all = t->load->captures;

	for (uint32_t i = 0; i < all->cnt; i++) {
		t->boot[i] = i;
		for (uint32_t k = 0; k < i && t->boot[i] == i; k++) {
			if (!capture_same_boot(&all->v[k], &all->v[i]))
				continue;
			t->boot[i] = t->boot[k];
			t->several[i] = t->several[k] = true;
		}
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_spans(struct span a, struct span b)
{
	int d = compare(a.len, b.len);

	return d || !a.len ? d : memcmp(a.p, b.p, a.len);
}

/* 0: the same socket of the same process. cookie is the socket's inode. */
static int compare_sockets(const struct conn *a, const struct conn *b)
{
	const uint32_t *boot = a->traffic->boot;
	const uint64_t x[] = {boot[a->capture],	 a->rec.cookie,	     a->pid,	  a->rec.transport,
			      a->rec.local_port, a->rec.remote_port, a->rec.netns},
		       y[] = {boot[b->capture],	 b->rec.cookie,	     b->pid,	  b->rec.transport,
			      b->rec.local_port, b->rec.remote_port, b->rec.netns};
	int d = 0;

	for (size_t i = 0; i < sizeof(x) / sizeof(*x) && !d; i++)
		d = compare(x[i], y[i]);
	if (!d)
		d = compare_spans(a->rec.local_addr, b->rec.local_addr);
	return d ? d : compare_spans(a->rec.remote_addr, b->rec.remote_addr);
}

/* The archive with more of the connection comes first: with payload, of more connections, in clear
 * text, of more bytes. */
static int compare_seen(const struct conn *a, const struct conn *b)
{
	const struct capture *x = capture_of(a), *y = capture_of(b);
	int d = compare(y->payload && b->rec.sampled, x->payload && a->rec.sampled);

	if (!d && x->sample != y->sample)
		d = x->sample > y->sample ? -1 : 1;
	if (!d)
		d = compare(b->tls, a->tls);
	if (!d)
		d = compare(b->bytes[0] + b->bytes[1], a->bytes[0] + a->bytes[1]);
	return d ? d : compare(a->number, b->number);
}

static int by_socket(const void *a, const void *b)
{
	const struct conn *x = *(const struct conn *const *)a, *y = *(const struct conn *const *)b;
	int d = compare_sockets(x, y);

	return d ? d : compare_seen(x, y);
}

static bool is_in(const struct conn *c, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t span[2];

	capture_span(capture_of(c), span);
	return from_ns >= span[0] && to_ns <= span[1];
}

/* The part of c's life that its archive saw. */
static void life_of(const struct conn *c, uint64_t life[2])
{
	capture_span(capture_of(c), life);
	if (c->rec.opened_ns > life[0])
		life[0] = c->rec.opened_ns;
	if (c->closed_ns && c->closed_ns < life[1])
		life[1] = c->closed_ns;
}

/* An inode may be used again: then the lives of the two sockets are apart. */
static bool one_life(const struct conn *a, const struct conn *b)
{
	if (a->rec.opened_ns && b->rec.opened_ns)
		return a->rec.opened_ns == b->rec.opened_ns ||
		       is_in(a, b->rec.opened_ns, b->rec.opened_ns) ||
		       is_in(b, a->rec.opened_ns, a->rec.opened_ns);
	return !(a->closed_ns && b->rec.opened_ns > a->closed_ns) &&
	       !(b->closed_ns && a->rec.opened_ns > b->closed_ns);
}

static void join(struct conn *best, struct conn *c)
{
	uint64_t life[2];

	while (best->worse)
		best = best->traffic->conns[best->worse - 1];
	best->worse = c->number + 1;
	c->better = best->number + 1;
	life_of(c, life);
	for (const struct conn *b = c; b->better && !c->twice;) {
		b = b->traffic->conns[b->better - 1];
		c->twice = is_in(b, life[0], life[1]);
	}
}

static bool may_join(const struct conn *best, const struct conn *c)
{
	const struct conn *const *conns = (const struct conn *const *)c->traffic->conns;

	for (; best->capture != c->capture && one_life(best, c); best = conns[best->worse - 1])
		if (!best->worse)
			return true;
	return false;
}

/* Looks for the connection that v[i], of the same socket, belongs to. */
static void find_best(struct conn **v, size_t i)
{
	for (size_t k = i, seen = 0; k-- && seen < NEAR_MAX && !compare_sockets(v[k], v[i]); seen++)
		if (!v[k]->better && may_join(v[k], v[i])) {
			join(v[k], v[i]);
			return;
		}
}

bool traffic_is_twice(const struct conn *c, uint64_t ns)
{
	if (c->twice)
		return true;
	while (c->better) {
		c = c->traffic->conns[c->better - 1];
		if (is_in(c, ns, ns))
			return true;
	}
	return false;
}

int64_t traffic_row(const struct conn *c)
{
	while (c->better)
		c = c->traffic->conns[c->better - 1];
	return capture_row(c->capture, c->rec.id);
}

bool traffic_has_messages(const struct conn *c)
{
	while (c->better)
		c = c->traffic->conns[c->better - 1];
	for (; !c->messages && c->worse; c = c->traffic->conns[c->worse - 1])
		;
	return c->messages;
}

/* Statistics cover the second before them. */
static int count_held(struct traffic *t)
{
	int err = 0;

	for (size_t i = 0; i < t->held_cnt && !err; i++) {
		const struct held_stat *h = &t->held[i];
		struct conn *c = t->conns[h->conn];
		uint64_t at = h->rec.ts_ns - HALF_INTERVAL_NS;

		budget_release(&t->load->captures->v[c->capture].traffic_budget, sizeof(*h));
		if (at < c->rec.opened_ns || h->rec.ts_ns < HALF_INTERVAL_NS)
			at = c->rec.opened_ns;
		if (traffic_is_twice(c, at))
			traffic_take_stat(c, &h->rec);
		else
			err = traffic_write_stat(c, &h->rec);
	}
	free(t->held);
	t->held = NULL;
	t->held_cnt = t->held_cap = 0;
	return err;
}

int traffic_find_twice(struct traffic *t)
{
	struct conn **v = NULL;
	size_t cnt = 0, cap = 0;

	for (size_t i = 0; i < t->conn_cnt; i++) {
		struct conn *c = t->conns[i];

		if (!t->several[c->capture] || !c->rec.cookie)
			continue;
		c->pid = traffic_pid(t, c);
		if (!c->pid)
			continue;
		if (array_reserve(&v, &cap, cnt + 1)) {
			free(v);
			return -ENOMEM;
		}
		v[cnt++] = c;
	}
	if (cnt)
		qsort(v, cnt, sizeof(*v), by_socket);
	for (size_t i = 1; i < cnt; i++)
		find_best(v, i);
	free(v);
	return count_held(t);
}

int traffic_write_twice(struct traffic *t)
{
	size_t captures = t->load->captures->cnt;
	uint64_t *cnt;
	struct insert in;
	int err;

	cnt = calloc(captures + 1, sizeof(*cnt));
	if (!cnt)
		return -ENOMEM;
	for (size_t i = 0; i < t->conn_cnt; i++) {
		const struct conn *c = t->conns[i];
		uint64_t life[2], at[2];
		bool twice = c->twice;

		life_of(c, life);
		for (const struct conn *b = c; b->better && !twice;) {
			b = t->conns[b->better - 1];
			life_of(b, at);
			twice = at[0] < life[1] && life[0] < at[1];
		}
		cnt[c->capture] += twice;
	}
	err = insert_open(&in, t->load->store, "INSERT INTO twice VALUES(?,?)");
	for (size_t i = 0; i < captures && !err; i++) {
		if (!cnt[i])
			continue;
		insert_int(&in, capture_id(i));
		insert_int(&in, cnt[i]);
		err = insert_run(&in);
	}
	insert_close(&in);
	free(cnt);
	return err;
}

bool traffic_twice_text(const struct analysis *a, size_t capture, struct strbuf *b)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t cnt = 0;

	if (!sqlite3_prepare_v2(store__db(a->store),
				"SELECT connections FROM twice WHERE capture_id = ?", -1, &stmt,
				NULL) &&
	    !sqlite3_bind_int64(stmt, 1, capture_id(capture)) && sqlite3_step(stmt) == SQLITE_ROW)
		cnt = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	if (!cnt)
		return false;
	strbuf_addf(b, "%llu connection%s of ", (unsigned long long)cnt, cnt == 1 ? "" : "s");
	strbuf_escape(b, ESCAPE_TERMINAL, span_of(a->captures.v[capture].path));
	strbuf_addf(b, " also in an archive that saw more of %s: counted once, from there",
		    cnt == 1 ? "it" : "them");
	return true;
}
