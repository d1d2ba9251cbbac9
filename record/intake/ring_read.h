/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads BPF ring buffers, one per CPU, in time order. Works on plain memory; owns nothing. */
#ifndef RECORD_RING_READ_H
#define RECORD_RING_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"

/* Called for each complete, checked record. Must not keep the pointer. */
struct ring_handler {
	void (*stack)(void *ctx, const struct wire_stack *s);
	void (*sample)(void *ctx, const struct wire_sample *s);
	void (*other)(void *ctx, const struct wire_hdr *hdr); /* kind defined by a probe */
	void (*bad)(void *ctx);				      /* unknown or malformed record */
	void *ctx;
};

/*
 * A ring of `sz` bytes. A record that wraps continues after the end of the data (mapped twice) or,
 * if there is a buffer `joined` of `sz` bytes, at the beginning; it is then copied together there.
 */
struct ring_view {
	unsigned long *consumer;
	const unsigned long *producer;
	const char *data;
	char *joined;
	uint32_t sz;
	bool waits; /* its records may refer to older ones in other rings */
	/* private to ring_read(): read limit, and time of the next record */
	unsigned long end;
	uint64_t next_ns;
};

/*
 * Passes on what is queued in `cnt` rings at the time of the call, oldest first to within some
 * milliseconds, provided each CPU wrote in order. The reader of the archive relies on that bound.
 * Rings with `waits` set come after the others. Returns the number of urgent records: all except
 * payload, which needs no look-up.
 */
unsigned ring_read(struct ring_view *v, unsigned cnt, const struct ring_handler *h);

#endif
