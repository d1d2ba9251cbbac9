/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/2 (RFC 9113) and gRPC over it.
 *
 *   frame      length:24 type:8 flags:8 stream:32 payload        the client begins with a preface
 *   message    HEADERS CONTINUATION* DATA* [HEADERS], the last of them with END_STREAM
 *   gRPC       POST /pkg.Service/Method, content-type application/grpc; DATA is flag:8 length:32
 *              bytes, repeated; the response ends with grpc-status
 *
 * Paired by stream. The frames of a message are consumed one by one, and the message is delivered
 * with the last one. If the response is complete before the request has ended (an early refusal, a
 * call that the server ends), the request is delivered then. Bodies need not be captured, because a
 * frame contains its length. If header blocks were not captured, the HPACK tables are unknown, and
 * so are header names. If frame headers were missed, any open stream may have lost frames,
 * including its last one. Its messages are then marked as partial.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/proto/http2.h"

enum {
	BLOCK_MAX = 1 << 20,
	WAIT_MAX = 1 << 16,
	FIRST_HEADERS_MAX = 1 << 14,
	RESYNC_TRIES = 64, /* resynchronization fails after this many unreadable headers */
};

/* State of one direction. */
struct side {
	bool begun;
	bool lost; /* out of sync: the position of the next frame is unknown */
	struct hpack *hpack;
	/* a header block that continues in CONTINUATION frames */
	bool open, given_up;
	struct h2_frame frame; /* the frame that began it */
	uint8_t *block;
	size_t block_sz;
	uint64_t first_ns, size;
};

struct http2 {
	struct side side[2]; /* responses, requests */
	struct h2_streams streams;
	bool sure;	 /* certainly HTTP/2, whatever the middle of a body looks like */
	uint32_t newest; /* newest stream with a request; stream ids only increase */
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static void close_block(struct side *s)
{
	free(s->block);
	s->block = NULL;
	s->block_sz = 0;
	s->open = s->given_up = false;
}

/* ---- end of a half, of a stream ---- */

static void respond(struct l7_parser *parser, struct h2_stream *s, struct l7_message *m)
{
	struct http2 *h = parser->state;

	if (s->half[1].begun && !s->request_out) {
		struct l7_message request = {0};

		h2_request(parser, &h->streams, s, &request);
		l7_deliver(parser, &request);
	}
	if (!s->pushed)
		h2_response(parser, &h->streams, s, m);
	h2_close(&h->streams, s);
}

static void end_stream(struct l7_parser *parser, struct h2_stream *s, bool requests,
		       struct l7_message *m)
{
	struct http2 *h = parser->state;

	s->half[requests].ended = true;
	if (!requests)
		respond(parser, s, m);
	else if (!s->request_out)
		h2_request(parser, &h->streams, s, m);
}

static void on_reset(struct l7_parser *parser, const struct l7_view *v, const struct h2_frame *f,
		     uint32_t code, struct l7_message *m)
{
	struct http2 *h = parser->state;
	struct h2_stream *s = h2_find(&h->streams, f->stream);

	if (!s)
		return;
	/* "No error" after a status: the rest of the request is not needed (RFC 9113 8.1). */
	s->reset = code || v->requests || !s->half[0].begun;
	s->reset_by_client = v->requests;
	s->reset_code = code;
	s->half[0].ended = true;
	if (!s->half[0].begun)
		s->half[0].first_ns = v->ts_ns;
	respond(parser, s, m);
}

/* ---- header blocks ---- */

/* The stream of a header block. NULL: the stream is closed. */
static struct h2_stream *stream_of(struct l7_parser *parser, uint32_t id, bool requests)
{
	struct http2 *h = parser->state;
	struct h2_stream *s = h2_find(&h->streams, id);

