/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoder of HPACK header blocks (RFC 7541) that can start at any point of a connection: dynamic
 * table entries added earlier are unknown, later ones are known. Shared by the recorder, which
 * masks secrets, and the analyser.
 */
#ifndef FORMAT_HPACK_H
#define FORMAT_HPACK_H

#include <stdbool.h>

#include "format/records.h"

struct hpack;

struct hpack_field {
	struct span name, value; /* decoded; ":unknown" when the table entry is unknown */
	bool name_known, value_known;
	/* A literal value in the block: position and size of its octets, and whether they are
	 * Huffman coded. raw_sz 0: the value is from the table. */
	size_t raw_at, raw_sz;
	bool huffman;
	bool cut; /* the value continues after the available bytes and is not decoded yet */
};

int hpack__new(struct hpack **h); /* 0 or -ENOMEM */
void hpack__free(struct hpack *h);

/* Bytes of this direction were missed, or the connection started before the capture: the table
 * content is unknown. */
void hpack__lost(struct hpack *h);

/*
 * Calls fn for each field of a block; its strings are valid during the call. -EBADMSG: not a header
 * block; -ENODATA: the block continues after `sz` bytes (fn was called for the fields before; the
 * table counts as lost).
 */
int hpack__decode(struct hpack *h, const uint8_t *p, size_t sz,
		  void (*fn)(void *ctx, const struct hpack_field *f), void *ctx);

/*
 * As hpack__decode(), for a block in several parts. -ENODATA leaves the table as it was before the
 * field at *used. That field must be passed again together with the following bytes. When only its
 * value is incomplete, fn was called for it.
 */
int hpack__decode_part(struct hpack *h, const uint8_t *p, size_t sz,
		       void (*fn)(void *ctx, const struct hpack_field *f), void *ctx, size_t *used);

/*
 * Huffman code (RFC 7541 5.2). hpack_huffman_bits(): number of bits of a text.
 * hpack_huffman_text(): decodes as much as is available to `dst`, at most 8/5 of sz octets; returns
 * their number.
 */
size_t hpack_huffman_bits(const char *text, size_t sz);
size_t hpack_huffman_text(const uint8_t *p, size_t sz, char *dst);

#endif
