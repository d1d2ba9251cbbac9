/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the records of BPF ring buffers, one a CPU, in the order of their times. Over plain memory;
 * owns nothing. */
#ifndef RECORD_RING_READ_H
#define RECORD_RING_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"

/* Called for each whole, checked record; must not keep it. */
struct ring_handler {
	void (*stack)(void *ctx, const struct wire_stack *s);
	void (*sample)(void *ctx, const struct wire_sample *s);
	void (*other)(void *ctx, const struct wire_hdr *hdr); /* a probe's own kind */
	void (*bad)(void *ctx);				      /* not a record this build knows */
	void *ctx;
};

/* One ring of `sz` bytes. A record that goes on beyond their end does so behind them or, where there
 * is a buffer `joined` of `sz` bytes for it to be put together, at their beginning. */
struct ring_view {
	unsigned long *consumer;
	const unsigned long *producer;
	const char *data;
	char *joined;
	uint32_t sz;
	bool waits; /* what its records refer to may stand in other rings, no later */
	/* ring_read()'s own: how far it goes, and when what comes next was written */
	unsigned long end;
	uint64_t next_ns;
};

/*
 * Hands over what is queued in `cnt` rings at the call, oldest first to within some milliseconds,
 * as far as each CPU wrote in order: who reads the archive holds back only so much. Rings that wait
 * come behind the others.
 * Returns how many of the records were of the kinds that cannot wait (payload can: nothing has to
 * be looked up for it).
 */
unsigned ring_read(struct ring_view *v, unsigned cnt, const struct ring_handler *h);

#endif