	if (s || h2_was_closed(&h->streams, id))
		return s;
	if (requests && (!(id & 1) || id <= h->newest))
		return NULL;
	if (requests)
		h->newest = id;
	return h2_add(parser, &h->streams, id);
}

static void tell_grpc(struct h2_streams *t, struct h2_stream *s, bool requests)
{
	const struct h2_head *head = &s->head;

	if (s->grpc_known)
		return;
	if (head->is_grpc || head->grpc_status >= 0) {
		s->grpc = s->grpc_known = t->grpc = true;
	} else if (head->is_other || (requests && !head->unknown)) {
		s->grpc = false;
		s->grpc_known = true;
	} else {
		s->grpc = t->grpc;
	}
}

static void field(void *ctx, const struct hpack_field *f)
{
	h2_head_field(ctx, f);
}

static void on_promise(struct l7_parser *parser, struct h2_stream *s, struct l7_message *m)
{
	struct http2 *h = parser->state;

	s->pushed = true;
	h2_request(parser, &h->streams, s, m);
	m->type = L7_ONEWAY;
	m->status = span_of("PUSHED");
}

static void begin_half(struct h2_half *half, uint64_t ts_ns, bool is_begin)
{
	half->begun = true;
	half->first_ns = ts_ns;
	half->missed &= !is_begin;
	half->no_begin = half->missed;
}

/* Handles a complete block, or the captured part of one. `f` is the frame that began it. */
static void on_block(struct l7_parser *parser, const struct l7_view *v, const struct h2_frame *f,
		     const uint8_t *p, size_t sz, bool whole, struct l7_message *m)
{
	struct http2 *h = parser->state;
	struct side *side = &h->side[v->requests];
	bool promise = f->type == H2_PUSH_PROMISE, requests = v->requests || promise;
	struct h2_stream *s = NULL;
	struct h2_head over = {0};
	struct h2_half *half;

	if (!promise)
		s = stream_of(parser, f->stream, v->requests);
	else if (!h2_find(&h->streams, f->stream) && !(f->stream & 1) && f->stream)
		s = h2_add(parser, &h->streams, f->stream);
	if (hpack__decode(side->hpack, p, sz, field, s ? &s->head : &over) || !whole) {
		hpack__lost(side->hpack);
		(s ? &s->head : &over)->unknown = true;
	}
	h2_head_fini(&over);
	if (!s)
		return;
	h->sure |= s->head.status >= 100 || s->head.method.len;
	if (!requests && s->head.status / 100 == 1 && !(f->flags & H2_END_STREAM)) {
		s->head.status = H2_STATUS_NONE; /* the final response follows */
		return;
	}
	half = &s->half[requests];
	if (!half->begun) {
		/* These are trailers of a response that was not seen. */
		half->missed |= !requests && !s->half[1].begun && s->head.status < 0;
		begin_half(half, side->first_ns,
			   requests ? s->head.method.len > 0 : s->head.status >= 0);
	}
	half->last_ns = v->ts_ns;
	half->size += side->size;
	tell_grpc(&h->streams, s, requests);
	if (promise)
		on_promise(parser, s, m);
	else if (f->flags & H2_END_STREAM)
		end_stream(parser, s, requests, m);
}

/* Handles a fragment of which `have` of `sz` bytes were captured. */
static int64_t on_fragment(struct l7_parser *parser, const struct l7_view *v,
			   const struct h2_frame *f, const uint8_t *p, size_t have, size_t sz,
			   struct l7_message *m)
{
	struct http2 *h = parser->state;
	struct side *s = &h->side[v->requests];
	bool ends = f->flags & H2_END_HEADERS;
	struct h2_frame begin;
	uint8_t *grown;

