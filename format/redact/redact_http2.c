/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets in HTTP/2 header blocks (RFC 9113, RFC 7541). The octets of a value are replaced by
 * stars, plain or Huffman coded, so that the block still decodes.
 *
 * Frames and header blocks are tracked byte by byte across calls, which may cut them anywhere. An
 * incomplete field is stored unmasked and decoded again with the following bytes. Its name and the
 * length of its value precede the value, so no octet of a secret is output before it is recognised.
 * (RFC 7541 4.1 defines the size of an entry by the length of its text. Huffman coded stars are at
 * most as long as the text they replace, unless a peer uses Huffman code that makes the text
 * longer. A reader of the masked block therefore keeps its entries at least as long as the peers,
 * and indexes have the same meaning.)
 *
 * Missing bytes: within a frame that is not a header block, nothing is lost. In a block, the rest
 * is masked. When they include the start of a frame, everything is masked until a call starts with
 * frames. The dynamic table is then unknown, and a literal whose name is in its unknown part is
 * masked; a reader that has only the masked bytes cannot name it either.
 *
 * A receiver may ask for the header of a frame and for its payload in two calls (Go's server does).
 * A header alone proves nothing, so it is kept until the block behind it can be decoded.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/redact/redact_http2.h"
#include "format/redact/redact_names.h"

enum {
	FRAME_HEAD = 9,
	DATA = 0,
	HEADERS = 1,
	PRIORITY_FRAME = 2,
	RST_STREAM = 3,
	SETTINGS = 4,
	PUSH_PROMISE = 5,
	PING = 6,
	GOAWAY = 7,
	WINDOW_UPDATE = 8,
	CONTINUATION = 9,
	END_HEADERS = 4,
	PADDED = 8,
	PRIORITY = 32,
	MAX_FRAME = 1 << 20, /* maximum frame when the connection is seen from its middle on */
	MAX_BLOCK = 1 << 14,
	LOOK_MAX = 1024,      /* bytes of a block that are decoded to recognise it */
	FIELD_MAX = 1 << 16,  /* stored bytes of an incomplete field */
	PREFACE_SURE = 3,     /* bytes that distinguish the preface from other text */
	SETTINGS_MAX = 6 * 16 /* maximum size of the first SETTINGS */
};
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define PREFACE_SZ (sizeof(PREFACE) - 1)
#define HUFFMAN_STAR 0xf9 /* RFC 7541 appendix B: '*' is eight bits */

struct redact_http2 {
	struct hpack *hpack;
	bool in_step;
	bool blind; /* mask the rest of this block */
	uint8_t head[FRAME_HEAD], head_sz, type, flags;
	uint32_t left;	 /* remaining bytes of the frame's payload */
	uint32_t before; /* of that, bytes before the fragment */
	bool padding;	 /* its first byte is the padding length */
	uint8_t pad;
	uint8_t *field; /* field that is cut at the end of a call or frame */
	size_t field_sz, field_cap;
	struct redact_body body;
};

void redact_http2_free(struct redact_http2 *h)
{
	if (!h)
		return;
	hpack__free(h->hpack);
	free(h->field);
	free(h);
}

static uint32_t be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | p[1] << 8 | p[2];
}

static bool is_block(unsigned type)
{
	return type == HEADERS || type == PUSH_PROMISE || type == CONTINUATION;
}

/* ---- header blocks ---- */

/* gRPC adds "-bin" to the name when the value is binary. */
static bool is_secret(struct span name)
{
	static const char binary[] = "-bin";
	size_t n = sizeof(binary) - 1;

	if (name.len > n && !memcmp(name.p + name.len - n, binary, n))
		name.len -= n;
	return redact_name_where(name.p, name.len) & REDACT_IN_HEADER;
}

/* Fields being decoded: their bytes are the stored ones of earlier calls, then those at `at`. */
struct fields {
	struct redact_call *call;
	const uint8_t *p;
	size_t at, earlier;
	size_t cut_from, cut_to; /* octets of a secret at the end of the available bytes */
	uint8_t cut_with;
	struct redact_value
		cut; /* incomplete value that is not secret as a whole; scanned when complete */
	size_t cut_raw;
};

