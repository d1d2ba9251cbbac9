/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 3000 */
/*
 * Hostile conversations: the input is split into calls with directions, gaps and truncated payload.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/arena.h"
#include "analyze/l7/engine/l7.h"

static size_t seen;

static void touch(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		seen += (unsigned char)s.p[i];
}

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	const struct l7_message *m[2] = {x->request, x->response};

	for (int i = 0; i < 2; i++) {
		if (!m[i])
			continue;
		touch(m[i]->method);
		touch(m[i]->target);
		touch(m[i]->status);
		touch(m[i]->detail);
	}
}

/* Puts the connection to rest between two calls. */
static struct l7_conn *rest_and_wake(struct l7_conn *c)
{
	struct l7_rest *r = l7_conn__rest(c);

	return r ? l7_rest__wake(r) : c;
}

/* byte 0: protocol (or bidding), byte 1: role; then pieces: control byte, length byte, bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t sz)
{
	struct l7_conn_opts opts = {.sink = sink, .max_buffer = 1 << 16};
	uint64_t pos[2] = {0, 0}, now = 0;
	struct l7_conn *c;
	struct arena arena = {0};
	size_t cnt = 0;

	if (sz < 2)
		return 0;
	while (l7_protocols[cnt])
		cnt++;
	if (p[0] % (cnt + 1))
		opts.only = l7_protocols[p[0] % (cnt + 1) - 1];
	opts.role = p[1] % 3;
	opts.open = p[1] & 128;
	opts.arena = p[1] & 64 ? NULL : &arena;
	if (l7_conn__new(&c, &opts))
		return 0;
	for (size_t i = 2; i + 2 < sz;) {
		unsigned control = p[i], dir = control & 1;
		size_t len = p[i + 1] + (control & 2 ? 256 : 0);
		struct l7_piece piece = {.dir = dir,
					 .pos = pos[dir],
					 .ts_ns = now += 1000000,
					 .datagram = control & 64};

		i += 2;
		if (len > sz - i)
			len = sz - i;
		piece.len = len + (control & 4 ? 100 : 0);
		piece.data = (struct span){(const char *)p + i, len};
		pos[dir] += piece.len;
		i += len;
		if (!(control & 8 && control & 16))
			l7_conn__feed(c, &piece);
		if (control & 32)
			c = rest_and_wake(c);
	}
	l7_conn__finish(c);
	l7_conn__free(c);
	arena_fini(&arena);
	return 0;
}