	s->size += H2_FRAME_HEAD + f->len;
	if (f->type != H2_CONTINUATION && ends) {
		on_block(parser, v, f, p, have, have == sz, m);
		return H2_FRAME_HEAD + f->len;
	}
	if (!s->given_up) {
		grown = s->block_sz + have <= BLOCK_MAX ? realloc(s->block, s->block_sz + have + 1)
							: NULL;
		if (!grown) {
			hpack__lost(s->hpack);
			close_block(s);
			return L7_BAD;
		}
		s->block = grown;
		memcpy(s->block + s->block_sz, p, have);
		s->block_sz += have;
		s->given_up = have < sz;
	}
	s->open = !ends;
	if (ends) {
		begin = s->frame;
		on_block(parser, v, &begin, s->block, s->block_sz, !s->given_up, m);
		close_block(s);
	}
	return H2_FRAME_HEAD + f->len;
}

static int64_t on_headers(struct l7_parser *parser, const struct l7_view *v,
			  const struct h2_frame *frame, struct l7_message *m)
{
	struct http2 *h = parser->state;
	struct side *s = &h->side[v->requests];
	const uint8_t *p = v->p + H2_FRAME_HEAD;
	size_t have = v->len - H2_FRAME_HEAD;
	uint32_t before, after, sz;
	struct h2_frame f = *frame;

	if (have < f.len && !v->cut && !v->last)
		return L7_PARTIAL;
	if (f.type == H2_CONTINUATION && !s->open)
		return parser->after_hole || !s->begun ? H2_FRAME_HEAD + (int64_t)f.len : L7_BAD;
	if (!h2_payload(&f, p, have, &before, &after) || (have < before && have == f.len))
		return L7_BAD;
	if (have < before)
		return H2_FRAME_HEAD + f.len;
	if (f.type == H2_PUSH_PROMISE)
		f.stream = be32(p + before - 4) & 0x7fffffff;
	if (f.type != H2_CONTINUATION) {
		s->frame = f;
		s->first_ns = v->ts_ns;
		s->size = 0;
	}
	sz = f.len - before - after;
	have -= before;
	return on_fragment(parser, v, &f, p + before, have < sz ? have : sz, sz, m);
}

/* ---- bodies ---- */

/* Counts gRPC messages in `sz` bytes, of which `have` were captured. False: more bytes are needed
 * first. */
static bool count_messages(struct h2_half *half, const uint8_t *p, size_t have, size_t sz,
			   bool more_comes)
{
	struct h2_half now = *half;
	uint64_t at = 0;

	while (at < sz && !now.uncounted) {
		uint64_t skip = sz - at < now.body_left ? sz - at : now.body_left;

		at += skip;
		now.body_left -= skip;
		if (at >= sz || skip)
			continue;
		if (at >= have) {
			if (more_comes && sz <= WAIT_MAX)
				return false;
			now.uncounted = true;
			break;
		}
		now.prefix[now.prefix_sz++] = p[at++];
		if (now.prefix_sz < 5)
			continue;
		now.prefix_sz = 0;
		now.messages++;
		now.body_left = be32(now.prefix + 1);
		now.uncounted = now.prefix[0] > 1;
	}
	*half = now;
	return true;
}

/* Header names are unknown, but the body may be a single gRPC message of exactly this length. */
static bool is_grpc_body(const uint8_t *p, size_t have, size_t sz)
{
	return sz >= 5 && have >= 5 && p[0] <= 1 && be32(p + 1) == sz - 5;
}

static int64_t on_data(struct l7_parser *parser, const struct l7_view *v, const struct h2_frame *f,
		       struct l7_message *m)
{
	struct http2 *h = parser->state;
	struct h2_stream *s = h2_find(&h->streams, f->stream);
	struct h2_half *half = s ? &s->half[v->requests] : NULL;
	const uint8_t *p = v->p + H2_FRAME_HEAD;
	size_t have = v->len - H2_FRAME_HEAD, sz;
	uint32_t before, after;