static void mask_octets(const struct fields *b, size_t from, size_t to, uint8_t with)
{
	from = from > b->earlier ? from - b->earlier : 0;
	to = to > b->earlier ? to - b->earlier : 0;
	redact_mask(b->call, b->at + from, b->at + to, with);
}

static void on_field(void *ctx, const struct hpack_field *f)
{
	struct fields *b = ctx;
	uint8_t with = f->huffman ? HUFFMAN_STAR : '*';

	if (!f->raw_sz)
		return;
	if (f->name_known && !is_secret(f->name)) {
		const struct redact_value v = {
			.raw = b->p + f->raw_at,
			.sz = f->raw_sz,
			.earlier = b->earlier > f->raw_at ? b->earlier - f->raw_at : 0,
			.at = f->raw_at > b->earlier ? b->at + f->raw_at - b->earlier : b->at,
			.huffman = f->huffman,
			.cut = f->cut,
		};

		if (!f->cut && !memchr(f->value.p, '=', f->value.len) &&
		    !memchr(f->value.p, '@', f->value.len))
			return;
		if (f->cut) {
			b->cut = v;
			b->cut_raw = f->raw_at;
			return;
		}
		if (!redact_http2_value(b->call, &v))
			return;
	}
	if (!f->cut) {
		mask_octets(b, f->raw_at, f->raw_at + f->raw_sz, with);
		return;
	}
	b->cut_from = f->raw_at;
	b->cut_to = f->raw_at + f->raw_sz;
	b->cut_with = with;
}

static int reserve(struct redact_http2 *h, size_t sz)
{
	uint8_t *grown;

	if (sz <= h->field_cap)
		return 0;
	grown = realloc(h->field, sz * 2);
	if (!grown)
		return -ENOMEM;
	h->field = grown;
	h->field_cap = sz * 2;
	return 0;
}

/* Stores an incomplete field, or extends the stored one. */
static int hold(struct redact_http2 *h, const uint8_t *p, size_t sz)
{
	int err = sz > FIELD_MAX ? -EMSGSIZE : reserve(h, sz);

	if (err)
		return err;
	memmove(h->field, p, sz);
	h->field_sz = sz;
	return 0;
}

static int join(struct redact_http2 *h, const uint8_t *p, size_t sz)
{
	int err = reserve(h, h->field_sz + sz);

	if (err)
		return err;
	memcpy(h->field + h->field_sz, p, sz);
	h->field_sz += sz;
	return 0;
}

/* Masks a block that cannot be decoded, up to its end. */
static void go_blind(struct redact_http2 *h)
{
	hpack__lost(h->hpack);
	h->field_sz = 0;
	h->blind = true;
}

static void fragment(struct redact_http2 *h, struct redact_call *c, size_t at, size_t sz)
{
	struct fields b = {.call = c, .at = at, .earlier = h->field_sz};
	const uint8_t *p = c->p + at;
	size_t all = b.earlier + sz, used = 0;
	int err = 0;

	if (!h->blind && b.earlier) {
		err = join(h, p, sz);
		p = h->field;
	}
	b.p = p;
	if (!h->blind && !err)
		err = hpack__decode_part(h->hpack, p, all, on_field, &b, &used);
	if (!h->blind && err == -ENODATA)
		err = hold(h, p + used, all - used);
	else
		h->field_sz = 0;
	if (b.cut.sz && !err) {
		b.cut.raw = h->field + b.cut_raw - used;
		err = redact_http2_value(c, &b.cut);
	}
	if (err && !h->blind)
		go_blind(h);
	if (h->blind)
		redact_mask(c, used > b.earlier ? at + used - b.earlier : at, at + sz, '*');
	else
		mask_octets(&b, b.cut_from, b.cut_to, b.cut_with);
}

/* ---- frames ---- */

