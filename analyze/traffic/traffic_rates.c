/* SPDX-License-Identifier: BSD-2-Clause */
/* Call rates over time as rows, and clients with sudden increases. */
#include <math.h>

#include "analyze/traffic/rates.h"
#include "analyze/traffic/surge.h"
#include "analyze/traffic/traffic.h"

int traffic_add_rate(const struct conn *c, const struct conn *other, uint32_t peer,
		     uint32_t protocol, uint64_t at_ns, double calls, double errors)
{
	const struct traffic *t = c->traffic;
	bool client = c->rec.role == ROLE_CLIENT;
	const struct rate_key key = {
		.client = client ? c->service : peer,
		.server = client ? peer : c->service,
		.protocol = protocol,
		.at_client = client && other,
	};

	return rates__add(t->rates, &key, at_ns, calls, errors);
}

/* Connections recorded at both ends count at the server's end, if that has messages. */
static bool counted(const struct traffic *t, const struct rate *r)
{
	struct rate_key key = r->key;

	key.at_client = 0;
	return !r->key.at_client || !rates__find(t->rates, &key);
}

static void put_names(const struct traffic *t, struct insert *in, const struct rate_key *key)
{
	insert_text(in, strings__get(t->strings, key->client));
	insert_text(in, strings__get(t->strings, key->server));
	insert_text(in, strings__get(t->strings, key->protocol));
}

static int write_rate(const struct traffic *t, struct insert *in, const struct rate *r)
{
	uint64_t interval_ns = rates__interval_ns(t->rates);
	int err = 0;

	for (unsigned i = 0; i < RATE_SLOTS && !err; i++) {
		if (!(r->calls[i] > 0))
			continue;
		put_names(t, in, &r->key);
		insert_int(in, t->start_ns + i * interval_ns);
		insert_int(in, interval_ns);
		insert_int(in, llround(r->calls[i]));
		insert_int(in, llround(r->errors[i]));
		err = insert_run(in);
	}
	return err;
}

static int write_surge(const struct traffic *t, struct insert *in, const struct rate *r,
		       unsigned first, const struct surge *s)
{
	uint64_t interval_ns = rates__interval_ns(t->rates);
	double seconds = interval_ns / 1e9;

	put_names(t, in, &r->key);
	insert_int(in, t->start_ns + (first + s->from) * interval_ns);
	insert_int(in, t->start_ns + (first + s->to) * interval_ns);
	insert_real(in, s->before / seconds);
	insert_real(in, s->after / seconds);
	insert_int(in, llround((s->after - s->before) * (s->to - s->from)));
	return insert_run(in);
}

/*
 * Finds the intervals that were captured completely. The first interval is excluded, because
 * existing connections are discovered during it.
 */
static void find_whole(const struct traffic *t, unsigned *first, unsigned *end)
{
	uint64_t interval_ns = rates__interval_ns(t->rates), from_ns = UINT64_MAX, to_ns = 0;

	for (size_t i = 0; i < t->load->captures->cnt; i++) {
		const struct capture *c = &t->load->captures->v[i];
		uint64_t start = c->started_ns, stop = start + c->duration_ns;

		start = t->spans[i][0] > start ? t->spans[i][0] : start;
		stop = t->spans[i][1] < stop ? t->spans[i][1] : stop;
		from_ns = start < from_ns ? start : from_ns;
		to_ns = stop > to_ns ? stop : to_ns;
	}
	from_ns = from_ns > t->start_ns ? from_ns - t->start_ns : 0;
	to_ns = to_ns > t->start_ns ? (to_ns - t->start_ns) / interval_ns : 0;
	*end = to_ns < RATE_SLOTS ? to_ns : RATE_SLOTS;
	from_ns = from_ns / interval_ns + 1;
	*first = from_ns < *end ? from_ns : *end;
}

int traffic_write_rates(struct traffic *t)
{
	struct insert rate = {0}, surge = {0};
	unsigned first, end;
	int err = insert_open(&rate, t->load->store, "INSERT INTO rate VALUES(?,?,?,?,?,?,?)");

	if (!err)
		err = insert_open(&surge, t->load->store,
				  "INSERT INTO surge VALUES(?,?,?,?,?,?,?,?)");
	find_whole(t, &first, &end);
	for (size_t i = 0; i < rates__cnt(t->rates) && !err; i++) {
		const struct rate *r = rates__get(t->rates, i);
		struct surge s;

		if (!counted(t, r))
			continue;
		err = write_rate(t, &rate, r);
		if (!err && surge_find(r->calls + first, end - first, &s))
			err = write_surge(t, &surge, r, first, &s);
	}
	insert_close(&rate);
	insert_close(&surge);
	return err;
}