	/* A response may have begun in a hole. A request that began in a hole has no name. */
	if (!half || (!half->begun && (v->requests || !half->missed)))
		return H2_FRAME_HEAD + f->len;
	if (!half->begun)
		begin_half(half, v->ts_ns, false);
	if (!h2_payload(f, p, have, &before, &after))
		return L7_BAD;
	sz = f->len - before - after;
	p += have < before ? have : before;
	have -= have < before ? have : before;
	if (!s->grpc_known && !half->messages && !half->prefix_sz && is_grpc_body(p, have, sz))
		s->grpc = s->grpc_known = h->streams.grpc = true;
	if (s->grpc && !count_messages(half, p, have < sz ? have : sz, sz, !v->cut && !v->last))
		return L7_PARTIAL;
	half->size += H2_FRAME_HEAD + f->len;
	half->last_ns = v->ts_ns;
	if (f->flags & H2_END_STREAM)
		end_stream(parser, s, v->requests, m);
	return H2_FRAME_HEAD + f->len;
}

/* ---- frames ---- */

/* A connection error; the frame belongs to no stream. */
static void on_goaway(uint32_t code, struct l7_message *m)
{
	if (!code)
		return;
	m->type = L7_ONEWAY;
	m->method = span_of("GOAWAY");
	m->status = span_of(h2_error_name(code));
	m->is_error = true;
}

static int64_t on_control(struct l7_parser *parser, const struct l7_view *v,
			  const struct h2_frame *f, struct l7_message *m)
{
	size_t need = H2_FRAME_HEAD + (f->type == H2_GOAWAY ? 8 : 4);
	const uint8_t *p = v->p + H2_FRAME_HEAD;

	if (f->type != H2_GOAWAY && f->type != H2_RST_STREAM)
		return H2_FRAME_HEAD + f->len;
	if (v->len < need)
		return v->cut || v->last ? H2_FRAME_HEAD + (int64_t)f->len : L7_PARTIAL;
	if (f->type == H2_GOAWAY)
		on_goaway(be32(p + 4), m);
	else
		on_reset(parser, v, f, be32(p), m);
	return H2_FRAME_HEAD + f->len;
}

static int64_t on_frame(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct http2 *h = parser->state;
	struct side *s = &h->side[v->requests];
	struct h2_frame f;

	if (!h2_frame(v->p, &f)) {
		/* Unknown frame types are to be ignored (RFC 9113 5.5). */
		bool other = s->begun && !parser->after_hole && f.type > H2_CONTINUATION &&
			     !(f.stream >> 31) && f.len <= WAIT_MAX && !s->open;

		return other ? H2_FRAME_HEAD + (int64_t)f.len : L7_BAD;
	}
	if (s->open && (f.type != H2_CONTINUATION || f.stream != s->frame.stream)) {
		close_block(s);
		hpack__lost(s->hpack);
		return L7_BAD;
	}
	switch (f.type) {
	case H2_HEADERS:
	case H2_PUSH_PROMISE:
	case H2_CONTINUATION:
		return on_headers(parser, v, &f, m);
	case H2_DATA:
		return on_data(parser, v, &f, m);
	default:
		return on_control(parser, v, &f, m);
	}
}

/* Header tables and message counts of this direction are no longer valid. */
static void forget(struct http2 *h, bool requests)
{
	hpack__lost(h->side[requests].hpack);
	close_block(&h->side[requests]);
	for (struct h2_stream *s = h->streams.oldest; s; s = s->newer)
		s->half[requests].uncounted |= s->half[requests].begun;
}

/* Frames of this direction were missed; they may belong to any open stream. */
static void miss(struct http2 *h, bool requests)
{
	for (struct h2_stream *s = h->streams.oldest; s; s = s->newer)
		s->half[requests].missed |= !s->half[requests].ended;
}

/* Finds consecutive HTTP/2 frames that reach to the end of the call. */
static size_t http2_resync(const struct l7_view *v, size_t from)
{
	unsigned tries = RESYNC_TRIES;

	for (size_t i = from; i + H2_FRAME_HEAD <= v->len && tries; i++) {
		if (!h2_chain(v, i))
			continue;
		if (h2_in_step(v, i))
			return i;
		tries--;
	}
	return v->len;
}

/* Bytes of this direction were missed, or capture began later: finds the next frame. Returns the
 * number of bytes to skip; 0 at the beginning of a frame. */
static int64_t find_step(struct http2 *h, struct side *s, const struct l7_view *v)
{
	size_t at = h2_in_step(v, 0) ? 0 : http2_resync(v, 1);

	if (at == v->len && !h->sure)
		return L7_BAD;
	s->lost = at == v->len;
	return s->lost ? (int64_t)v->known : (int64_t)at;
}

static int64_t http2_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct http2 *h = parser->state;
	struct side *s = &h->side[v->requests];
	size_t n = v->len < H2_PREFACE_SZ ? v->len : H2_PREFACE_SZ;
	int64_t used;