/* Whether a frame header is valid by RFC 9113 6. `odd`: also with undefined flags, which receivers
 * must ignore (4.1). */
static bool is_frame(const uint8_t *f, bool odd)
{
	static const struct {
		uint8_t flags, stream; /* stream: 0 none, 1 one, 2 either */
		uint32_t low, high;
	} types[] = {
		[DATA] = {1 | PADDED, 1, 0, UINT32_MAX},
		[HEADERS] = {1 | END_HEADERS | PADDED | PRIORITY, 1, 1, UINT32_MAX},
		[PRIORITY_FRAME] = {0, 1, 5, 5},
		[RST_STREAM] = {0, 1, 4, 4},
		[SETTINGS] = {1, 0, 0, SETTINGS_MAX},
		[PUSH_PROMISE] = {END_HEADERS | PADDED, 1, 4, UINT32_MAX},
		[PING] = {1, 0, 8, 8},
		[GOAWAY] = {0, 0, 8, UINT32_MAX},
		[WINDOW_UPDATE] = {0, 2, 4, 4},
		[CONTINUATION] = {END_HEADERS, 1, 1, UINT32_MAX},
	};
	bool stream = f[5] | f[6] | f[7] | f[8];
	uint32_t sz = be24(f);

	if (f[3] > CONTINUATION || f[5] & 0x80 || (!odd && f[4] & ~types[f[3]].flags))
		return false;
	if (types[f[3]].stream != 2 && types[f[3]].stream != stream)
		return false;
	return sz >= types[f[3]].low && sz <= types[f[3]].high && (f[3] != SETTINGS || sz % 6 == 0);
}

static void end_frame(struct redact_http2 *h)
{
	if (!is_block(h->type) || !(h->flags & END_HEADERS))
		return;
	if (h->field_sz)
		hpack__lost(h->hpack);
	h->field_sz = 0;
	h->blind = false;
}

static void lose_step(struct redact_http2 *h)
{
	go_blind(h);
	h->blind = h->in_step = false;
	h->head_sz = 0;
	h->left = 0;
}

static void begin_frame(struct redact_http2 *h, bool sure)
{
	const uint8_t *f = h->head;

	h->head_sz = 0;
	if (f[3] <= CONTINUATION && !is_frame(f, sure)) {
		lose_step(h);
		return;
	}
	h->left = be24(f);
	h->type = f[3];
	if (h->type == DATA && memcmp(&h->body.stream, f + 5, 4)) {
		h->body = (struct redact_body){0};
		memcpy(&h->body.stream, f + 5, 4);
	}
	h->flags = f[4];
	h->padding = (h->type == HEADERS || h->type == PUSH_PROMISE) && h->flags & PADDED;
	h->pad = 0;
	h->before = h->padding;
	if (h->type == HEADERS && h->flags & PRIORITY)
		h->before += 5;
	if (h->type == PUSH_PROMISE)
		h->before += 4;
	if (h->before > h->left)
		h->before = h->left;
	if (!h->left)
		end_frame(h);
}

/* Processes `sz` bytes of a header frame's payload: padding length and priority precede the
 * fragment, padding follows it (RFC 9113 6.2). */
static void in_block(struct redact_http2 *h, struct redact_call *c, size_t at, uint32_t sz)
{
	uint32_t n = h->before < sz ? h->before : sz, body;

	if (n && h->padding) {
		h->pad = c->p[at];
		h->padding = false;
	}
	h->before -= n;
	body = h->left - n > h->pad ? h->left - n - h->pad : 0;
	if (body > sz - n)
		body = sz - n;
	if (body)
		fragment(h, c, at + n, body);
}

