/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_twice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "analyze/pcap/pcap_flow.h"

/* 16-bit identifications repeat after 65536 datagrams, with different payload. */
enum { SLOTS = 1 << 14 };
#define MOMENT_NS 100000000ull

struct twice_slot {
	uint64_t hash, path, ts_ns; /* hash 0: empty */
};

int twice__init(struct twice *t)
{
	*t = (struct twice){.slots = calloc(SLOTS, sizeof(*t->slots))};
	if (!t->slots)
		return -ENOMEM;
	return getrandom(&t->seed, sizeof(t->seed), 0) == sizeof(t->seed) ? 0 : -EIO;
}

void twice__fini(struct twice *t)
{
	free(t->slots);
	*t = (struct twice){0};
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL;
	return h ^ h >> 32;
}

static uint64_t hash_of(const struct twice *t, const struct packet *pk)
{
	uint64_t h = endpoint_hash(&pk->from, t->seed) + 3 * endpoint_hash(&pk->to, ~t->seed);
	const char *p = pk->data.p;
	size_t left = pk->data.len;

	h = mix(h, pk->net);
	h = mix(h, (uint64_t)pk->ip_id << 32 | pk->len);
	h = mix(h, (uint64_t)pk->seq << 32 | pk->ack);
	h = mix(h, pk->proto << 8 | pk->flags);
	for (uint64_t v; left >= sizeof(v); p += sizeof(v), left -= sizeof(v)) {
		memcpy(&v, p, sizeof(v));
		h = mix(h, v);
	}
	for (; left; left--)
		h = mix(h, (uint8_t)*p++);
	return h | 1;
}

bool twice__seen(struct twice *t, const struct packet *pk)
{
	uint64_t hash = hash_of(t, pk);
	struct twice_slot *s = &t->slots[(hash >> 8) % SLOTS];
	uint64_t apart = pk->ts_ns > s->ts_ns ? pk->ts_ns - s->ts_ns : s->ts_ns - pk->ts_ns;

	if (s->hash == hash && apart < MOMENT_NS && (pk->ip_id || s->path != pk->path)) {
		t->cnt++;
		return true;
	}
	*s = (struct twice_slot){hash, pk->path, pk->ts_ns};
	return false;
}