	h2_bury(&h->streams);
	if (!s->hpack && hpack__new(&s->hpack))
		return L7_BAD;
	if (v->requests && n >= 3 && !memcmp(v->p, H2_PREFACE, n)) {
		s->begun |= n == H2_PREFACE_SZ;
		h->sure |= s->begun;
		return n == H2_PREFACE_SZ ? H2_PREFACE_SZ : L7_PARTIAL;
	}
	/* Out of step, a short piece is no start of a header: joined with the next piece, it would
	 * hide that this one begins with a frame. */
	if (v->len < H2_FRAME_HEAD && s->lost && h->sure) {
		miss(h, v->requests);
		return v->known;
	}
	if (v->len < H2_FRAME_HEAD)
		return L7_PARTIAL;
	/* A server begins with SETTINGS; otherwise capture began later. */
	if (parser->after_hole ||
	    (!s->begun && (v->requests || v->p[3] != H2_SETTINGS || v->p[4] & H2_ACK))) {
		s->lost = true;
		forget(h, v->requests);
	}
	used = s->lost ? find_step(h, s, v) : 0;
	if (parser->after_hole || used)
		miss(h, v->requests);
	if (!used)
		used = on_frame(parser, v, m);
	s->begun |= used > 0;
	return used;
}

static void http2_finish(struct l7_parser *parser)
{
	struct http2 *h = parser->state;

	while (h->streams.oldest)
		h2_give_out(parser, &h->streams, h->streams.oldest);
}

static void http2_fini(void *state)
{
	struct http2 *h = state;

	for (int i = 0; i < 2; i++) {
		close_block(&h->side[i]);
		hpack__free(h->side[i].hpack);
	}
	h2_streams_fini(&h->streams);
}

/* ---- bidding ---- */

/*
 * The shape of the view. The first header block must not exceed the size that every receiver
 * accepts (SETTINGS_MAX_FRAME_SIZE, RFC 9113 4.2), because a larger size is plausible only on a
 * connection already known as HTTP/2. Bodies are not restricted: some gRPC servers accept larger
 * ones.
 */
static enum h2_shape bid_shape(const struct l7_view *v, bool odd, int *requests)
{
	enum h2_shape shape = h2_shape(v, odd, requests);
	struct h2_frame f;

	if (shape == H2_NOTHING || shape == H2_BEGINS || v->len < H2_FRAME_HEAD ||
	    !h2_frame(v->p, &f) || f.type != H2_HEADERS || f.len <= FIRST_HEADERS_MAX)
		return shape;
	*requests = -1;
	return H2_OTHER;
}

static int http2_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	int sends, receives;
	enum h2_shape a = bid_shape(sent, false, &sends),
		      b = bid_shape(received, a == H2_BEGINS, &receives), least, most;

	if (b == H2_BEGINS)
		a = bid_shape(sent, true, &sends);
	least = a < b ? a : b;
	most = a < b ? b : a;
	if (sends >= 0 && sends != receives)
		*requests_sent = sends;
	else if (sends < 0 && receives >= 0)
		*requests_sent = !receives;
	else if (sends >= 0)
		return 0; /* both are requests, or both are responses */
	if (most == H2_BEGINS)
		return a == H2_OTHER || b == H2_OTHER ? 30 : 100;
	/* One side may begin in the middle of a frame. */
	if (a == H2_OTHER || b == H2_OTHER)
		return most == H2_FRAMES_SURE ? 55 : 0;
	if (most == H2_FRAMES_SURE)
		return least == H2_NOTHING ? 80 : least == H2_FRAMES_WEAK ? 75 : 95;
	return most == H2_FRAMES ? (least == H2_FRAMES ? 45 : least == H2_NOTHING ? 20 : 0) : 0;
}

const struct l7_protocol l7_http2 = {
	.name = "http2",
	.bid = http2_bid,
	.parse = http2_parse,
	.resync = http2_resync,
	.finish = http2_finish,
	.state_sz = sizeof(struct http2),
	.state_stays = true,
	.fini = http2_fini,
	.pair_by_id = true,
	.ports = {50051, 8080, 443, 80},
};
