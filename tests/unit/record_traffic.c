/* SPDX-License-Identifier: BSD-2-Clause */
/* Sequence numbers of payload that comes before its connection is announced: they wait for it, but
 * not for ever. */
#include <malloc.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "record/base/loss.h"
#include "record/process/process.h"
#include "record/traffic/traffic_intake.h"
#include "check.h"

static uint64_t sent_seq; /* of the last connection_stat */

int obz_writer__put(struct obz_writer *w, enum rec_kind kind, const void *rec)
{
	if (kind == REC_connection_stat)
		sent_seq = ((const struct rec_connection_stat *)rec)->sent_seq;
	return 0;
}

uint32_t tracker__thread(struct tracker *t, uint32_t tgid, uint32_t tid, const char *comm,
			 uint64_t ts_ns)
{
	return 1;
}

uint32_t tracker__process(struct tracker *t, uint32_t tgid, const char *comm, uint64_t ts_ns)
{
	return 1;
}

static void payload(struct traffic *t, uint32_t sock)
{
	struct wire_payload *p = calloc(1, sizeof(*p) + 8);

	p->sock = sock;
	p->dir = NET_SENT;
	p->tcp_seq = 1000 + sock;
	p->len = p->kept = 8;
	traffic__payload(t, p);
	free(p);
}

/* Its number, of which the archive hears when it is closed. */
static uint64_t announced(struct traffic *t, uint32_t sock)
{
	struct wire_sock *w = calloc(1, sizeof(*w));

	w->sock.id = sock;
	w->sock.transport = IPPROTO_TCP;
	sent_seq = 0;
	traffic__sock(t, w);
	w->closed = 1;
	w->sock.calls[NET_SENT] = 1;
	traffic__sock(t, w);
	free(w);
	return sent_seq;
}

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

int main(void)
{
	for (int redact = 0; redact < 2; redact++) {
		const struct traffic_opts opts = {.socks_fd = -1, .others_fd = -1, .gone_fd = -1};
		struct traffic *t;
		size_t before, most;

		CHECK(!traffic__new(&t, &opts));
		CHECK(!redact || !traffic__redact(t, false, false));
		payload(t, 1);
		CHECK(announced(t, 1) == 1001, "at once");
		payload(t, 2);
		traffic__reanchor(t);
		CHECK(announced(t, 2) == 1002, "after a sweep");
		before = in_use();
		for (uint32_t i = 0; i < 20000; i++)
			payload(t, 100 + i);
		most = in_use();
		traffic__reanchor(t);
		traffic__reanchor(t);
		for (int i = 0; i < 8; i++)
			traffic__drained(t);
#ifndef __SANITIZE_ADDRESS__ /* whose own memory is not glibc's */
		CHECK(in_use() < before + 20000 && most > before + 200000,
		      "%zu bytes, %zu, %zu at last", before, most, in_use());
#else
		(void)before, (void)most;
#endif
		CHECK(announced(t, 100) == 0, "it was forgotten");
		traffic__free(t);
	}
	return failed;
}
