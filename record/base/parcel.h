/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What obrec and its reader processes send each other: a few numbers, strings and arrays, and open
 * files, over a SOCK_SEQPACKET socket. What is larger than a packet goes as a sealed memfd, which
 * its sender cannot change any more. The getters check bounds: a reader has parsed hostile files
 * and is not to be trusted with more than its answers.
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
	int32_t rc;	    /* of an answer: 0 or negative errno */
	int fd[PARCEL_FDS]; /* owned; -1: none */
	char *body;
	size_t len, cap; /* cap 0: body is mapped */
	size_t at;	 /* of the getters */
	bool bad;	 /* a getter met the end, or a putter found no memory */
	/* Large arrays that follow the body, each from a multiple of 8 on; borrowed by the sender.
	 */
	struct {
		const void *p;
		size_t len;
	} tail[PARCEL_TAILS];
	unsigned tail_cnt;
};

void parcel_init(struct parcel *m, uint32_t kind);
void parcel_fini(struct parcel *m); /* closes its files */

void parcel_put(struct parcel *m, const void *p, size_t len);
void parcel_put_u64(struct parcel *m, uint64_t v);
void parcel_put_span(struct parcel *m, struct span s);
/* NULL is sent as an empty one. */
void parcel_put_string(struct parcel *m, const char *s);
void parcel_put_fd(struct parcel *m, unsigned i, int fd); /* taken */
void parcel_put_tail(struct parcel *m, const void *p, size_t len);

/* Past the end they give 0, "" and NULL, and set `bad`. */
void parcel_get(struct parcel *m, void *p, size_t len);
uint64_t parcel_get_u64(struct parcel *m);
struct span parcel_get_span(struct parcel *m); /* points into the message */
/* The next tail: `cnt` items of `sz` bytes, aligned to 8. */
const void *parcel_get_tail(struct parcel *m, uint64_t cnt, size_t sz);
int parcel_take_fd(struct parcel *m, unsigned i); /* the caller's from now on; -1: none */

/* 0, or negative errno; -EPIPE: the other side is gone. Sending closes nothing. */
int parcel_send(const struct parcel *m, int socket);
/* *m is initialised by it. -EBADMSG: not a message. flags: MSG_DONTWAIT or 0. */
int parcel_receive(struct parcel *m, int socket, int flags);

#endif
