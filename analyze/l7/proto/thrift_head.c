/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/proto/thrift_head.h"

#include <string.h>

enum { HEADER_MAGIC = 0x0fff };
#define FRAME_MAX (256u << 20)

static bool is_name(struct span s)
{
	if (!s.len || s.len > NAME_MAX_LEN)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		unsigned char ch = s.p[i], low = ch | 32;

		/* A letter or _ first; : separates service and method of multiplexed calls. */
		if (!((low >= 'a' && low <= 'z') || ch == '_' ||
		      (i && ((ch >= '0' && ch <= '9') || (ch && strchr(":./-$", ch))))))
			return false;
	}
	return true;
}

static enum verdict finish_head(struct thrift_head *h, const struct thrift_reader *r)
{
	if (r->bad || r->over > NAME_MAX_LEN)
		return HEAD_NOT;
	if (r->over || r->c.cut)
		return h->name.len && !is_name(h->name) ? HEAD_NOT : HEAD_SHORT;
	h->body = r->c.p;
	return h->type >= CALL && h->type <= ONEWAY && is_name(h->name) ? HEAD_OK : HEAD_NOT;
}

/* Parses the message header, without a frame. */
static enum verdict message_head(struct thrift_head *h, struct l7_cursor c)
{
	struct thrift_reader r = {.c = c, .bool_value = -1};
	size_t left = c.end - c.p;

	if (left < 4)
		return HEAD_SHORT;
	if (*c.p == 0x82) {
		unsigned b;

		h->encoding = COMPACT;
		r.compact = true;
		l7_take(&r.c, 1);
		b = l7_be(&r.c, 1);
		h->type = b >> 5;
		if ((b & 31) != 1 && (b & 31) != 2)
			return HEAD_NOT;
		h->seqid = thrift_varint(&r);
		h->name = thrift_string(&r);
		return finish_head(h, &r);
	}
	if (*c.p & 0x80) {
		if (c.p[0] != 0x80 || c.p[1] != 1 || c.p[2])
			return HEAD_NOT;
		h->encoding = STRICT;
		h->type = c.p[3];
		l7_take(&r.c, 4);
		h->name = thrift_string(&r);
		h->seqid = l7_be(&r.c, 4);
		return finish_head(h, &r);
	}
	h->encoding = OLD;
	if (c.p[0] || c.p[1])
		return HEAD_NOT;
	h->name = thrift_string(&r);
	h->type = l7_be(&r.c, 1);
	h->seqid = l7_be(&r.c, 4);
	return finish_head(h, &r);
}

/* flags:2, seqid:4, words:2, then protocol, transforms and infos in words * 4 bytes */
static enum verdict header_head(struct thrift_head *h, struct l7_cursor c)
{
	struct thrift_reader words = {.compact = true};
	uint64_t transforms, size;
	uint32_t seqid;
	enum verdict v;

	l7_take(&c, 4);
	seqid = l7_be(&c, 4);
	size = 4 * l7_be(&c, 2);
	if (c.cut || (uint64_t)(c.end - c.p) < size)
		return HEAD_SHORT;
	words.c = (struct l7_cursor){c.p, c.p + size, false};
	thrift_varint(&words);
	transforms = thrift_varint(&words);
	l7_take(&c, size);
	h->header = true;
	h->seqid = seqid;
	if (words.c.cut || words.bad)
		return HEAD_NOT;
	if (transforms) {
		h->opaque = true;
		h->body = c.p;
		h->type = 0;
		return HEAD_OK;
	}
	v = message_head(h, c);
	h->seqid = seqid;
	return v;
}

enum verdict thrift_head_of(struct thrift_head *h, const struct l7_view *v)
{
	struct l7_cursor c = l7_cursor(v);
	uint32_t len;
	enum verdict verdict;

	*h = (struct thrift_head){0};
	if (v->len < 4)
		return HEAD_SHORT;
	if (v->p[0] & 0x80)
		return message_head(h, c);
	len = l7_be(&c, 4);
	/* Framed, or old binary, which begins with the length of the name. */
	if (v->len >= 8 && c.p[0] == HEADER_MAGIC >> 8 && c.p[1] == (HEADER_MAGIC & 255)) {
		h->frame = 4 + (uint64_t)len;
		h->framed = true;
		if (len < 10 || len > FRAME_MAX)
			return HEAD_NOT;
		return header_head(h, c);
	}
	if (v->len >= 5 && v->len < 8 && *c.p == HEADER_MAGIC >> 8)
		return HEAD_SHORT;
	if (v->len >= 5 && (*c.p & 0x80 || !*c.p)) {
		h->framed = true;
		h->frame = 4 + (uint64_t)len;
		if (len < 7 || len > FRAME_MAX)
			return HEAD_NOT;
		verdict = message_head(h, c);
		return verdict;
	}
	if (v->len < 5)
		return len && len <= FRAME_MAX ? HEAD_SHORT : HEAD_NOT;
	return message_head(h, l7_cursor(v));
}

bool thrift_body_of(const struct thrift_head *h, const struct l7_view *v, struct thrift_reader *r)
{
	*r = (struct thrift_reader){.c = {h->body, v->p + v->len, false},
				    .compact = h->encoding == COMPACT,
				    .bool_value = -1};
	if (h->framed && h->frame < v->len)
		r->c.end = v->p + h->frame;
	return r->c.end >= r->c.p;
}
