/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections by record id, and their counters. */
#include <errno.h>

#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_twice.h"

struct conn_key {
	uint32_t capture, id;
};

static bool conn_equal(const void *owner, uint32_t entry, const void *key)
{
	const struct conn *c = ((const struct traffic *)owner)->conns[entry];
	const struct conn_key *k = key;

	return c->capture == k->capture && c->rec.id == k->id;
}

struct conn *traffic_known_conn(struct traffic *t, uint32_t capture, uint32_t id)
{
	struct conn_key key = {capture, id};
	uint64_t hash = hash_mix(capture_row(capture, id));
	uint32_t entry;

	return index_find(&t->by_id, conn_equal, t, hash, &key, &entry) ? t->conns[entry] : NULL;
}

static struct conn *new_conn(struct traffic *t, uint32_t capture, uint32_t id)
{
	uint64_t hash = hash_mix(capture_row(capture, id));
	struct conn *c;

	if (array_reserve(&t->conns, &t->conn_cap, t->conn_cnt + 1))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->traffic = t;
	c->capture = capture;
	c->rec.id = id;
	c->number = t->conn_cnt;
	t->conns[t->conn_cnt] = c;
	if (index_add(&t->by_id, hash, t->conn_cnt)) {
		free(c);
		return NULL;
	}
	t->conn_cnt++;
	return c;
}

/* Memory per connection in addition to the struct: table and sort entries, names. */
enum { CONN_EXTRA_SZ = 64 };

struct conn *traffic_conn(struct traffic *t, uint32_t capture, uint32_t id)
{
	struct budget *budget = &t->load->captures->v[capture].traffic_budget;
	struct conn *c = traffic_known_conn(t, capture, id);

	if (c)
		return c;
	if (!budget_hold(budget, sizeof(*c) + CONN_EXTRA_SZ)) {
		budget->rows_left_out++;
		return NULL;
	}
	c = new_conn(t, capture, id);
	if (!c)
		t->err = -ENOMEM;
	return c;
}

/* Addresses are interned, because most occur in many connections. */
static int own(struct conn *c, struct span *to, struct span s)
{
	struct intern *all = c->traffic->addresses;
	struct budget *budget = &c->traffic->load->captures->v[c->capture].traffic_budget;
	uint32_t before = intern__count(all), id;

	s = budget_name(s);
	id = intern__add(all, s);
	if (id == INTERN_FAILED)
		return -ENOMEM;
	if (id == before)
		budget_add(budget, s.len + 32);
	*to = intern__get(all, id);
	return 0;
}

int traffic_add_connection(struct conn *c, const struct rec_connection *r)
{
	struct span local, remote;
	int err = own(c, &local, r->local_addr);

	if (!err)
		err = own(c, &remote, r->remote_addr);
	if (err)
		return err;
	c->rec = *r;
	c->rec.local_addr = local;
	c->rec.remote_addr = remote;
	c->tls |= !!r->tls;
	return 0;
}

static void note_seq(struct conn *c, enum l7_dir dir, uint32_t seq)
{
	if (!seq || c->anchored[dir])
		return;
	c->anchored[dir] = true;
	c->anchor[dir] = seq;
}

void traffic_close(struct conn *c, const struct rec_connection_close *r)
{
	c->closed_ns = r->closed_ns;
	c->how = r->how;
}

void traffic_take_stat(struct conn *c, const struct rec_connection_stat *r)
{
	c->bytes[0] -= r->bytes_sent;
	c->bytes[1] -= r->bytes_received;
	c->calls[0] -= r->sends;
	c->calls[1] -= r->receives;
	c->retransmits -= r->retransmits;
}

int traffic_write_stat(struct conn *c, const struct rec_connection_stat *r)
{
	struct traffic *t = c->traffic;
	struct bulk *in = &t->stat;

	if (!load__wants(t->load, "connection_stat"))
		return 0;
	bulk_int(in, traffic_row(c));
	bulk_int(in, r->ts_ns + t->load->captures->v[c->capture].to_realtime);
	bulk_int(in, r->bytes_sent);
	bulk_int(in, r->bytes_received);
	bulk_int(in, r->sends);
	bulk_int(in, r->receives);
	bulk_int(in, r->retransmits);
	bulk_int(in, r->srtt_us);
	return bulk_row(in);
}

static int hold_stat(struct conn *c, const struct rec_connection_stat *r)
{
	struct traffic *t = c->traffic;
	struct budget *budget = &t->load->captures->v[c->capture].traffic_budget;

	if (!budget_hold(budget, sizeof(*t->held))) {
		traffic_take_stat(c, r);
		budget->rows_left_out++;
		return 0;
	}
	if (array_reserve(&t->held, &t->held_cap, t->held_cnt + 1))
		return -ENOMEM;
	t->held[t->held_cnt++] = (struct held_stat){c->number, *r};
	return 0;
}

int traffic_add_stat(struct conn *c, const struct rec_connection_stat *r)
{
	struct traffic *t = c->traffic;
	uint64_t at = r->ts_ns + t->load->captures->v[c->capture].to_realtime;

	note_seq(c, L7_SENT, r->sent_seq);
	note_seq(c, L7_RECEIVED, r->received_seq);
	c->all_bytes[L7_SENT] += r->bytes_sent;
	c->all_bytes[L7_RECEIVED] += r->bytes_received;
	if (at < t->spans[c->capture][0] || at >= t->spans[c->capture][1])
		return 0;
	c->bytes[0] += r->bytes_sent;
	c->bytes[1] += r->bytes_received;
	c->calls[0] += r->sends;
	c->calls[1] += r->receives;
	c->retransmits += r->retransmits;
	if (r->srtt_us)
		c->srtt_us = r->srtt_us;
	return t->several[c->capture] && !t->sides_known ? hold_stat(c, r)
							 : traffic_write_stat(c, r);
}
