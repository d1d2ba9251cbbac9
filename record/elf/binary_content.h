/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides whether two files with one build-id have the same content. Anyone can build a program
 * with the build-id, size, segments and notes of another. Therefore obrec compares a keyed hash
 * (UMAC-64, RFC 4418) of the bytes and the owner. The key is secret, so a file cannot be crafted to
 * match.
 *
 * Files up to `max` bytes are hashed completely. Of larger files, `max` bytes are hashed in blocks
 * whose positions derive from the key. Another file of the same owner that differs in few bytes may
 * then be taken for the same.
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
/* A random key for this process. Returns 0 or a negative errno. */
int content_key_random(struct content_key *k);

/* Sets *tag, which is never 0. -ECANCELED: *cancel (may be NULL) was set; -EIO: the file was
 * truncated meanwhile; else the error of fstat or pread. */
int content_tag(const struct content_key *k, int fd, uint64_t max, const atomic_bool *cancel,
		uint64_t *tag);
/* The same hash for a short byte string. */
uint64_t content_tag_bytes(const struct content_key *k, const void *p, size_t len);

#endif
