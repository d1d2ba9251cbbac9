/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HPACK header blocks (RFC 7541), read from any point of a connection on: entries of the dynamic
 * table that were made before are not known, those made since are. Shared by the recorder, which
 * masks secrets, and the analyser.
 */
#ifndef FORMAT_HPACK_H
#define FORMAT_HPACK_H

#include <stdbool.h>

#include "format/records.h"

struct hpack;

struct hpack_field {
	struct span name, value; /* decoded; ":unknown" where the table entry is not known */
	bool name_known, value_known;
	/* A value that stands in the block itself: its octets and whether they are Huffman code. sz
	 * 0: from the table. */
	size_t raw_at, raw_sz;
	bool huffman;
	bool cut; /* the value goes on behind the bytes at hand, and is not decoded yet */
};

int hpack__new(struct hpack **h); /* 0 or -ENOMEM */
void hpack__free(struct hpack *h);

/* Bytes of this direction were missed, or the connection is older than the record: nothing of the
 * table is known. */
void hpack__lost(struct hpack *h);

/*
 * Calls fn for each field of a block; its strings live for the call. -EBADMSG: not a header block;
 * -ENODATA: it goes on after `sz` bytes (the fields before were handed out, the table counts as
 * lost).
 */
int hpack__decode(struct hpack *h, const uint8_t *p, size_t sz,
		  void (*fn)(void *ctx, const struct hpack_field *f), void *ctx);

/*
 * The same for a block that comes in parts: -ENODATA leaves the table as it was before the field at
 * *used, which is to be given again with what follows; when only its value is cut, fn was told.
 */
int hpack__decode_part(struct hpack *h, const uint8_t *p, size_t sz,
		       void (*fn)(void *ctx, const struct hpack_field *f), void *ctx, size_t *used);

/* Huffman code (RFC 7541 5.2): how many bits a text takes; as much as there is of one, at most 8/5
 * octets of each, into `dst`, and how many that is. */
size_t hpack_huffman_bits(const char *text, size_t sz);
size_t hpack_huffman_text(const uint8_t *p, size_t sz, char *dst);

#endif
