/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets inside values that are not secret as a whole: in the query of :path, in location
 * and referer, in bodies. In Huffman code everything after a secret is masked, because codes differ
 * in length, and a star takes eight bits at any bit offset.
 */
#include "format/redact/redact_http2.h"

#include <errno.h>
#include <stdlib.h>

#include "format/redact/redact_hits.h"

enum { STAR = 0xf9, STAR_BITS = 8 }; /* RFC 7541 appendix B */

static struct redact_call call_of(uint8_t *p, size_t sz)
{
	return (struct redact_call){.p = p, .out = p, .kept = sz, .len = sz, .all = sz};
}

/* ---- field values ---- */

static void put(struct redact_call *c, const struct redact_value *v, size_t i, uint8_t octet)
{
	if (i >= v->earlier)
		redact_put(c, v->at + i - v->earlier, octet);
}

/* Writes stars from bit `from` on; the rest after the last star is padding, which is ones. */
static void put_stars(struct redact_call *c, const struct redact_value *v, size_t from)
{
	size_t stars = v->cut ? SIZE_MAX : (v->sz * 8 - from) / STAR_BITS;

	for (size_t i = from / 8; i < v->sz; i++) {
		uint8_t octet = v->raw[i];

		for (size_t bit = i * 8 < from ? from : i * 8; bit < i * 8 + 8; bit++) {
			bool one = (bit - from) / STAR_BITS >= stars ||
				   STAR >> (7 - (bit - from) % STAR_BITS) & 1;

			octet = (octet & ~(0x80 >> bit % 8)) | (one ? 0x80 >> bit % 8 : 0);
		}
		put(c, v, i, octet);
	}
}

static int mask_text(struct redact_call *c, const struct redact_value *v, uint8_t *text, size_t sz)
{
	struct redact_call t = call_of(text, sz);
	struct redact_field field = {.head = true};
	uint8_t *before = malloc(sz);
	size_t i = 0;

	if (!before)
		return -ENOMEM;
	memcpy(before, text, sz);
	redact_fields(&field, &t, redact_hits(t.p, t.kept));
	while (i < sz && before[i] == text[i])
		i++;
	/* An incomplete value may contain the first bits of the next code. */
	if (t.masked ? v->huffman : v->huffman && v->cut && field.kind)
		put_stars(c, v, hpack_huffman_bits((char *)before, i));
	for (; t.masked && !v->huffman && i < sz; i++)
		put(c, v, i, text[i]);
	free(before);
	return 0;
}

int redact_http2_value(struct redact_call *c, const struct redact_value *v)
{
	uint8_t *text = malloc(v->sz * 8 / 5 + 1);
	size_t sz = v->sz;
	int err = 0;

	if (!text)
		return -ENOMEM;
	if (v->huffman)
		sz = hpack_huffman_text(v->raw, v->sz, (char *)text);
	else
		memcpy(text, v->raw, sz);
	/* The common case. */
	if (memchr(text, '=', sz) || memchr(text, ':', sz))
		err = mask_text(c, v, text, sz);
	free(text);
	return err;
}

/* ---- bodies ---- */

static size_t scan(struct redact_body *b, struct redact_call *c)
{
	size_t at = redact_fields(&b->field, c, redact_hits(c->p, c->kept)), left = c->kept - at;

	b->carry_sz = left < CARRY_MAX ? left : CARRY_MAX;
	memcpy(b->carry, c->p + c->kept - b->carry_sz, b->carry_sz);
	return at;
}

static void scan_joined(struct redact_body *b, struct redact_call *c, size_t at, size_t sz)
{
	size_t earlier = b->carry_sz;
	uint8_t *joined = malloc(earlier + sz);
	struct redact_call j = call_of(joined, earlier + sz);

	if (!joined) {
		redact_mask(c, at, at + sz, '*');
		return;
	}
	memcpy(joined, b->carry, earlier);
	memcpy(joined + earlier, c->p + at, sz);
	scan(b, &j);
	for (size_t i = 0; i < sz && j.masked; i++)
		redact_put(c, at + i, joined[earlier + i]);
	free(joined);
}

/* Scans a part of the call as a separate call; masking copies the whole call. */
static void scan_part(struct redact_body *b, struct redact_call *c, size_t at, size_t sz)
{
	struct redact_call part = *c;

	part.p += at;
	part.out += at;
	part.kept = part.len = part.all = sz;
	part.masked = false;
	scan(b, &part);
	if (!part.masked)
		return;
	if (c->p != c->out) {
		memcpy(c->out, c->p, at);
		memcpy(c->out + at + sz, c->p + at + sz, c->all - at - sz);
		c->p = c->out;
	}
	c->masked = true;
}

void redact_http2_body(struct redact_body *b, struct redact_call *c, size_t at, size_t sz)
{
	const struct redact_call part = {.p = c->p + at, .kept = sz};

	if (b->carry_sz && redact_fields_go_on(b->carry, b->carry_sz, &part))
		scan_joined(b, c, at, sz);
	else
		scan_part(b, c, at, sz);
}
