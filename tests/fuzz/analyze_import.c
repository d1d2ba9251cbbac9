// SPDX-License-Identifier: BSD-2-Clause
/* runs: 3000 */
/*
 * Imports whole capture files: there must be no crash, and the records must be consistent:
 * connections are announced before their payload, each byte of a direction occurs at most once and
 * in order, lengths and sums match.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/pcap/pcap_import.h"

#define MAX_CONNECTIONS 4096

struct seen {
	bool announced, closed;
	uint64_t end[2], bytes[2], told[2];
};

static struct seen seen[MAX_CONNECTIONS];
static uint64_t payload_limit;

static void require(bool cond)
{
	if (!cond)
		abort();
}

static struct seen *of(uint32_t id)
{
	require(id > 0);
	return id < MAX_CONNECTIONS ? &seen[id] : NULL;
}

static int on_begin(void *ctx, uint64_t first_ns)
{
	return 0;
}

static void on_payload(const struct rec_payload *r)
{
	struct seen *s = of(r->connection);
	volatile uint32_t sum = 0;

	require(r->direction < 2 && r->len && r->data.len <= r->len && r->data.len <= 65535);
	require(r->data.len <= payload_limit);
	for (size_t i = 0; i < r->data.len; i++)
		sum += r->data.p[i];
	if (!s)
		return;
	require(s->announced && !s->closed && r->position >= s->end[r->direction]);
	s->end[r->direction] = r->position + r->len;
	s->bytes[r->direction] += r->len;
}

static int on_put(void *ctx, enum rec_kind kind, const void *rec)
{
	const struct rec_connection_stat *stat = rec;
	struct seen *s;

	if (kind == REC_payload) {
		on_payload(rec);
	} else if (kind == REC_connection) {
		s = of(((const struct rec_connection *)rec)->id);
		if (s)
			s->announced = true;
	} else if (kind == REC_connection_close) {
		s = of(((const struct rec_connection_close *)rec)->connection);
		require(!s || !s->closed);
		if (s)
			s->closed = true;
	} else if (kind == REC_connection_stat && (s = of(stat->connection))) {
		s->told[0] += stat->bytes_sent;
		s->told[1] += stat->bytes_received;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct import_sink sink = {on_begin, on_put, NULL};
	struct import_opts o = {"fuzz", UINT32_MAX, import_limits, false, false};
	char text[256];
	struct import *im;
	struct pcap_file *p = NULL;
	FILE *f;

	if (size < 2)
		return 0;
	/* The first byte selects the limits, so that tight ones are tested, too. */
	if (data[0] & 1)
		o.limits.max_cnt = 2;
	if (data[0] & 2)
		o.payload = 3;
	payload_limit = o.payload;
	f = fmemopen((void *)(data + 1), size - 1, "rb");
	if (!f || pcap_file__open(&p, f, text, sizeof(text)))
		return 0;
	memset(seen, 0, sizeof(seen));
	require(!import__new(&im, &o, &sink));
	import__read(im, p);
	require(!import__finish(im));
	for (int i = 0; i < MAX_CONNECTIONS; i++)
		require(seen[i].bytes[0] == seen[i].told[0] && seen[i].bytes[1] == seen[i].told[1]);
	import__free(im);
	pcap_file__free(p);
	return 0;
}
