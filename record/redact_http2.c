/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Secrets in HTTP/2 header blocks (RFC 9113, RFC 7541). The value's octets are replaced by stars,
 * as themselves or in Huffman code, so that the block decodes as before. What cannot be decoded (a
 * block that began in bytes that were not kept) is masked whole.
 */
#include <stdlib.h>

#include "../format/hpack.h"
#include "redact_impl.h"

enum {
	FRAME_HEAD = 9,
	HEADERS = 1,
	CONTINUATION = 9,
	PUSH_PROMISE = 5,
	SETTINGS = 4,
	PADDED = 8,
	PRIORITY = 32,
	TYPES = 10
};
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define HUFFMAN_STAR 0xf9 /* RFC 7541 appendix B: '*' is eight bits */

static uint32_t be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | p[1] << 8 | p[2];
}

/* Joined late: whole frames of known types from the call's beginning to its end, a HEADERS frame
 * among them. */
static bool looks_like_frames(const struct redact_call *c)
{
	uint64_t at = 0;
	bool head = false;

	while (at + FRAME_HEAD <= c->kept) {
		const uint8_t *f = c->p + at;

		if (f[3] >= TYPES || f[5] & 0x80 || be24(f) > 1 << 20)
			return false;
		head |= f[3] == HEADERS && (f[5] | f[6] | f[7] | f[8]);
		at += FRAME_HEAD + be24(f);
	}
	return head && at >= c->kept && at <= (uint64_t)c->len;
}

struct block {
	struct redact_call *call;
	size_t at;
};

static bool is_secret(struct span name)
{
	static const char *const names[] = {"authorization", "proxy-authorization", "cookie",
					    "set-cookie",    "x-api-key",	    "x-auth-token"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (name.len == strlen(names[i]) && !memcmp(name.p, names[i], name.len))
			return true;
	return false;
}

static void mask_field(void *ctx, const struct hpack_field *f)
{
	const struct block *b = ctx;

	if (f->raw_sz && (!f->name_known || is_secret(f->name)))
		redact_mask(b->call, b->at + f->raw_at, b->at + f->raw_at + f->raw_sz,
			    f->huffman ? HUFFMAN_STAR : '*');
}

/* A header block's fragment of `sz` bytes at `at`, of which `have` are here. */
static void mask_block(struct redact_side *s, struct redact_call *c, size_t at, size_t have)
{
	struct block b = {c, at};

	if (hpack__decode(s->hpack, c->p + at, have, mask_field, &b))
		s->frame_is_head = true;
}

/* Padding length and priority stand before the fragment (RFC 9113 6.2). */
static size_t fragment_offset(const uint8_t *f)
{
	if (f[3] == PUSH_PROMISE)
		return 4 + !!(f[4] & PADDED);
	return f[3] == HEADERS ? !!(f[4] & PADDED) + (f[4] & PRIORITY ? 5 : 0) : 0;
}

static void walk_frames(struct redact_side *s, struct redact_call *c, size_t at)
{
	while (at + FRAME_HEAD <= c->kept) {
		const uint8_t *f = c->p + at;
		size_t sz = be24(f), off = at + FRAME_HEAD + fragment_offset(f),
		       end = at + FRAME_HEAD + sz;
		bool head = f[3] == HEADERS || f[3] == CONTINUATION || f[3] == PUSH_PROMISE;

		s->frame_is_head = false;
		if (head && off < c->kept && off <= end)
			mask_block(s, c, off, (end < c->kept ? end : c->kept) - off);
		s->frame_end = c->pos + end;
		s->frame_is_head = head;
		at = end;
	}
	/* A frame header that is cut: where the next frame begins is not known any more. */
	if (at < c->kept)
		s->frame_end = 0;
}

bool redact_http2(struct redact *r, uint32_t connection, struct redact_conn *conn, unsigned dir,
		  struct redact_call *c)
{
	size_t at = 0, preface = sizeof(PREFACE) - 1;
	struct redact_side *s;
	bool begins = c->kept >= preface && !memcmp(c->p, PREFACE, preface);

	if (!(conn && conn->http2) && !begins &&
	    !(c->kept > FRAME_HEAD && c->p[3] < TYPES && looks_like_frames(c)))
		return false;
	if (!conn)
		conn = redact_state(r, connection);
	if (!conn)
		return false;
	s = &conn->side[dir];
	conn->http2 = true;
	if (!s->hpack) {
		if (hpack__new(&s->hpack))
			return false;
		/* Each side begins with its preface: the client's text, the server's SETTINGS.
		 */
		if (!begins && (c->pos || c->p[3] != SETTINGS))
			hpack__lost(s->hpack);
	} else if (c->pos != s->next) {
		hpack__lost(s->hpack);
		s->frame_end = 0;
	}
	if (begins) {
		at = preface;
	} else if (s->frame_end > c->pos) {
		at = s->frame_end - c->pos;
		if (s->frame_is_head)
			redact_mask(c, 0, at, '*');
	} else if (s->frame_end != c->pos && !looks_like_frames(c)) {
		/* Out of step: only whole frames at a call's beginning give the step back. */
		if (c->pos)
			redact_mask(c, 0, c->kept, '*');
		return true;
	}
	if (at < c->kept)
		walk_frames(s, c, at);
	return true;
}

void redact_http2_fini(struct redact_conn *conn)
{
	for (int i = 0; i < 2; i++)
		hpack__free(conn->side[i].hpack);
}
