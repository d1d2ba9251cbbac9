/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "analyze/l7/engine/l7.h"
#include "analyze/pcap/pcap_flow.h"

enum { SLOTS = 1 << 16, FULL = SLOTS / 4 * 3 };

int servers__init(struct servers *s)
{
	*s = (struct servers){.slots = calloc(SLOTS, sizeof(*s->slots))};
	if (!s->slots)
		return -ENOMEM;
	return getrandom(&s->seed, sizeof(s->seed), 0) == sizeof(s->seed) ? 0 : -EIO;
}

void servers__fini(struct servers *s)
{
	free(s->slots);
	*s = (struct servers){0};
}

/* Returns the slot of e, or the free slot for it. */
static struct endpoint *slot_of(const struct servers *s, const struct endpoint *e)
{
	uint32_t i = endpoint_hash(e, s->seed) % SLOTS;

	while (s->slots[i].port && !endpoint_equal(&s->slots[i], e))
		i = (i + 1) % SLOTS;
	return &s->slots[i];
}

void servers__learn(struct servers *s, const struct endpoint *e)
{
	struct endpoint *slot = slot_of(s, e);

	if (slot->port || !e->port || s->cnt >= FULL)
		return;
	*slot = *e;
	s->cnt++;
}

static bool is_known(const struct servers *s, const struct endpoint *e)
{
	return slot_of(s, e)->port != 0;
}

static bool is_of_protocol(uint16_t port)
{
	for (const struct l7_protocol *const *p = l7_protocols; *p; p++)
		for (size_t i = 0; i < sizeof((*p)->ports) / sizeof((*p)->ports[0]); i++)
			if (port && (*p)->ports[i] == port)
				return true;
	return false;
}

/* A lower rank is more likely a server. Linux assigns ports from 32768 to clients. */
static int port_rank(uint16_t port)
{
	return port < 1024 ? 0 : is_of_protocol(port) ? 1 : port < 32768 ? 2 : 3;
}

bool servers__is_sender(struct servers *s, const struct packet *first, bool *sure)
{
	bool from = is_known(s, &first->from), to = is_known(s, &first->to);
	int rank_from = port_rank(first->from.port), rank_to = port_rank(first->to.port);

	*sure = true;
	if (first->proto == TRANSPORT_TCP && first->flags & TCP_SYN) {
		bool answers = first->flags & TCP_ACK;

		servers__learn(s, answers ? &first->from : &first->to);
		return answers;
	}
	if (from != to)
		return from;
	if (rank_from != rank_to)
		return rank_from < rank_to;
	*sure = false;
	return first->proto == TRANSPORT_TCP && first->from.port < first->to.port;
}
