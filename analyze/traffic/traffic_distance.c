/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/traffic_distance.h"

#include <string.h>

bool traffic_is_unix(const struct conn *c)
{
	return c->rec.transport == TRANSPORT_UNIX_STREAM ||
	       c->rec.transport == TRANSPORT_UNIX_DGRAM;
}

bool traffic_is_loopback(struct span a)
{
	return (a.len > 4 && !memcmp(a.p, "127.", 4)) || (a.len == 3 && !memcmp(a.p, "::1", 3));
}

bool traffic_same_host(const struct conn *a, const struct conn *b)
{
	const struct capture *v = a->traffic->load->captures->v;

	return a->capture == b->capture || !strcmp(v[a->capture].host, v[b->capture].host);
}

uint64_t traffic_real_ns(const struct conn *c, uint64_t ns, uint64_t otherwise)
{
	return ns ? ns + c->traffic->load->captures->v[c->capture].to_realtime : otherwise;
}

uint64_t traffic_distance(const struct conn *a, const struct conn *b)
{
	uint64_t opened_a = traffic_real_ns(a, a->rec.opened_ns, 0),
		 opened_b = traffic_real_ns(b, b->rec.opened_ns, 0),
		 closed_a = traffic_real_ns(a, a->closed_ns, UINT64_MAX - TRAFFIC_SLACK_NS),
		 closed_b = traffic_real_ns(b, b->closed_ns, UINT64_MAX - TRAFFIC_SLACK_NS);

	if (a->rec.role && a->rec.role == b->rec.role)
		return UINT64_MAX;
	if (traffic_is_loopback(a->rec.remote_addr) &&
	    (!traffic_same_host(a, b) || a->rec.netns != b->rec.netns))
		return UINT64_MAX;
	/* Clocks of two hosts may differ by any amount; then the nearest end is used. */
	if (traffic_same_host(a, b) &&
	    (opened_a > closed_b + TRAFFIC_SLACK_NS || opened_b > closed_a + TRAFFIC_SLACK_NS))
		return UINT64_MAX;
	if (!opened_a || !opened_b)
		return TRAFFIC_SLACK_NS; /* began before the capture */
	return opened_a > opened_b ? opened_a - opened_b : opened_b - opened_a;
}
