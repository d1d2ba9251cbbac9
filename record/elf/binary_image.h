/* SPDX-License-Identifier: BSD-2-Clause */
/* What obrec must know of an ELF file before it can be unwound or named: its segments and its
 * build-id. Pure; fuzzed. */
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

/* 0; -ENOEXEC: not an ELF program or library of this machine's byte order;
 * -EBADMSG: one with headers that cannot be; -EIO, -ENOMEM. */
int image_read(struct image *im, int fd);
void image_fini(struct image *im);

/*
 * Address minus ELF virtual address, for a mapping of the file's `offset` at `start`. False when no
 * segment is there (then the ELF address is taken to be the file offset).
 */
bool image_bias(const struct image *im, uint64_t start, uint64_t offset, uint64_t *bias);

/* "sha1:HEX" of the content: names a file without a build-id. Over this size only of its first and
 * last half of that, as the recorder waits for it. */
#define IMAGE_ID_WHOLE_SZ (128 << 20)
int image_content_id(int fd, char id[IMAGE_ID_CAP]);
void image_id_of_digest(char id[IMAGE_ID_CAP], const unsigned char sha1[20]);

#endif