static void walk(struct redact_http2 *h, struct redact_call *c, size_t at)
{
	while (at < c->kept && h->in_step) {
		uint32_t n = h->left ? h->left : (uint32_t)(FRAME_HEAD - h->head_sz);

		if (n > c->kept - at)
			n = c->kept - at;
		if (!h->left) {
			memcpy(h->head + h->head_sz, c->p + at, n);
			h->head_sz += n;
			if (h->head_sz == FRAME_HEAD)
				begin_frame(h, (*c->conn)->http2_sure);
		} else {
			if (is_block(h->type))
				in_block(h, c, at, n);
			else if (h->type == DATA)
				redact_http2_body(&h->body, c, at, n);
			h->left -= n;
			if (!h->left)
				end_frame(h);
		}
		at += n;
	}
	if (!h->in_step)
		redact_mask(c, at, c->kept, '*');
}

/* Skips missing bytes. */
static void skip(struct redact_http2 *h, uint64_t n)
{
	if (!n || !h->in_step)
		return;
	if (n > h->left) {
		lose_step(h);
		return;
	}
	h->body.carry_sz = 0;
	if (is_block(h->type)) {
		go_blind(h);
		h->before = h->before > n ? h->before - n : 0;
		h->padding = false;
	}
	h->left -= n;
	if (!h->left)
		end_frame(h);
}

/* ---- which connections ---- */

/* Plausibility of a block: names are printable without upper case, values are text. */
struct look {
	unsigned fields;
	bool odd;
};

static void look_at(void *ctx, const struct hpack_field *f)
{
	struct look *l = ctx;

	l->fields += !f->cut;
	for (size_t i = 0; i < f->name.len; i++)
		l->odd |= f->name.p[i] <= ' ' || f->name.p[i] > '~' ||
			  (f->name.p[i] >= 'A' && f->name.p[i] <= 'Z');
	for (size_t i = 0; i < f->value.len && !f->cut; i++)
		l->odd |= (uint8_t)f->value.p[i] < ' ' && f->value.p[i] != '\t';
	l->odd |= !f->name.len;
}

/* Whether a HEADERS frame's fragment can be decoded without earlier state. */
static bool decodes(const uint8_t *f, size_t have)
{
	size_t before = (f[4] & PADDED ? 1 : 0) + (f[4] & PRIORITY ? 5 : 0), sz = be24(f), used;
	size_t pad = f[4] & PADDED && have > FRAME_HEAD ? f[FRAME_HEAD] : 0;
	struct look look = {0};
	struct hpack *h;
	bool good;
	int err;

	have -= FRAME_HEAD;
	/* Only complete blocks of streams opened by a client, which are nearly all. */
	if (!(f[4] & END_HEADERS) || !(f[8] & 1))
		return false;
	if (sz > MAX_BLOCK || before + pad >= sz || have <= before || hpack__new(&h))
		return false;
	hpack__lost(h);
	sz -= before + pad;
	have -= before;
	err = hpack__decode_part(h, f + FRAME_HEAD + before, have < sz ? have : sz, look_at, &look,
				 &used);
	good = !err || (err == -ENODATA && have < sz);
	hpack__free(h);
	return good && look.fields && !look.odd;
}

/* The call is the header of a block's frame and no more: keeps it for follows_head(). */
static void hold_head(struct redact_call *c)
{
	struct redact_first *s;

	if (c->kept != FRAME_HEAD || c->len != FRAME_HEAD || c->p[3] != HEADERS ||
	    !is_frame(c->p, false) || !(s = redact_first(c)))
		return;
	memcpy(s->head, c->p, FRAME_HEAD);
	s->head_pos = c->pos;
	s->has_head = true;
}

/* Whether the call continues the frame whose header came alone; that is then in `head`. */
static bool follows_head(struct redact_call *c, uint8_t *head)
{
	struct redact_first *s = *c->conn ? (*c->conn)->side[c->dir].first : NULL;
	uint8_t frame[FRAME_HEAD + LOOK_MAX];
	size_t n = c->kept < LOOK_MAX ? c->kept : LOOK_MAX;

	if (!s || !s->has_head)
		return false;
	s->has_head = false;
	if (c->pos != s->head_pos + FRAME_HEAD)
		return false;
	memcpy(frame, s->head, FRAME_HEAD);
	memcpy(frame + FRAME_HEAD, c->p, n);
	memcpy(head, s->head, FRAME_HEAD);
	return decodes(frame, FRAME_HEAD + n);
}

