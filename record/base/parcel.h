/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between obrec and its reader processes: numbers, strings, arrays and open files, over a
 * SOCK_SEQPACKET socket. A message larger than a packet is sent as a sealed memfd, which the sender
 * can no longer change. The getters check bounds, because a reader parses untrusted files and may
 * be compromised.
 */
#ifndef RECORD_PARCEL_H
#define RECORD_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/records.h"

enum { PARCEL_FDS = 3, PARCEL_TAILS = 4 };

struct parcel {
	uint32_t kind;	    /* enum reading of reader_process.h */
	int32_t rc;	    /* of an answer: 0 or a negative errno */
	int fd[PARCEL_FDS]; /* owned; -1: none */
	char *body;
	size_t len, cap; /* cap 0: body is mapped */
	size_t at;	 /* read position of the getters */
	bool bad;	 /* a getter read past the end, or a putter ran out of memory */
	/* Large arrays after the body, each aligned to 8 bytes. Borrowed by the sender. */
	struct {
		const void *p;
		size_t len;
	} tail[PARCEL_TAILS];
	unsigned tail_cnt;
};

void parcel_init(struct parcel *m, uint32_t kind);
void parcel_fini(struct parcel *m); /* closes its descriptors */

void parcel_put(struct parcel *m, const void *p, size_t len);
void parcel_put_u64(struct parcel *m, uint64_t v);
void parcel_put_span(struct parcel *m, struct span s);
/* NULL is sent as an empty string. */
void parcel_put_string(struct parcel *m, const char *s);
void parcel_put_fd(struct parcel *m, unsigned i, int fd); /* takes ownership of fd */
void parcel_put_tail(struct parcel *m, const void *p, size_t len);

/* Past the end, getters return 0, "" or NULL and set `bad`. */
void parcel_get(struct parcel *m, void *p, size_t len);
uint64_t parcel_get_u64(struct parcel *m);
struct span parcel_get_span(struct parcel *m); /* points into the message */
/* Returns the next tail: `cnt` items of `sz` bytes, aligned to 8 bytes. */
const void *parcel_get_tail(struct parcel *m, uint64_t cnt, size_t sz);
int parcel_take_fd(struct parcel *m, unsigned i); /* ownership passes to the caller; -1: none */

/* Returns 0 or a negative errno; -EPIPE: the peer has closed the socket. Descriptors stay open. */
int parcel_send(const struct parcel *m, int socket);
/* Initialises *m. -EBADMSG: not a valid message. flags: MSG_DONTWAIT or 0. */
int parcel_receive(struct parcel *m, int socket, int flags);

#endif
