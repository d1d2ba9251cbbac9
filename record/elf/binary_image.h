/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF segments and build-id: what obrec needs before it can unwind or symbolize a file. Pure;
 * fuzzed. */
#ifndef RECORD_BINARY_IMAGE_H
#define RECORD_BINARY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A PT_LOAD. */
struct image_load {
	uint64_t offset, file_sz, address;
	bool exec;
};

#define IMAGE_ID_CAP 136 /* 64 bytes in hex, or "sha1:" and 40 digits */

struct image {
	struct image_load *loads;
	size_t load_cnt;
	uint64_t loads_hash;
	char build_id[IMAGE_ID_CAP]; /* hex; empty when the file has none */
};

/* Returns 0. -ENOEXEC: not an ELF program or library of this byte order; -EBADMSG: invalid headers;
 * -EIO, -ENOMEM. */
int image_read(struct image *im, int fd);
void image_fini(struct image *im);

/* Computes the load bias (address minus ELF virtual address) of a mapping of file offset `offset`
 * at `start`. Returns false if no segment matches; then file offsets serve as ELF addresses. */
bool image_bias(const struct image *im, uint64_t start, uint64_t offset, uint64_t *bias);

/* "sha1:HEX" of the content, the id of a file without a build-id. Above this size only the first
 * and last half of that many bytes are hashed, because the recorder waits for the result. */
#define IMAGE_ID_WHOLE_SZ (128 << 20)
int image_content_id(int fd, char id[IMAGE_ID_CAP]);
void image_id_of_digest(char id[IMAGE_ID_CAP], const unsigned char sha1[20]);

#endif