/* Whether the bytes from `at` are a sequence of frames; the last one may be incomplete. *sure: a
 * header block is among them. */
static bool is_chain(const struct redact_call *c, uint64_t at, bool odd, bool *sure)
{
	unsigned cnt = 0;

	*sure = false;
	for (; at + FRAME_HEAD <= c->kept; cnt++) {
		const uint8_t *f = c->p + at;

		if (!is_frame(f, odd) || be24(f) > MAX_FRAME)
			return false;
		if (f[3] == HEADERS && !decodes(f, c->kept - at))
			return false;
		*sure |= f[3] == HEADERS;
		at += FRAME_HEAD + be24(f);
	}
	return cnt && (at >= c->kept || cnt > 1);
}

/* For a connection seen from its middle on: start of the frames in a call, or SIZE_MAX. The first
 * call of a direction may start with the rest of a frame. */
static size_t find_frames(const struct redact_call *c)
{
	size_t last = c->kept < FRAME_HEAD + 1 ? 0 : c->pos ? 1 : c->kept - FRAME_HEAD;
	bool sure;

	for (size_t i = 0; i < last; i++)
		if (c->p[i] < 0x10 && c->p[i + 3] <= CONTINUATION && is_frame(c->p + i, false) &&
		    is_chain(c, i, false, &sure) && sure)
			return i;
	return SIZE_MAX;
}

/* Whether sz bytes match the start of a client's or a server's stream. */
static bool is_start(const uint8_t *p, size_t sz)
{
	static const uint8_t settings[FRAME_HEAD] = {0, 0, 0, SETTINGS};

	if (!memcmp(p, PREFACE, sz))
		return true;
	return !p[0] && (sz < 2 || !p[1]) && (sz < 3 || (p[2] <= SETTINGS_MAX && p[2] % 6 == 0)) &&
	       (sz < 4 || !memcmp(p + 3, settings + 3, (sz < FRAME_HEAD ? sz : FRAME_HEAD) - 3));
}

/* Collects the first bytes while they may be the start of a stream. True: they are, up to *at. */
static bool has_begun(struct redact_call *c, size_t *at)
{
	const struct redact_side *side = *c->conn ? &(*c->conn)->side[c->dir] : NULL;
	struct redact_first *s = side ? side->first : NULL;
	size_t had = s && side->next == c->pos ? s->start_sz : 0, whole, n;
	uint8_t start[PREFACE_SZ];

	if (s)
		s->start_sz = 0;
	if (!c->kept || (!had && c->p[0] && c->p[0] != 'P'))
		return false;
	/* Not at the first byte: after an upgrade from HTTP/1. */
	if (!had && c->pos && (c->kept < PREFACE_SURE || memcmp(c->p, PREFACE, PREFACE_SURE)))
		return false;
	n = c->kept < PREFACE_SZ - had ? c->kept : PREFACE_SZ - had;
	if (had)
		memcpy(start, s->start, had);
	memcpy(start + had, c->p, n);
	whole = start[0] ? PREFACE_SZ : FRAME_HEAD;
	if (!is_start(start, had + n < whole ? had + n : whole))
		return false;
	if (had + n >= whole) {
		*at = whole - had;
		s = redact_first(c);
		if (!s)
			return false;
		/* The header of the SETTINGS frame is parsed again. */
		memcpy(s->start, start, whole);
		return true;
	}
	if (c->kept < c->len || !(s = redact_first(c)))
		return false;
	memcpy(s->start, start, had + n);
	s->start_sz = had + n;
	return false;
}

/* Whether the call contains the response to an upgrade from HTTP/1, followed by frames. */
static bool has_upgraded(const struct redact_call *c, size_t *at)
{
	static const char switching[] = "HTTP/1.1 101";
	const uint8_t *end;

	if (c->kept < sizeof(switching) || memcmp(c->p, switching, sizeof(switching) - 1) ||
	    !memmem(c->p, c->kept, "h2c", 3))
		return false;
	end = memmem(c->p, c->kept, "\r\n\r\n", 4);
	if (!end)
		return false;
	*at = end + 4 - c->p;
	return true;
}

