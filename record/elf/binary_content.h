/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two files of one build-id, are they one build? A build-id is what a file says of itself, and
 * whoever makes a program can give it another's, with the same size, segments and notes. So what is
 * compared is a keyed hash (UMAC-64, RFC 4418) of the bytes and the owner. Its key is secret: no
 * file can be made to fit.
 *
 * All of a file up to `max` bytes counts. Of a larger one as many, in blocks at places that follow
 * from the key: another file of the same owner, which differs in little of that, may pass for it.
 */
#ifndef RECORD_BINARY_CONTENT_H
#define RECORD_BINARY_CONTENT_H

#include <nettle/umac.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_KEY_SZ UMAC_KEY_SIZE

struct content_key {
	struct umac64_ctx mac;
	uint64_t places;
};

void content_key_init(struct content_key *k, const unsigned char secret[CONTENT_KEY_SZ]);
/* One of this process: 0 or negative errno. */
int content_key_random(struct content_key *k);

/* Not 0 in *tag. -ECANCELED when *cancel (may be NULL) was set, else what fstat and pread gave;
 * -EIO: the file was cut meanwhile. */
int content_tag(const struct content_key *k, int fd, uint64_t max, const atomic_bool *cancel,
		uint64_t *tag);
/* The same of a few bytes. */
uint64_t content_tag_bytes(const struct content_key *k, const void *p, size_t len);

#endif
