/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/traffic_datagrams.h"

#include <string.h>

#include "format/text.h"
#include "analyze/traffic/traffic_distance.h"
#include "analyze/traffic/traffic_names.h"

enum { MAX_BOUND = 64 }; /* limit of sockets examined per port */

static uint64_t port_key(uint32_t port)
{
	return hash_mix(port ^ index_seed);
}

static bool port_equal(const void *owner, uint32_t i, const void *key)
{
	return ((const struct traffic *)owner)->conns[i]->rec.local_port == *(const uint32_t *)key;
}

int traffic_index_ports(struct traffic *t)
{
	int err = 0;

	for (size_t i = 0; i < t->conn_cnt && !err; i++) {
		struct conn *c = t->conns[i];
		uint64_t hash = port_key(c->rec.local_port);
		uint32_t first;

		if (c->rec.transport != TRANSPORT_UDP || !c->rec.local_port)
			continue;
		if (index_find(&t->by_port, port_equal, t, hash, &c->rec.local_port, &first)) {
			c->next_bound = t->conns[first]->next_bound;
			t->conns[first]->next_bound = i + 1;
		} else {
			err = index_add(&t->by_port, hash, i);
		}
	}
	return err;
}

static bool any_address(struct span a)
{
	return !a.len || span_same(a, span_of("0.0.0.0")) || span_same(a, span_of("::"));
}

static bool open_at(const struct conn *d, uint64_t real)
{
	return real + TRAFFIC_SLACK_NS >= traffic_real_ns(d, d->rec.opened_ns, 0) &&
	       real <= traffic_real_ns(d, d->closed_ns, UINT64_MAX - TRAFFIC_SLACK_NS) +
			       TRAFFIC_SLACK_NS;
}

/* Can datagrams between c and addr belong to d? Both must be UDP, and d bound to their port. */
static bool may_be_other(const struct conn *c, const struct conn *d, struct span addr,
			 uint64_t at_ns)
{
	bool here = traffic_same_host(c, d) && c->rec.netns == d->rec.netns;

	if (d == c || d->other || (d->rec.remote_port && d->rec.remote_port != c->rec.local_port))
		return false;
	if (any_address(d->rec.local_addr) ? !here : !span_same(d->rec.local_addr, addr))
		return false;
	/* If a socket is connected, the other must be its peer. */
	if (d->rec.remote_addr.len && !any_address(c->rec.local_addr) &&
	    !span_same(d->rec.remote_addr, c->rec.local_addr))
		return false;
	if ((traffic_is_loopback(addr) && !here) || traffic_distance(c, d) == UINT64_MAX)
		return false;
	return !at_ns || !traffic_same_host(c, d) || open_at(d, traffic_real_ns(c, at_ns, 0));
}

const struct conn *traffic_datagram_other(const struct conn *c, struct span addr, uint32_t port,
					  uint64_t at_ns)
{
	const struct traffic *t = c->traffic;
	uint32_t i, seen = 0;

	if (c->rec.transport != TRANSPORT_UDP || c->other || !addr.len || !port ||
	    !index_find(&t->by_port, port_equal, t, port_key(port), &port, &i))
		return NULL;
	for (uint32_t n = i + 1; n && seen < MAX_BOUND; n = t->conns[n - 1]->next_bound, seen++)
		if (may_be_other(c, t->conns[n - 1], addr, at_ns))
			return t->conns[n - 1];
	return NULL;
}

/* Splits ADDRESS:PORT or [ADDRESS]:PORT, as in records. */
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

uint32_t traffic_datagram_peer(const struct conn *c, uint32_t peer, uint64_t at_ns,
			       struct span *addr, const struct conn **other)
{
	struct traffic *t = c->traffic;
	uint32_t port = c->rec.remote_port, service;

	*addr = c->rec.remote_addr;
	if (peer)
		*addr = split_port(span_of(strings__get(t->strings, peer)), &port);
	*other = traffic_datagram_other(c, *addr, port, at_ns);
	if (!peer)
		return c->peer;
	service = traffic_service_name(t, *addr, port);
	if (service)
		return service;
	return *other ? (*other)->service : traffic_address_name(t, c, *addr, port);
}