static struct redact_http2 *begin(struct redact_call *c, bool known)
{
	struct redact_side *s = redact_side(c);
	struct redact_http2 *h = s ? calloc(1, sizeof(*h)) : NULL;

	if (!h || hpack__new(&h->hpack)) {
		free(h);
		return NULL;
	}
	if (!known)
		hpack__lost(h->hpack);
	h->in_step = true;
	redact_http2_free(s->http2);
	s->http2 = h;
	(*c->conn)->http2 = true;
	(*c->conn)->http2_sure |= known;
	return h;
}

/* Synchronizes again when a call starts with frames. */
static bool resume(struct redact_http2 *h, struct redact_call *c)
{
	bool sure;

	if (follows_head(c, h->head)) {
		h->in_step = true;
		begin_frame(h, false);
		return true;
	}
	h->in_step = is_chain(c, 0, (*c->conn)->http2_sure, &sure);
	if (h->in_step)
		return true;
	hold_head(c);
	redact_mask(c, 0, c->kept, '*');
	return false;
}

/* Recognises the protocol at the first call of a direction or of the connection. */
static struct redact_http2 *recognise(struct redact_call *c, size_t *at)
{
	struct redact_conn *conn = *c->conn;
	const struct redact_first *first;
	uint8_t head[FRAME_HEAD];
	struct redact_http2 *h;

	if (has_begun(c, at)) {
		h = begin(c, true);
		first = (*c->conn)->side[c->dir].first;
		if (h && !first->start[0]) {
			memcpy(h->head, first->start, FRAME_HEAD);
			begin_frame(h, false);
		}
		return h;
	}
	if (has_upgraded(c, at)) {
		struct redact_call head = *c;

		head.kept = head.len = *at;
		redact_text(&head);
		c->p = head.p;
		c->masked |= head.masked;
		return begin(c, true);
	}
	first = conn ? conn->side[c->dir].first : NULL;
	if (first && first->start_sz)
		return NULL;
	if (follows_head(c, head)) {
		h = begin(c, false);
		if (h) {
			memcpy(h->head, head, FRAME_HEAD);
			begin_frame(h, false);
		}
		return h;
	}
	*at = find_frames(c);
	if (*at == SIZE_MAX && conn && conn->http2) {
		/* The other direction uses HTTP/2: mask this one until it can be parsed. */
		*at = 0;
		h = begin(c, false);
		if (h)
			resume(h, c);
		return h;
	}
	if (*at != SIZE_MAX)
		return begin(c, false);
	hold_head(c);
	return NULL;
}

/* The connection is not HTTP/2: discards its state. */
static void revoke(struct redact_conn *conn)
{
	for (int i = 0; i < 2; i++) {
		redact_http2_free(conn->side[i].http2);
		conn->side[i].http2 = NULL;
	}
	conn->http2 = false;
}

bool redact_http2(struct redact_call *c)
{
	struct redact_conn *conn = *c->conn;
	struct redact_http2 *h = conn ? conn->side[c->dir].http2 : NULL;
	bool was_in_step;
	size_t at = 0;

	if (!h) {
		h = recognise(c, &at);
		if (!h)
			return false;
		if (at && !(*c->conn)->http2_sure)
			redact_mask(c, 0, at, '*');
	} else {
		uint64_t next = conn->side[c->dir].next;

		if (c->pos < next)
			lose_step(h);
		else
			skip(h, c->pos - next);
		if (!h->in_step && !resume(h, c))
			return true;
	}
	was_in_step = h->in_step;
	walk(h, c, at);
	if (was_in_step && !h->in_step && !(*c->conn)->http2_sure)
		revoke(*c->conn);
	else
		skip(h, c->len - c->kept);
	return true;
}
